/// A fault for a test: its effect, the requests that it strikes, and how often.
package struct Fault: Hashable, Sendable {
    package var effect: FaultEffect
    package var target: FaultTarget
    /// Only requests whose token names this device; `nil` strikes all.
    package var device: String?
    /// How many requests it strikes; `nil` for all until the faults are lifted.
    package var times: Int?

    package init(_ effect: FaultEffect, on target: FaultTarget = .any, device: String? = nil, times: Int? = 1) {
        self.effect = effect
        self.target = target
        self.device = device
        self.times = times
    }
}

/// A fault that was armed, and how often it has struck.
package struct ArmedFault: Hashable, Sendable {
    /// Counts the faults of a namespace from 1.
    package var identifier: Int
    package var fault: Fault
    /// How many requests it has struck.
    package var strikes = 0

    /// Whether it strikes no more.
    package var isSpent: Bool { fault.times.map { strikes >= $0 } ?? false }

    package init(identifier: Int, fault: Fault) {
        self.identifier = identifier
        self.fault = fault
    }
}
