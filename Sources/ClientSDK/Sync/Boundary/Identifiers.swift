/// Names one request of the machine. Never used again within a process; an answer to one that the machine has forgotten is ignored.
package struct RequestID: Hashable, Comparable, Sendable {
    package let number: Int64
    /// What the machine had begun when it sent the request: a clear and a reset begin another generation.
    package let generation: Int64

    package init(_ number: Int64, generation: Int64 = 0) {
        self.number = number
        self.generation = generation
    }

    package static func < (left: RequestID, right: RequestID) -> Bool { left.number < right.number }
}

/// Names one disk transaction of the machine; they are carried out in the order in which they were asked for.
package struct TransactionID: Hashable, Comparable, Sendable {
    package let number: Int64
    /// As of a ``RequestID``.
    package let generation: Int64

    package init(_ number: Int64, generation: Int64 = 0) {
        self.number = number
        self.generation = generation
    }

    package static func < (left: TransactionID, right: TransactionID) -> Bool { left.number < right.number }
}

/// The edge's name for a caller that waits for an answer (a continuation); the machine hands it back once, untouched.
package struct Token: Hashable, Comparable, Sendable {
    package let number: Int64
    package init(_ number: Int64) { self.number = number }
    package static func < (left: Token, right: Token) -> Bool { left.number < right.number }
}

/// Names a local write on the device for as long as it is of interest. 1, 2, 3 … on each device, without the gaps that numbers may have.
package struct Receipt: Hashable, Comparable, Sendable {
    package let number: Int64
    package init(_ number: Int64) { self.number = number }
    package static func < (left: Receipt, right: Receipt) -> Bool { left.number < right.number }
}

/// The name under which the user registered a closure that resolves conflicts; a name, so that it outlives a restart.
package struct MergeName: Hashable, Sendable {
    package let text: String
    package init(_ text: String) { self.text = text }
}
