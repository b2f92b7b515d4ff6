/// Carries a ``WakeSchedule`` out; belongs to the engine's thread.
///
/// The clock of its alarm stands still while the device sleeps. So the timer looks at the clocks every few seconds: after a sleep or a halt
/// a connection may be dead although nothing has ended it, and a deadline may have passed long ago.
final class EngineTimer {
    private let transport: CurlTransport
    private let fire: @Sendable () -> Void
    private var schedule = WakeSchedule(uptime: DeviceClock.uptime, slept: DeviceClock.slept)

    /// - Parameter fire: called on the transport's thread; is to call ``look()``.
    init(_ transport: CurlTransport, fire: @escaping @Sendable () -> Void) {
        self.transport = transport
        self.fire = fire
        arm()
    }

    deinit { transport.clearAlarm() }

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
        transport.setAlarm(in: wait, fire)
    }
}
