internal import FreshetFaultProxy

extension TestKit {
    /// Arms a fault. If several match a request, the one that was armed first applies.
    ///
    /// A fault on ``Requests/changes`` also reaches devices whose polls already wait: it applies to these polls.
    ///
    /// - Parameters:
    ///   - fault: the effect.
    ///   - requests: the kind of requests to match.
    ///   - device: the device whose requests to match; `nil` for all, and for clients that are no devices of the kit.
    ///   - times: how many requests to match.
    /// - Throws: ``TestKitError/invalidFault(_:)``, ``TestKitError/unknownDevice(_:)``, ``TestKitError/closed``.
    @discardableResult
    public func fault(
        _ fault: Fault, on requests: Requests = .any, of device: Device? = nil, times: Times = 1
    ) throws(TestKitError) -> ActiveFault {
        try checkIsOpen()
        if let device { try check(device) }
        let count: Int?
        switch times {
        case .count(let number) where number < 1: throw .invalidFault("times is \(number): it takes 1 or more, or .untilCleared")
        case .count(let number): count = number
        case .untilCleared: count = nil
        }
        switch fault.effect {
        case .answer(let status, _) where !FaultEffect.statuses.contains(status):
            throw .invalidFault("the status is \(status): it takes 400 to 599")
        case .answer(_, let seconds) where !FaultEffect.pauses.contains(seconds):
            throw .invalidFault("retryAfter is \(seconds): it takes 0 to 86400 seconds")
        case .delayRequest(let milliseconds), .delayReply(let milliseconds):
            guard FaultEffect.delays.contains(milliseconds) else {
                throw .invalidFault("the delay is \(milliseconds) ms: it takes 0 to 60 seconds")
            }
        default: break
        }
        return arm(FreshetFaultProxy.Fault(fault.effect, on: requests.target, device: device?.name, times: count))
    }

    /// Makes the server refuse the tokens that the device has had so far, with `401`, until the device sends a fresh
    /// one, as a client does at once.
    /// - Throws: ``TestKitError/unknownDevice(_:)``, ``TestKitError/closed``.
    @discardableResult
    public func expireToken(of device: Device) throws(TestKitError) -> ActiveFault {
        try checkIsOpen()
        try check(device)
        let effect = FaultEffect.expireToken(generation: device.tokens.generation)
        return arm(FreshetFaultProxy.Fault(effect, device: device.name, times: nil))
    }

    /// Disarms all faults of this kit: frozen requests end, and delayed ones continue at once.
    public func clearFaults() { server.faults.clear(namespaceID) }

    /// How many requests the fault has matched; 0 once it was cleared.
    public func matchCount(of armed: ActiveFault) -> Int {
        server.faults.armed(in: namespaceID).first { $0.identifier == armed.identifier }?.matchCount ?? 0
    }

    /// How many requests matched a fault since the faults were last cleared.
    public var matchCount: Int { server.faults.armed(in: namespaceID).reduce(0) { $0 + $1.matchCount } }

    private func check(_ device: Device) throws(TestKitError) {
        guard devices.contains(where: { $0 === device }) else { throw .unknownDevice(device.name) }
    }

    private func arm(_ fault: FreshetFaultProxy.Fault) -> ActiveFault {
        let armed = server.faults.arm(fault, in: namespaceID)
        return ActiveFault(identifier: armed.identifier, description: armed.text)
    }
}

extension ArmedFault {
    /// A text for a person: `drop-reply on writes of phone`.
    var text: String { "\(fault.effect.name.rawValue) on \(fault.target.rawValue)" + (fault.device.map { " of \($0)" } ?? "") }
}
