internal import Logging
internal import Synchronization

/// Shrinks caches while memory is short, by steps, and lets them grow again when it is not.
///
/// ```swift
/// let pictures = Cache<URL, Data>(costLimit: 256 << 20)
/// pictures.shrinks(under: .shared)
/// ```
///
/// Pressure is what the kernel says: that work waits for memory, on the machine or in the process's control group (PSI), or that the group
/// comes near its limit (`memory.high`, `memory.max`), pages of files that can be forgotten not counted. A warning takes caches from 100 %
/// of their limits to 50, then to 25, then to 10; what is critical takes two of these steps. There are two seconds at least between steps. After
/// ``Configuration/calm`` without pressure they go one step up, and after as much again the next; if pressure is back at once, that time doubles.
///
/// It watches from the moment when the first cache joins or somebody listens until the last has gone, on one thread that sleeps in `poll`. The
/// first to join opens some files of `/proc` and `/sys`. Where the kernel tells nothing it is asked every few seconds; ``status`` says what
/// is watched, and why not more. Without anything to watch, ``report(_:)`` still works. Nothing is asked of reads and writes of a cache.
///
/// Safe from any thread.
public final class MemoryPressure: Sendable {
    private struct State {
        var machine: PressureMachine
        var members: [Member] = []
        var listeners: [Int: AsyncStream<Event>.Continuation] = [:]
        var lastListener = 0
        var watcher: PressureWatcher?
        var news: [News] = []
        var isDelivering = false
    }

    /// One that joined.
    private struct Member {
        weak let cache: (any ShrinkableCache)?
        let identity: ObjectIdentifier
    }

    /// What is to be told, in order.
    private enum News {
        case share(Int)
        case event(Event)
        case release(any ShrinkableCache)
        /// Of listeners, by their numbers: they get all that comes before.
        case end(Set<Int>)
    }

    /// That of the process: one thread watches for all caches that join it.
    public static let shared = MemoryPressure()

    let configuration: Configuration
    private let state: Mutex<State>

    /// One of its own, for another configuration. It watches nothing before a cache joins.
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

    /// What is watched now, what is not, and why.
    public var status: Status {
        let (watcher, percent) = state.withLock { ($0.watcher, $0.machine.percent) }
        return Status(isWatching: watcher != nil, percent: percent, sources: watcher?.sources ?? [])
    }

    /// What happens from now on, until the stream is let go of. At most 64 wait; then the oldest go. Listening is reason enough to watch.
    public var events: AsyncStream<Event> {
        let (stream, continuation) = AsyncStream<Event>.makeStream(bufferingPolicy: .bufferingNewest(64))
        let number = state.withLock { state in
            state.lastListener += 1
            state.listeners[state.lastListener] = continuation
            watch(&state)
            return state.lastListener
        }
        continuation.onTermination = { [weak self] _ in self?.stopTelling(number) }
        return stream
    }

    /// Tells it how short memory is, besides what the kernel says: by another measure, or in a test. What is normal lets only time count.
    /// When it returns, all caches were told what follows from it, unless another thread is telling them: then that one does it.
    public func report(_ level: Level) { see(PressureSign(level), .report) }

    /// Lets it shrink a cache, see ``ShrinkableCache/shrinks(under:)``; a second time changes nothing.
    public func add(_ cache: some ShrinkableCache) {
        state.withLock { state in
            state.members.removeAll { $0.cache == nil }
            guard !state.members.contains(where: { $0.identity == ObjectIdentifier(cache) }) else { return }
            state.members.append(Member(cache: cache, identity: ObjectIdentifier(cache)))
            if state.machine.percent < 100 { state.news.append(.share(state.machine.percent)) }
            watch(&state)
        }
        deliver()
    }

    /// Leaves a cache alone from now on; its limits are back at once.
    public func remove(_ cache: some ShrinkableCache) {
        state.withLock { state in
            let before = state.members.count
            state.members.removeAll { $0.identity == ObjectIdentifier(cache) || $0.cache == nil }
            if state.members.count < before { state.news.append(.release(cache)) }
        }
        deliver()
        wake()
    }

    /// Leaves all caches alone, ends every stream of events after what came before, and returns when thread and files are gone. What joins
    /// later begins anew.
    public func stop() async {
        let watcher = state.withLock { state in
            state.news += state.members.compactMap { member in member.cache.map { .release($0) } }
            state.news.append(.end(Set(state.listeners.keys)))
            state.machine = PressureMachine(calm: configuration.calm)
            defer { (state.members, state.watcher) = ([], nil) }
            return state.watcher
        }
        deliver()
        watcher?.end()
        await watcher?.ended()
    }

    private func stopTelling(_ number: Int) {
        let gone = state.withLock { $0.listeners.removeValue(forKey: number) }
        if gone != nil { wake() }
    }

    /// Has the thread look whether anybody is left, and what time it is.
    func wake() { watcher?.wake() }

    var watcher: PressureWatcher? { state.withLock { $0.watcher } }

    private func watch(_ state: inout State) {
        if state.watcher == nil { state.watcher = PressureWatcher.start(for: self, configuration) }
    }
}

/// What the watching thread calls.
extension MemoryPressure {
    /// What a watcher is to do next.
    enum Turn {
        case wait(until: Duration?)
        case end
    }

    var now: Duration { .nanoseconds(configuration.clock.uptime()) }

    /// Lets time pass. Ends the watching when nobody is left.
    func turn(_ watcher: PressureWatcher) -> Turn {
        let now = now
        let (turn, isNews) = state.withLock { state -> (Turn, Bool) in
            state.members.removeAll { $0.cache == nil }
            guard state.watcher === watcher else { return (.end, false) }
            if state.members.isEmpty, state.listeners.isEmpty {
                state.watcher = nil
                return (.end, false)
            }
            let percent = state.machine.advance(to: now)
            if let percent { state.news += [.share(percent), .event(.grown(toPercent: percent))] }
            return (.wait(until: state.machine.nextGrowth), percent != nil)
        }
        // What others have to tell, they tell before they return.
        if isNews { deliver() }
        return turn
    }

    /// - Returns: whether caches were told to shrink.
    @discardableResult
    func see(_ sign: PressureSign, _ cause: Cause) -> Bool {
        let now = now
        let isShrunk = state.withLock { state in
            let before = state.machine.percent
            guard let percent = state.machine.see(sign, at: now) else { return false }
            state.news.append(.share(percent))
            if percent > before { state.news.append(.event(.grown(toPercent: percent))) }
            if percent < before {
                state.news.append(.event(.shrunk(toPercent: percent, sign == .critical ? .critical : .warning, cause)))
            }
            return percent <= before
        }
        deliver()
        return isShrunk
    }

    func lose(_ path: String, _ reason: String) {
        state.withLock { $0.news.append(.event(.lost(path: path, reason: reason))) }
        deliver()
    }

    /// Tells what is new, in order: one thread at a time does it for all. No lock is held while it tells.
    private func deliver() {
        var isFirst = true
        while true {
            let (news, caches, listeners) = state.withLock { state -> (News?, [any ShrinkableCache], [AsyncStream<Event>.Continuation]) in
                if isFirst, state.isDelivering { return (nil, [], []) }
                state.isDelivering = !state.news.isEmpty
                guard state.isDelivering else { return (nil, [], []) }
                switch state.news.removeFirst() {
                case .share(let percent): return (.share(percent), state.members.compactMap(\.cache), [])
                case .event(let event): return (.event(event), [], Array(state.listeners.values))
                case .release(let cache): return (.release(cache), [], [])
                case .end(let numbers): return (.end(numbers), [], numbers.compactMap { state.listeners.removeValue(forKey: $0) })
                }
            }
            guard let news else { return }
            isFirst = false
            switch news {
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
            configuration.logger.warning("memory pressure is no longer told", metadata: ["path": "\(path)", "reason": "\(reason)"])
        }
    }
}
