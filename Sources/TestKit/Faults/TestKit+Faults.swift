internal import FreshetServer

extension TestKit {
    /// Arms a fault. Of several that match a request, the one that was armed first strikes it.
    ///
    /// One that strikes ``Requests/changes`` reaches devices too that wait for news already: they ask again, and meet it.
    ///
    /// - Parameters:
    ///   - fault: what happens.
    ///   - requests: to which requests.
    ///   - device: of which device; `nil` for all, and for clients that are no devices of the kit.
    ///   - times: to how many of them.
    /// - Throws: ``TestKitError/invalidFault(_:)``, ``TestKitError/unknownDevice(_:)``.
    @discardableResult
    public func fault(
        _ fault: Fault, on requests: Requests = .any, of device: Device? = nil, times: Times = 1
    ) throws(TestKitError) -> Armed {
        if let device { try check(device) }
        let count: Int?
        switch times {
        case .count(let number) where number < 1: throw .invalidFault("times is \(number): it takes 1 or more, or .untilLifted")
        case .count(let number): count = number
        case .untilLifted: count = nil
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
        return arm(FreshetServer.Fault(fault.effect, on: requests.target, device: device?.name, times: count))
    }

    /// Has the server refuse the tokens that the device has had so far, with `401`, until it brings a fresh one, as a client does at once.
    /// - Throws: ``TestKitError/unknownDevice(_:)``.
    @discardableResult
    public func expireToken(of device: Device) throws(TestKitError) -> Armed {
        try check(device)
        let effect = FaultEffect.expireToken(generation: device.tokens.generation)
        return arm(FreshetServer.Fault(effect, device: device.name, times: nil))
    }

    /// Disarms all faults of this kit: what is frozen ends, and what is late comes at once.
    public func lift() { control.lift(space) }

    /// How many requests the fault has struck; 0 once it was lifted.
    public func strikes(of armed: Armed) -> Int {
        control.armed(in: space).first { $0.identifier == armed.identifier }?.strikes ?? 0
    }

    /// How many requests were struck by all faults since they were last lifted.
    public var strikes: Int { control.armed(in: space).reduce(0) { $0 + $1.strikes } }

    private func check(_ device: Device) throws(TestKitError) {
        guard devices.contains(where: { $0 === device }) else { throw .unknownDevice(device.name) }
    }

    private func arm(_ fault: FreshetServer.Fault) -> Armed {
        let armed = control.arm(fault, in: space)
        return Armed(identifier: armed.identifier, description: armed.text)
    }
}

extension ArmedFault {
    /// For people: `drop-reply on writes of phone`.
    var text: String { "\(fault.effect.name.rawValue) on \(fault.target.rawValue)" + (fault.device.map { " of \($0)" } ?? "") }
}
