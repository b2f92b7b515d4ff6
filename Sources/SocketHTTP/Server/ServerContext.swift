import Logging
import Synchronization

/// What the loops of one server share. It does not change while the server runs, save for two counts.
final class ServerContext: Sendable {
    /// The time-outs of `Limits`, in ticks.
    struct TickLimits: Sendable {
        let header: UInt32
        let body: UInt32
        let idle: UInt32
        let write: UInt32
        let linger: UInt32
    }

    let router: Router
    let limits: Limits
    let parserLimits: ParserLimits
    let ticks: TickLimits
    let logger: Logger
    let loops: [EventLoop]
    let counters: [LoopCounters]
    private let open = Atomic<Int>(0)
    private let loopsAtWork: Atomic<Int>
    private let onDrained: @Sendable () -> Void

    /// - Parameter onDrained: called once, when the last connection of the last loop is closed.
    init(_ router: Router, _ limits: Limits, _ logger: Logger, _ loops: [EventLoop], onDrained: @escaping @Sendable () -> Void) {
        self.router = router
        self.limits = limits
        parserLimits = ParserLimits(limits)
        self.logger = logger
        self.loops = loops
        self.onDrained = onDrained
        counters = loops.map { _ in LoopCounters() }
        loopsAtWork = Atomic(loops.count)
        ticks = TickLimits(
            header: Clock.ticks(limits.headerTimeout),
            body: Clock.ticks(limits.bodyTimeout),
            idle: Clock.ticks(limits.idleTimeout),
            write: Clock.ticks(limits.writeTimeout),
            linger: Clock.ticks(limits.lingerTimeout)
        )
    }

    /// Connections of all loops.
    var openConnections: Int { open.load(ordering: .relaxed) }

    func connectionOpened() {
        open.add(1, ordering: .relaxed)
    }

    func connectionClosed() {
        open.subtract(1, ordering: .relaxed)
    }

    /// A loop has closed its last connection and left the server.
    func loopDrained() {
        guard loopsAtWork.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 else { return }
        EventLoopPool.giveBack(loops)
        onDrained()
    }

    var statistics: HTTPServerStatistics {
        var sum = HTTPServerStatistics()
        sum.connectionsOpen = openConnections
        for counters in counters { counters.add(to: &sum) }
        return sum
    }
}
