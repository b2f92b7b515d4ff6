internal import Dispatch

/// One deadline, in the uptime that counts sleep; belongs to the engine's queue.
///
/// Dispatch's clock stands still while the device sleeps. So the timer looks at the clocks every few seconds: after a sleep or a halt
/// a connection may be dead although nothing has ended it, and a deadline may have passed long ago.
final class EngineTimer {
    /// How long a sleep goes unnoticed at most, in milliseconds.
    private static let interval: Int64 = 5_000
    /// Less sleep than this is the two clocks' own difference; less delay is a busy machine.
    private static let sleepThreshold: Int64 = 500
    private static let haltThreshold: Int64 = 5_000

    private let source: any DispatchSourceTimer
    private var deadline: Int64?
    /// When the source is to fire.
    private var expected: Int64 = 0
    private var slept = DeviceClock.slept

    /// - Parameter fire: called on the queue; is to call ``look()``.
    init(_ queue: DispatchQueue, fire: @escaping @Sendable () -> Void) {
        source = DispatchSource.makeTimerSource(queue: queue)
        source.setEventHandler { @Sendable in fire() }
        arm()
        source.activate()
    }

    deinit { source.cancel() }

    func schedule(at deadline: Int64?) {
        self.deadline = deadline
        arm()
    }

    /// What has happened since the last look: whether the device slept or stood still, and whether the deadline has passed.
    func look() -> (gap: Bool, due: Bool) {
        let now = DeviceClock.uptime
        let nowSlept = DeviceClock.slept
        let gap = nowSlept - slept > Self.sleepThreshold || now - expected > Self.haltThreshold
        slept = nowSlept
        let due = deadline.map { $0 <= now } ?? false
        if due { deadline = nil }
        arm()
        return (gap, due)
    }

    private func arm() {
        let now = DeviceClock.uptime
        let wait = min(max(0, (deadline ?? .max) - now), Self.interval)
        expected = now + wait
        source.schedule(deadline: .now() + .milliseconds(Int(wait)), leeway: .milliseconds(1))
    }
}
