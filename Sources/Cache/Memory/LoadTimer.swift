internal import Dispatch
internal import FreshetPlatform
internal import Synchronization

/// Ends loads that take too long, of all caches of the process, with one timer. It is idle while no load has a deadline.
///
/// Unchecked, since Dispatch's types are not marked `Sendable` on Linux: the source is not replaced, and its methods may
/// be called from any thread (dispatch objects are thread-safe). All other state is behind the lock.
final class LoadTimer: @unchecked Sendable {
    typealias Expire = @Sendable () -> Void

    static let shared = LoadTimer()

    private let deadlines = Mutex(LoadDeadlines<Expire>())
    private let source: any DispatchSourceTimer

    private init() {
        source = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "freshet.cache.loads"))
        source.setEventHandler { [unowned self] in fire() }
        source.activate()
    }

    /// Calls `expire` after a time, on the timer's thread, unless the load is removed before. It is freed then too.
    func add(_ load: AnyObject, after timeout: Duration, _ expire: @escaping Expire) {
        let deadline = Self.now.saturatingAdd(max(0, timeout.clampedNanoseconds))
        // Under the lock, so that a later alarm does not replace an earlier one.
        deadlines.withLock { if $0.add(ObjectIdentifier(load), expire, at: deadline) { set(deadline) } }
    }

    func remove(_ load: AnyObject) {
        let expire = deadlines.withLock { $0.remove(ObjectIdentifier(load)) }
        withExtendedLifetime(expire) {}
    }

    /// The number of loads that have a deadline.
    var count: Int { deadlines.withLock { $0.count } }

    private func fire() {
        let due = deadlines.withLock { deadlines in
            let due = deadlines.due(at: Self.now)
            if let alarm = deadlines.alarm { set(alarm) }
            return due
        }
        for expire in due { expire() }
    }

    private func set(_ alarm: Int64) {
        source.schedule(deadline: DispatchTime(uptimeNanoseconds: UInt64(max(0, alarm))), leeway: .milliseconds(1))
    }

    private static var now: Int64 { Int64(clamping: DispatchTime.now().uptimeNanoseconds) }
}
