/// The connections of a loop that have much to transfer, in the order in which they are served: some slices a turn,
/// after all short work.
///
/// A turn is one `epoll_wait`. Without the queue a turn moved 256 KiB for each connection that was ready, so 200
/// uploads at once made a turn of 50 MiB, and every other connection waited 100 to 270 ms for it.
struct TransferQueue {
    /// The most bytes of transfers in a turn, except for the last slice.
    private static let turnBytes = 1 << 20
    /// The most slices in a turn: on loopback a read of any size also costs the work of the sender that gets the room.
    private static let turnSlices = 16
    /// The bytes of an answer that go out with the answer itself, for as long as the turn has not sent ``turnBytes``.
    private static let answerSlice = 256 << 10
    /// A slice while several wait; an answer of this size goes out in one call at any time.
    static let slice = 64 << 10

    private var waiting = TokenQueue()
    private var bytes = 0
    private var slices = 0

    var isEmpty: Bool { waiting.isEmpty }

    /// Begins a turn.
    mutating func beginTurn() { (bytes, slices) = (0, 0) }

    /// Counts bytes that were read or sent.
    mutating func count(_ moved: Int) { bytes += moved }

    mutating func append(_ token: UInt64) { waiting.append(token) }

    /// The connection to serve next; `nil` if the turn has done enough, or none waits.
    mutating func next() -> UInt64? {
        guard !waiting.isEmpty else { return nil }
        guard slices == 0 || slices < Self.turnSlices && bytes < Self.turnBytes else { return nil }
        slices += 1
        return waiting.removeFirst()
    }

    /// The most bytes to read from one connection, or to send of its queued output, at a time. O(1).
    var share: Int { waiting.count < 4 ? 4 * Self.slice : Self.slice }

    /// The most bytes of an answer to send at once.
    var answerShare: Int { bytes < Self.turnBytes ? Self.answerSlice : Self.slice }
}
