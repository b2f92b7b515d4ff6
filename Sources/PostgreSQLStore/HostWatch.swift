#if PostgreSQL
internal import FreshetPlatform
internal import Glibc
internal import Synchronization

/// A thread that asks a host of a store, since connections that stay open do not show a takeover. It may wait for a host
/// that does not answer; nobody waits for it.
///
/// Thread-safe.
final class HostWatch: Sendable {
    private struct State {
        var schedule: HostCheckSchedule
        var isStopped = false
    }

    private let check: @Sendable () -> Void
    private let wakeup: WakeupEvent
    private let state: Mutex<State>

    private static var now: Int64 { SystemClock.monotonicNanoseconds / 1_000_000 }

    /// - Parameters:
    ///   - interval: between two rounds, in milliseconds, 1 or more.
    ///   - check: asks the host once. Called by the thread.
    /// - Throws: ``SystemFailure`` if the process or the system has no descriptor or no thread left.
    init(every interval: Int64, check: @escaping @Sendable () -> Void) throws(SystemFailure) {
        wakeup = try WakeupEvent()
        self.check = check
        state = Mutex(State(schedule: HostCheckSchedule(interval: interval, now: Self.now)))
    }

    deinit { wakeup.close() }

    func start() throws(SystemFailure) {
        let failure = DetachedThread.start { self.run() }
        guard failure == 0 else { throw SystemFailure(code: failure) }
    }

    /// A connection was opened: the host is asked soon.
    func opened() {
        let now = Self.now
        state.withLock { $0.schedule.opened(now: now) }
        wakeup.signal()
    }

    func stop() {
        state.withLock { $0.isStopped = true }
        wakeup.signal()
    }

    private func run() {
        while true {
            let now = Self.now
            let (isStopped, remaining) = state.withLock { ($0.isStopped, $0.schedule.remaining(now: now)) }
            if isStopped { return }
            guard remaining == 0 else {
                var entry = pollfd(fd: wakeup.descriptor, events: Int16(POLLIN), revents: 0)
                _ = poll(&entry, 1, Int32(clamping: remaining))
                wakeup.reset()
                continue
            }
            state.withLock { $0.schedule.began() }
            check()
            let end = Self.now
            state.withLock { $0.schedule.ended(now: end) }
        }
    }
}
#endif
