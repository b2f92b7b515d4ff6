internal import FreshetWire

/// The work that a submission makes for the disk.
package struct WriteLoad: Hashable, Sendable {
    /// The number of writes.
    package var writes: Int
    /// The bytes of the values that they hold.
    package var bytes: Int
    /// The number of patches and increments, whose bytes do not say how much they read.
    package var edits: Int

    package init(writes: Int = 0, bytes: Int = 0, edits: Int = 0) {
        self.writes = writes
        self.bytes = bytes
        self.edits = edits
    }

    /// The load of these operations. O(operations).
    init(of operations: some Sequence<WriteOperation>) {
        self.init()
        for operation in operations {
            writes += 1
            bytes += operation.byteCount
            switch operation {
            case .patch, .increment: edits += 1
            case .put, .delete: break
            }
        }
    }

    /// The cost, in writes without a value: 2 KiB of value take about as long as one.
    var cost: Int { writes + bytes >> 11 }

    static func + (left: WriteLoad, right: WriteLoad) -> WriteLoad {
        WriteLoad(writes: left.writes + right.writes, bytes: left.bytes + right.bytes, edits: left.edits + right.edits)
    }

    static func += (left: inout WriteLoad, right: WriteLoad) { left = left + right }

    static func -= (left: inout WriteLoad, right: WriteLoad) {
        left = WriteLoad(writes: left.writes - right.writes, bytes: left.bytes - right.bytes, edits: left.edits - right.edits)
    }
}
