internal import CFreshetLinux
internal import FreshetPlatform
internal import Glibc
internal import Synchronization

/// The thread that waits for signs of pressure. It holds no ``MemoryPressure`` while it waits, and closes its files
/// when it ends.
final class PressureWatcher: Sendable {
    private struct State {
        var sources: PressureSources
        /// Wakes the thread; `nil` if it could not be made, and once the thread has ended.
        var wakeup: WakeupEvent?
        var isEnding = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    /// The longest time between checks whether any cache remains, in milliseconds.
    private static let longestSleep = 60_000

    private weak let pressure: MemoryPressure?
    private let readInterval: Duration
    private let state: Mutex<State>

    private init(_ pressure: MemoryPressure, _ sources: PressureSources, _ interval: Duration, _ wakeup: WakeupEvent?) {
        self.pressure = pressure
        readInterval = min(max(.milliseconds(100), interval), .seconds(30 * 86_400))
        state = Mutex(State(sources: sources, wakeup: wakeup))
    }

    /// Opens the sources, and starts the thread. If the thread cannot be started, the status of all sources says so.
    static func start(for pressure: MemoryPressure, _ configuration: MemoryPressure.Configuration) -> PressureWatcher {
        let wakeup = Result { () throws(SystemFailure) in try WakeupEvent() }
        let watcher = PressureWatcher(pressure, PressureSources(configuration), configuration.readInterval, try? wakeup.get())
        if case .failure(let failure) = wakeup {
            watcher.finish("there is no descriptor left to wake its thread: \(failure.reason)")
            return watcher
        }
        let failure = DetachedThread.start { watcher.run() }
        if failure != 0 { watcher.finish("there is no thread to watch it: \(SystemFailure(code: failure).reason)") }
        return watcher
    }

    var sources: [MemoryPressure.Status.Source] { state.withLock { $0.sources.status } }

    /// Wakes the thread to check the time, and whether it is still needed.
    func wake() {
        // Under the lock, so that the descriptor is not closed, and used for another file, in between.
        state.withLock { $0.wakeup?.signal() }
    }

    /// Requests the thread to end.
    func end() {
        state.withLock { $0.isEnding = true }
        wake()
    }

    /// Returns when the thread has ended and all files are closed.
    func ended() async {
        await withCheckedContinuation { continuation in
            let hasEnded = state.withLock { state in
                if state.wakeup != nil { state.waiting.append(continuation) }
                return state.wakeup == nil
            }
            if hasEnded { continuation.resume() }
        }
    }

    private func run() {
        var nextRead = Duration.zero
        while case .wait(let milliseconds, let descriptors)? = plan(&nextRead) {
            var waits = descriptors
            let count = poll(&waits, nfds_t(waits.count), milliseconds)
            let seen = count > 0 ? look(waits, &nextRead) : []
            report(seen)
        }
        finish(nil)
    }

    private enum Plan {
        case wait(Int32, [pollfd])
    }

    /// Reads the sources that are due, and returns the descriptors to wait for; nil if no cache or listener remains.
    private func plan(_ nextRead: inout Duration) -> Plan? {
        guard let pressure, !state.withLock({ $0.isEnding }) else { return nil }
        let now = pressure.now
        if now >= nextRead {
            nextRead = now + readInterval
            report(state.withLock { $0.sources.read(at: now) })
        }
        guard case .wait(let growth) = pressure.advance(self) else { return nil }
        return state.withLock { state in
            var waits = [pollfd(fd: state.wakeup?.descriptor ?? -1, events: Int16(POLLIN), revents: 0)]
            if state.sources.notices >= 0 { waits.append(pollfd(fd: state.sources.notices, events: Int16(POLLIN), revents: 0)) }
            for trigger in state.sources.triggers {
                waits.append(pollfd(fd: trigger.descriptor, events: Int16(trigger.isPipe ? POLLIN : POLLPRI), revents: 0))
            }
            var sleep = Self.longestSleep
            for moment in [growth, state.sources.areReadable ? nextRead : nil] {
                if let moment { sleep = min(sleep, max(0, Int((moment - now) / .milliseconds(1)) + 1)) }
            }
            return .wait(Int32(sleep), waits)
        }
    }

    /// Collects the signs of the ready descriptors.
    private func look(_ waits: [pollfd], _ nextRead: inout Duration) -> [PressureSources.Reading] {
        var (seen, lost): ([PressureSources.Reading], [String]) = ([], [])
        state.withLock { state in
            for wait in waits where wait.revents != 0 {
                guard let trigger = state.sources.triggers.first(where: { $0.descriptor == wait.fd }) else {
                    Self.drain(wait.fd)
                    if wait.fd == state.sources.notices { nextRead = .zero }
                    continue
                }
                if wait.revents & Int16(POLLERR | POLLNVAL) != 0 {
                    state.sources.lose(trigger.descriptor, Self.gone)
                    lost.append(trigger.path)
                } else {
                    if trigger.isPipe { Self.drain(wait.fd) }
                    seen.append(PressureSources.Reading(level: trigger.level, cause: .stalls(path: trigger.path)))
                }
            }
        }
        for path in Set(lost) { pressure?.lose(path, Self.gone) }
        return seen
    }

    private static let gone = "its control group was removed"

    private func report(_ seen: [PressureSources.Reading]) {
        guard let pressure else { return }
        // The worst first, since a critical sign takes two steps at once.
        var isShrunk = false
        for reading in seen.sorted(by: { $0.level > $1.level }) where pressure.see(reading.level, reading.cause) { isShrunk = true }
        // Returns the memory that the caches freed from the allocator to the system.
        if isShrunk { malloc_trim(0) }
    }

    private func finish(_ reason: String?) {
        // The kernel takes some 25 ms to close a trigger, so no lock is held meanwhile.
        var sources = state.withLock { $0.sources }
        sources.close(reason)
        let waiting = state.withLock { state in
            state.sources = sources
            if let wakeup = state.wakeup { close(wakeup.descriptor) }
            state.wakeup = nil
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    private static func drain(_ descriptor: Int32) {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while read(descriptor, &buffer, buffer.count) > 0 {}
    }
}
