/// A fault for a test: its effect, the requests that it matches, and how often.
package struct Fault: Hashable, Sendable {
    package var effect: FaultEffect
    package var target: FaultTarget
    /// Only requests whose token names this device; `nil` matches all.
    package var device: String?
    /// How many requests it matches; `nil` for all until the faults are cleared.
    package var times: Int?

    package init(_ effect: FaultEffect, on target: FaultTarget = .any, device: String? = nil, times: Int? = 1) {
        self.effect = effect
        self.target = target
        self.device = device
        self.times = times
    }
}

/// A fault that was armed, and how often it has matched.
package struct ArmedFault: Hashable, Sendable {
    /// Counts the faults of a namespace from 1.
    package var identifier: Int
    package var fault: Fault
    /// How many requests it has matched.
    package var matchCount = 0

    /// Whether it matches no more.
    package var isSpent: Bool { fault.times.map { matchCount >= $0 } ?? false }

    package init(identifier: Int, fault: Fault) {
        self.identifier = identifier
        self.fault = fault
    }
}
