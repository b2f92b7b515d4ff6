package import FreshetWire

/// When deletes are forgotten: a pass now and then, in steps so small that writes hardly wait for them.
///
/// Time is monotonic milliseconds, as everywhere; only the age of a delete is by the wall clock.
package struct CompactionSchedule: Sendable {
    /// From the end of one pass to the beginning of the next, in milliseconds.
    private let interval: Int64
    /// How long a delete is remembered, in milliseconds.
    private let retention: Int64
    private var next: Int64
    private var isRunning = false

    package init(interval: Int64, retention: Int64, now: Int64) {
        // So far away that no sum with a clock overflows.
        self.interval = min(max(interval, 1), .max / 4)
        self.retention = max(retention, 0)
        next = now + self.interval
    }

    /// Time has passed. Returns up to when deletes are to be forgotten, if a step is due.
    package mutating func tick(now: Int64, wall: Int64) -> Timestamp? {
        guard !isRunning, now >= next else { return nil }
        isRunning = true
        return Timestamp(milliseconds: wall - retention)
    }

    /// A step is over: the next comes at once if there is more to do, and after a failure as late as after a success.
    package mutating func finished(isComplete: Bool, now: Int64) {
        isRunning = false
        next = isComplete ? now + interval : now
    }
}
