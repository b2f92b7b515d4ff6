internal import FreshetTransport

/// Carries out a ``WakeSchedule``; belongs to the engine's thread.
///
/// The clock of its timer does not advance while the device sleeps. So the timer reads the clocks every few seconds:
/// after a sleep or a halt a connection may be dead although nothing has ended it, and a deadline may have passed long
/// ago.
final class EngineTimer {
    private let transport: CurlTransport
    private let fire: @Sendable () -> Void
    private var schedule = WakeSchedule(uptime: DeviceClock.uptime, slept: DeviceClock.slept)

    /// - Parameter fire: called on the transport's thread; must call ``look()``.
    init(_ transport: CurlTransport, fire: @escaping @Sendable () -> Void) {
        self.transport = transport
        self.fire = fire
        arm()
    }

    deinit { transport.clearTimer() }

    func schedule(at deadline: Int64?) {
        schedule.deadline = deadline
        arm()
    }

    /// Schedules the repetition of reads for observers.
    func readAgain(at deadline: Int64) {
        schedule.readDeadline = deadline
        arm()
    }

    /// Whether the repetition of reads for observers is scheduled.
    var willReadAgain: Bool { schedule.readDeadline != nil }

    /// Returns whether the device slept or halted since the last look, and which deadlines have passed.
    func look() -> (gap: Bool, due: Bool, readDue: Bool) {
        defer { arm() }
        return schedule.look(uptime: DeviceClock.uptime, slept: DeviceClock.slept)
    }

    private func arm() {
        guard let wait = schedule.wait(uptime: DeviceClock.uptime) else { return }
        transport.setTimer(in: wait, fire)
    }
}
