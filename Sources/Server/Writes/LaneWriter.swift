internal import Dispatch

/// Runs the transactions of a lane, one after the other.
///
/// A store in this process keeps a thread waiting for the disk alone, so Dispatch lends one of its threads. A store that
/// does not answer at once would keep as many of them waiting as there are lanes, and the event loops work on the same
/// few: each of its lanes has a thread.
enum LaneWriter: Sendable {
    case queue(DispatchQueue)
    case thread(ReadQueue)

    /// - Parameter waits: whether transactions wait for a network.
    init(waits: Bool) {
        self = waits ? .thread(ReadQueue(width: 1, limit: .max, niceness: 0)) : .queue(DispatchQueue(label: "freshet.commits"))
    }
}
