/// Decides when deletes are forgotten: in regular passes, the first at the start of the server, with steps so small that writes
/// hardly wait for them.
///
/// Time is monotonic milliseconds, as everywhere. How old a delete is, a ``RetentionClock`` says.
package struct CompactionSchedule: Sendable {
    /// From the end of one pass to the beginning of the next, in milliseconds.
    private let interval: Int64
    private var next: Int64
    private var isRunning = false

    package init(interval: Int64, now: Int64) {
        // Limited so that no sum with a clock overflows.
        self.interval = min(max(interval, 1), .max / 4)
        next = now
    }

    /// Begins a step, and returns true, if one is due.
    package mutating func tick(now: Int64) -> Bool {
        guard !isRunning, now >= next else { return false }
        isRunning = true
        return true
    }

    /// Ends a step. The next one is due at once if there is more to do, otherwise after the interval, as after a
    /// failure.
    package mutating func finished(isComplete: Bool, now: Int64) {
        isRunning = false
        next = isComplete ? now + interval : now
    }
}
