import FreshetWire
import Synchronization

/// How long things are remembered, in milliseconds of the ``RetentionClock``.
struct Retention: Sendable {
    /// Deletes and invalidations.
    var deletes: Int64
    /// The outcomes of a client's writes after its last one.
    var outcomes: Int64

    /// The most by which a start of the server may advance the clock: a day, and half of the shorter retention. So a
    /// wall clock that is wrong at a start takes away no more than that.
    var offLimit: Int64 { min(86_400_000, max(min(deletes, outcomes), 0) / 2) }
}

/// The clocks by which a server writes to its store: the wall clock, for people, and the ``RetentionClock``.
///
/// Thread-safe.
final class ServerClock: Sendable {
    private let environment: ServerEnvironment
    private let retention: Mutex<RetentionClock>

    /// Reads what the store keeps of the clock. Blocks on the store.
    ///
    /// - Parameter offLimit: as of ``RetentionClock/init(_:wall:monotonic:offLimit:)``.
    init(_ store: any RecordStore, _ environment: ServerEnvironment, offLimit: Int64) throws(StoreError) {
        self.environment = environment
        retention = Mutex(
            RetentionClock(
                try store.retention(), wall: environment.wallMilliseconds(), monotonic: environment.monotonicNanoseconds() / 1_000_000,
                offLimit: offLimit))
    }

    private var monotonic: Int64 { environment.monotonicNanoseconds() / 1_000_000 }

    /// The time of a write.
    var now: WriteTime { WriteTime(wall: Timestamp(milliseconds: environment.wallMilliseconds()), retention: retained) }

    /// The time of the retention clock.
    var retained: Timestamp {
        let monotonic = monotonic
        return retention.withLock { $0.time(at: monotonic) }
    }

    /// Stores the time of the retention clock, and takes that of the other servers of the store.
    func raise(in transaction: any RecordTransaction) throws {
        let now = now
        let mark = try transaction.raise(RetentionClock.Mark(time: now.retention.milliseconds, wall: now.wall.milliseconds))
        let monotonic = monotonic
        retention.withLock { $0.take(mark, monotonic: monotonic) }
    }
}
