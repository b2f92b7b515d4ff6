/// The name of one request of the machine, unique within a process. A reply to a request that the machine has
/// forgotten is ignored.
package struct RequestID: Hashable, Comparable, Sendable {
    package let number: Int64
    /// The machine's generation when it sent the request. A clear and a reset begin another generation.
    package let generation: Int64

    package init(_ number: Int64, generation: Int64 = 0) {
        self.number = number
        self.generation = generation
    }

    package static func < (left: RequestID, right: RequestID) -> Bool { left.number < right.number }
}

/// The name of one disk transaction of the machine. Transactions are carried out in the order in which they were requested.
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

/// The edge's name for a caller that waits for an answer (a continuation). The machine returns it once, unchanged.
package struct CallerID: Hashable, Comparable, Sendable {
    package let number: Int64
    package init(_ number: Int64) { self.number = number }
    package static func < (left: CallerID, right: CallerID) -> Bool { left.number < right.number }
}

/// The name of a local write on the device. The ids count 1, 2, 3 … on each device, without the gaps that numbers may have.
package struct LocalWriteID: Hashable, Comparable, Sendable {
    package let number: Int64
    package init(_ number: Int64) { self.number = number }
    package static func < (left: LocalWriteID, right: LocalWriteID) -> Bool { left.number < right.number }
}

/// The name under which the user registered a closure that resolves conflicts. A name survives a restart.
package struct MergeName: Hashable, Sendable {
    package let text: String
    package init(_ text: String) { self.text = text }
}
