/// Decides which fault matches a request of one namespace. A pure value: takes requests and returns effects.
package struct FaultRules: Hashable, Sendable {
    /// The faults in the order in which they were armed, spent ones too, until they are cleared.
    package private(set) var armed: [ArmedFault] = []
    /// How often the faults were cleared.
    private(set) var clearCount = 0
    private var lastIdentifier = 0
    /// The newest generation of each device's tokens that a request has carried.
    private var shown: [String: Int64] = [:]

    package init() {}

    /// Arms a fault. One that expires a token without naming the generation expires the newest that the device has shown.
    @discardableResult
    package mutating func arm(_ fault: Fault) -> ArmedFault {
        var fault = fault
        if case .expireToken(nil) = fault.effect { fault.effect = .expireToken(generation: fault.device.flatMap { shown[$0] } ?? 0) }
        lastIdentifier += 1
        let armed = ArmedFault(identifier: lastIdentifier, fault: fault)
        self.armed.append(armed)
        return armed
    }

    /// Strikes a request with the first armed fault that matches. An expired token comes before all others, since a
    /// server checks the token first. `nil` if no fault matches. O(faults armed).
    package mutating func match(_ target: FaultTarget, _ token: DeviceToken?) -> FaultEffect? {
        if let token { shown[token.device] = max(token.generation, shown[token.device] ?? token.generation) }
        let matching = armed.indices.filter { armed[$0].matches(target, token) }
        guard let index = matching.first(where: { armed[$0].fault.effect.name == .expireToken }) ?? matching.first else { return nil }
        armed[index].matchCount += 1
        return armed[index].fault.effect
    }

    /// Disarms all faults, and returns how many would still have matched. Keeps the generations that devices have shown.
    @discardableResult
    package mutating func clear() -> Int {
        defer { (armed, clearCount) = ([], clearCount + 1) }
        return armed.count { !$0.isSpent }
    }
}

extension ArmedFault {
    fileprivate func matches(_ target: FaultTarget, _ token: DeviceToken?) -> Bool {
        guard !isSpent, fault.target.reaches(target), fault.device == nil || fault.device == token?.device else { return false }
        guard case .expireToken(let generation?) = fault.effect else { return true }
        return token.map { $0.generation <= generation } ?? false
    }
}
