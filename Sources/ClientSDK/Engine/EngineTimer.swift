internal import Dispatch

/// Carries a ``WakeSchedule`` out; belongs to the engine's queue.
///
/// Dispatch's clock stands still while the device sleeps. So the timer looks at the clocks every few seconds: after a sleep or a halt
/// a connection may be dead although nothing has ended it, and a deadline may have passed long ago.
final class EngineTimer {
    private let source: any DispatchSourceTimer
    private var schedule = WakeSchedule(uptime: DeviceClock.uptime, slept: DeviceClock.slept)

    /// - Parameter fire: called on the queue; is to call ``look()``.
    init(_ queue: DispatchQueue, fire: @escaping @Sendable () -> Void) {
        source = DispatchSource.makeTimerSource(queue: queue)
        source.setEventHandler { @Sendable in fire() }
        arm()
        source.activate()
    }

    deinit { source.cancel() }

    func schedule(at deadline: Int64?) {
        schedule.deadline = deadline
        arm()
    }

    /// What has happened since the last look: whether the device slept or stood still, and whether the deadline has passed.
    func look() -> (gap: Bool, due: Bool) {
        defer { arm() }
        return schedule.look(uptime: DeviceClock.uptime, slept: DeviceClock.slept)
    }

    private func arm() {
        guard let wait = schedule.wait(uptime: DeviceClock.uptime) else { return }
        source.schedule(deadline: .now() + .milliseconds(Int(wait)), leeway: .milliseconds(1))
    }
}
