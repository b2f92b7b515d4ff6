/// How much a submission gives the disk to do.
package struct WriteLoad: Hashable, Sendable {
    /// How many writes it holds.
    package var writes: Int
    /// How many bytes of values they hold.
    package var bytes: Int

    package init(writes: Int = 0, bytes: Int = 0) {
        self.writes = writes
        self.bytes = bytes
    }

    /// What it costs in writes without a value: 2 KiB of value take about as long as one.
    var cost: Int { writes + bytes >> 11 }

    static func + (left: WriteLoad, right: WriteLoad) -> WriteLoad {
        WriteLoad(writes: left.writes + right.writes, bytes: left.bytes + right.bytes)
    }

    static func += (left: inout WriteLoad, right: WriteLoad) { left = left + right }

    static func -= (left: inout WriteLoad, right: WriteLoad) {
        left = WriteLoad(writes: left.writes - right.writes, bytes: left.bytes - right.bytes)
    }
}
