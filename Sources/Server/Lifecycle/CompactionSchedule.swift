package import FreshetWire

/// Decides when deletes are forgotten: in regular passes, with steps so small that writes hardly wait for them.
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
        // Limited so that no sum with a clock overflows.
        self.interval = min(max(interval, 1), .max / 4)
        self.retention = max(retention, 0)
        next = now + self.interval
    }

    /// Returns the time before which deletes are to be forgotten, if a step is due.
    package mutating func tick(now: Int64, wall: Int64) -> Timestamp? {
        guard !isRunning, now >= next else { return nil }
        isRunning = true
        return Timestamp(milliseconds: wall - retention)
    }

    /// Ends a step. The next one is due at once if there is more to do, otherwise after the interval, as after a
    /// failure.
    package mutating func finished(isComplete: Bool, now: Int64) {
        isRunning = false
        next = isComplete ? now + interval : now
    }
}
