internal import FreshetPlatform

/// The ticks in which loops measure time.
enum Clock {
    /// The unit of all time-outs.
    static let tickMilliseconds = 100
    static let ticksPerSecond = 1_000 / tickMilliseconds
    /// How far the coarse clock may be behind that by which the kernel wakes a sleeper.
    static let lagMilliseconds = 10

    /// Ticks since an arbitrary start. Differences stay right when the count wraps, after 13 years.
    static func tick() -> UInt32 {
        UInt32(truncatingIfNeeded: UInt64(SystemClock.coarseMonotonicNanoseconds) / (UInt64(tickMilliseconds) * 1_000_000))
    }

    /// How many ticks are at least `duration`.
    static func ticks(_ duration: Duration) -> UInt32 {
        let unit = UInt64(tickMilliseconds) * 1_000_000
        return UInt32(clamping: min(UInt64(max(0, duration.clampedNanoseconds)) / unit + 1, UInt64(Int32.max / 2)))
    }
}

extension EventLoop {
    /// Brings the connection's deadline in line with what it now waits for.
    func updateDeadline(_ connection: Connection) {
        guard connection.isOpen else { return }
        let phase = phase(of: connection)
        let number = connection.state.next
        guard phase != connection.phase || number != connection.phaseNumber else { return }
        connection.phase = phase
        connection.phaseNumber = number
        setDeadline(connection)
    }

    /// Sets the deadline of the phase that has just begun.
    func setDeadline(_ connection: Connection) {
        let limits = connection.context.ticks
        let ticks: UInt32
        switch connection.phase {
        case .opening, .head: ticks = limits.header
        case .body:
            ticks = limits.body.grace
            connection.backlog?.transferred = 0
        case .idle: ticks = limits.idle
        case .writing:
            ticks = limits.write.grace
            connection.backlog?.transferred = bytesAccepted(connection)
        case .lingering: ticks = limits.linger
        case .awaitingHandler: return
        }
        connection.deadline = tick &+ ticks
        // The entry that is there comes early enough only if the deadline moved back; a shorter one needs its own.
        if !connection.hasTimerEntry || connection.timerTick.isAfter(connection.deadline) { insertTimerEntry(connection) }
    }

    private func phase(of connection: Connection) -> Connection.Phase {
        let state = connection.state
        if state.isLingering { return .lingering }
        if connection.hasOutput { return .writing }
        switch connection.backlog?.parser?.progress {
        case .inHead: return .head
        case .inBody: return .body
        case .betweenRequests, nil: break
        }
        if state.pending > 0 { return .awaitingHandler }
        return state.hasBegun ? .idle : .opening
    }

    private func insertTimerEntry(_ connection: Connection) {
        connection.timerTick = wheel.insert(connection.token, at: connection.deadline)
        connection.hasTimerEntry = true
        wake(at: connection.timerTick)
    }

    /// Advances the wheel to the current tick.
    func passTime() {
        for token in wheel.advance(to: tick) {
            if let index = Acceptor.index(of: token) {
                resumeAccepting(index)
            } else if let connection = connection(token) {
                handleTimerEntry(connection)
            }
        }
        if let wakeTick, !wakeTick.isAfter(tick) { self.wakeTick = wheel.next() }
    }

    private func handleTimerEntry(_ connection: Connection) {
        // A shorter deadline gets a separate entry; the older entry, which comes later, is then ignored.
        guard connection.hasTimerEntry, !connection.timerTick.isAfter(tick) else { return }
        connection.hasTimerEntry = false
        guard connection.phase != .awaitingHandler else { return }
        if connection.deadline.isAfter(tick) { return insertTimerEntry(connection) }
        guard let ticks = nextLook(at: connection) else { return expire(connection) }
        connection.deadline = tick &+ ticks
        insertTimerEntry(connection)
    }

    /// The ticks until the next check of a body that is being received or an answer that is being sent; `nil` if it is
    /// too slow, or the phase is another one.
    private func nextLook(at connection: Connection) -> UInt32? {
        guard let backlog = connection.backlog else { return nil }
        switch connection.phase {
        case .body:
            defer { backlog.transferred = 0 }
            return connection.context.ticks.body.nextLook(after: backlog.transferred)
        case .writing:
            let accepted = bytesAccepted(connection)
            defer { backlog.transferred = accepted }
            return connection.context.ticks.write.nextLook(after: accepted - backlog.transferred)
        default:
            return nil
        }
    }

    /// Bytes from the output queue that have reached the peer, from an arbitrary start. Bytes that the kernel still
    /// keeps do not count: for a slow peer the kernel may accept so many at a time that the queue alone would seem to
    /// stand still.
    private func bytesAccepted(_ connection: Connection) -> Int {
        (connection.backlog?.output.sent ?? 0) &- SystemCall.unacknowledged(connection.descriptor)
    }

    /// Makes the loop wake by `tick`.
    func wake(at tick: UInt32) {
        if wakeTick.map({ $0.isAfter(tick) }) ?? true { wakeTick = tick }
    }

    /// How long the loop may sleep, in milliseconds; without end (-1) while the wheel is empty.
    var longestSleep: Int32 {
        guard let wakeTick else { return -1 }
        let ticks = max(1, Int(Int32(bitPattern: wakeTick &- tick)))
        return Int32(clamping: ticks * Clock.tickMilliseconds + Clock.lagMilliseconds)
    }
}

extension UInt32 {
    /// Whether this tick comes after `other`, the count's wrap-around included.
    func isAfter(_ other: UInt32) -> Bool {
        Int32(bitPattern: self &- other) > 0
    }
}
