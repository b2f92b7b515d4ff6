/// Decides which fault strikes a request of one namespace. A pure value: requests come in, what happens to them goes out.
package struct FaultPlan: Hashable, Sendable {
    /// The faults in the order in which they were armed, spent ones too, until they are lifted.
    package private(set) var armed: [ArmedFault] = []
    private var lastIdentifier = 0
    /// The newest generation of each device's tokens.
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

    /// A request has come. Of those that match, the fault that was armed first strikes it; an expired token comes before all others,
    /// as a server looks at it first. `nil` where none does. O(faults armed).
    package mutating func strike(_ target: FaultTarget, _ token: DeviceToken?) -> FaultEffect? {
        if let token { shown[token.device] = max(token.generation, shown[token.device] ?? token.generation) }
        let matching = armed.indices.filter { armed[$0].strikes(target, token) }
        guard let index = matching.first(where: { armed[$0].fault.effect.name == .expireToken }) ?? matching.first else { return nil }
        armed[index].strikes += 1
        return armed[index].fault.effect
    }

    /// Disarms all faults, and returns how many would still have struck. What devices have shown is kept.
    @discardableResult
    package mutating func lift() -> Int {
        defer { armed = [] }
        return armed.count { !$0.isSpent }
    }
}

extension ArmedFault {
    fileprivate func strikes(_ target: FaultTarget, _ token: DeviceToken?) -> Bool {
        guard !isSpent, fault.target.reaches(target), fault.device == nil || fault.device == token?.device else { return false }
        guard case .expireToken(let generation?) = fault.effect else { return true }
        return token.map { $0.generation <= generation } ?? false
    }
}
