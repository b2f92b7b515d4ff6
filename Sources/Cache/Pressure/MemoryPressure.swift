internal import Logging
internal import Synchronization

/// Shrinks caches by steps while memory is short, and lets them grow again afterwards.
///
/// ```swift
/// let pictures = Cache<URL, Data>(costLimit: 256 << 20)
/// pictures.shrinks(under: .shared)
/// ```
///
/// The kernel reports pressure: tasks wait for memory, on the machine or in the process's control group (PSI), or the
/// group comes near its limit (`memory.high`, `memory.max`), without pages of files that can be dropped. A warning
/// takes caches from 100 % of their limits to 50, then to 25, then to 10; a critical sign takes two of these steps.
/// Steps are at least two seconds apart. After ``Configuration/calm`` without pressure caches go one step up, and after
/// the same time again the next; if pressure returns at once, that time doubles.
///
/// Watching begins when the first cache joins or the first listener is added, and ends with the last of them. It uses
/// one thread, which sleeps in `poll`. The first cache to join opens some files of `/proc` and `/sys`. Files without
/// notifications are read every few seconds; ``status`` shows which sources are watched, and why others are not.
/// Without any source, ``report(_:)`` still works. Reads and writes of a cache have no extra cost.
///
/// Safe from any thread.
public final class MemoryPressure: Sendable {
    private struct State {
        var machine: PressureMachine
        var members: [Member] = []
        var listeners: [Int: AsyncStream<Event>.Continuation] = [:]
        var lastListener = 0
        var watcher: PressureWatcher?
        var notifications: [Notification] = []
        var isDelivering = false
    }

    /// A cache that joined.
    private struct Member {
        weak let cache: (any ShrinkableCache)?
        let identity: ObjectIdentifier
    }

    /// Notifications to deliver, in order.
    private enum Notification {
        case share(Int)
        case event(Event)
        case release(any ShrinkableCache)
        /// Ends the streams of listeners, by their numbers, after the preceding events.
        case end(Set<Int>)
    }

    /// The shared instance of the process: one thread watches for all caches that join.
    public static let shared = MemoryPressure()

    let configuration: Configuration
    private let state: Mutex<State>

    /// Creates a separate instance with another configuration. It watches nothing before a cache joins or a listener is
    /// added.
    public init(_ configuration: Configuration = Configuration()) {
        self.configuration = configuration
        state = Mutex(State(machine: PressureMachine(calm: configuration.calm)))
    }

    deinit {
        let (members, listeners, watcher, percent) = state.withLock {
            ($0.members, $0.listeners.values, $0.watcher, $0.machine.percent)
        }
        watcher?.end()
        for listener in listeners { listener.finish() }
        if percent < 100 { for member in members { member.cache?.shrink(toPercent: 100) } }
    }

    /// The share of their limits that caches may use now: 100, 50, 25 or 10 percent.
    public var percent: Int { state.withLock { $0.machine.percent } }

    /// The sources that are watched now, those that are not, and why.
    public var status: Status {
        let (watcher, percent) = state.withLock { ($0.watcher, $0.machine.percent) }
        return Status(isWatching: watcher != nil, percent: percent, sources: watcher?.sources ?? [])
    }

    /// The events from now on, until the stream is released. It buffers at most 64 events, then drops the oldest. A
    /// listener alone starts the watching.
    public var events: AsyncStream<Event> {
        let (stream, continuation) = AsyncStream<Event>.makeStream(bufferingPolicy: .bufferingNewest(64))
        let number = state.withLock { state in
            state.lastListener += 1
            state.listeners[state.lastListener] = continuation
            watch(&state)
            return state.lastListener
        }
        continuation.onTermination = { [weak self] _ in self?.removeListener(number) }
        return stream
    }

    /// Reports a level of pressure from another source than the kernel, or in a test. A normal level only advances the
    /// time. When the call returns, all caches were notified, unless another thread is notifying them: then that thread
    /// does it.
    public func report(_ level: Level) { see(PressureLevel(level), .report) }

    /// Adds a cache to shrink, see ``ShrinkableCache/shrinks(under:)``. Adding it again has no effect.
    public func add(_ cache: some ShrinkableCache) {
        state.withLock { state in
            state.members.removeAll { $0.cache == nil }
            guard !state.members.contains(where: { $0.identity == ObjectIdentifier(cache) }) else { return }
            state.members.append(Member(cache: cache, identity: ObjectIdentifier(cache)))
            if state.machine.percent < 100 { state.notifications.append(.share(state.machine.percent)) }
            watch(&state)
        }
        deliver()
    }

    /// Removes a cache, and restores its limits at once.
    public func remove(_ cache: some ShrinkableCache) {
        state.withLock { state in
            let before = state.members.count
            state.members.removeAll { $0.identity == ObjectIdentifier(cache) || $0.cache == nil }
            if state.members.count < before { state.notifications.append(.release(cache)) }
        }
        deliver()
        wake()
    }

    /// Removes all caches, ends every stream after its pending events, and returns when the thread has ended and its
    /// files are closed. A cache that joins later starts the watching again.
    public func stop() async {
        let watcher = state.withLock { state in
            state.notifications += state.members.compactMap { member in member.cache.map { .release($0) } }
            state.notifications.append(.end(Set(state.listeners.keys)))
            state.machine = PressureMachine(calm: configuration.calm)
            defer { (state.members, state.watcher) = ([], nil) }
            return state.watcher
        }
        deliver()
        watcher?.end()
        await watcher?.ended()
    }

    private func removeListener(_ number: Int) {
        let gone = state.withLock { $0.listeners.removeValue(forKey: number) }
        if gone != nil { wake() }
    }

    /// Wakes the thread to check the time, and whether any cache or listener remains.
    func wake() { watcher?.wake() }

    var watcher: PressureWatcher? { state.withLock { $0.watcher } }

    private func watch(_ state: inout State) {
        if state.watcher == nil { state.watcher = PressureWatcher.start(for: self, configuration) }
    }
}

/// The calls of the watching thread.
extension MemoryPressure {
    /// The next action of a watcher.
    enum NextStep {
        case wait(until: Duration?)
        case end
    }

    var now: Duration { .nanoseconds(configuration.clock.uptime()) }

    /// Advances the time. Ends the watching without caches and listeners.
    func advance(_ watcher: PressureWatcher) -> NextStep {
        let now = now
        let (nextStep, hasGrown) = state.withLock { state -> (NextStep, Bool) in
            state.members.removeAll { $0.cache == nil }
            guard state.watcher === watcher else { return (.end, false) }
            if state.members.isEmpty, state.listeners.isEmpty {
                state.watcher = nil
                return (.end, false)
            }
            let percent = state.machine.advance(to: now)
            if let percent { state.notifications += [.share(percent), .event(.grown(toPercent: percent))] }
            return (.wait(until: state.machine.nextGrowth), percent != nil)
        }
        // A thread that adds other notifications delivers them before it returns.
        if hasGrown { deliver() }
        return nextStep
    }

    /// - Returns: whether caches had to shrink.
    @discardableResult
    func see(_ level: PressureLevel, _ cause: Cause) -> Bool {
        let now = now
        let isShrunk = state.withLock { state in
            let before = state.machine.percent
            guard let percent = state.machine.see(level, at: now) else { return false }
            state.notifications.append(.share(percent))
            if percent > before { state.notifications.append(.event(.grown(toPercent: percent))) }
            if percent < before {
                state.notifications.append(.event(.shrunk(toPercent: percent, level == .critical ? .critical : .warning, cause)))
            }
            return percent <= before
        }
        deliver()
        return isShrunk
    }

    func lose(_ path: String, _ reason: String) {
        state.withLock { $0.notifications.append(.event(.lost(path: path, reason: reason))) }
        deliver()
    }

    /// Delivers notifications in order. One thread at a time delivers for all, and holds no lock while it does.
    private func deliver() {
        var isFirst = true
        while true {
            let (notification, caches, listeners) = state.withLock {
                state -> (Notification?, [any ShrinkableCache], [AsyncStream<Event>.Continuation]) in
                if isFirst, state.isDelivering { return (nil, [], []) }
                state.isDelivering = !state.notifications.isEmpty
                guard state.isDelivering else { return (nil, [], []) }
                switch state.notifications.removeFirst() {
                case .share(let percent): return (.share(percent), state.members.compactMap(\.cache), [])
                case .event(let event): return (.event(event), [], Array(state.listeners.values))
                case .release(let cache): return (.release(cache), [], [])
                case .end(let numbers): return (.end(numbers), [], numbers.compactMap { state.listeners.removeValue(forKey: $0) })
                }
            }
            guard let notification else { return }
            isFirst = false
            switch notification {
            case .share(let percent): for cache in caches { cache.shrink(toPercent: percent) }
            case .release(let cache): cache.shrink(toPercent: 100)
            case .end: for listener in listeners { listener.finish() }
            case .event(let event):
                log(event)
                for listener in listeners { listener.yield(event) }
            }
        }
    }

    private func log(_ event: Event) {
        switch event {
        case .shrunk(let percent, let level, let cause):
            configuration.logger.warning(
                "caches shrink for want of memory",
                metadata: ["percent": "\(percent)", "level": "\(level.rawValue)", "cause": "\(cause)"])
        case .grown(let percent): configuration.logger.notice("caches may grow again", metadata: ["percent": "\(percent)"])
        case .lost(let path, let reason):
            configuration.logger.warning("memory pressure is no longer watched", metadata: ["path": "\(path)", "reason": "\(reason)"])
        }
    }
}
