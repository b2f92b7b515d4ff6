import CLinux
import Dispatch
import Glibc
import Synchronization

/// A serial queue that owns sockets: one Dispatch source over an epoll descriptor, in which the sockets are registered.
///
/// Decision 4 of the design: one source for all sockets costs what bare epoll costs, and nothing is made or cancelled while
/// connections come and go (apple/swift-corelibs-libdispatch#949). For the same reason a loop is never destroyed: servers take
/// loops from `EventLoopPool` and give them back.
///
/// `@unchecked Sendable`: the mutable properties are touched only within `run`, which only the loop's serial queue calls; what
/// other threads use (`queue`, `mailbox`, `thread`, `wakeUp`) is `let` and safe by itself.
final class EventLoop: @unchecked Sendable {
    private let queue: DispatchQueue
    private let source: any DispatchSourceRead
    private let timer: any DispatchSourceTimer
    private let mailbox = Mailbox()
    /// The thread that runs the loop at this moment, or 0.
    private let thread = Atomic<UInt>(0)
    let epoll: Epoll

    private let events: UnsafeMutableBufferPointer<epoll_event>
    /// Memory for the next batch of messages.
    private var spareBatch: [LoopMessage] = []
    // Here and below, what every event looks at is `@exclusivity(unchecked)`: nothing is called within an access, and the checks
    // of a poll together cost as much as finding its head.
    @exclusivity(unchecked) private var resumable: [Connection] = []
    @exclusivity(unchecked) private var deferred: [Cancellations.Action] = []

    /// Where input is read to; what is not used at once is copied out.
    let readBuffer: UnsafeMutableRawBufferPointer
    /// Where heads are formatted.
    var scratch: [UInt8] = []
    /// The connection whose requests are being handled, and its answers so far: they go out in one call.
    var corked: Connection?
    var corkedBytes: [UInt8] = []

    /// Heads that may come again, of the server that the loop works for.
    @exclusivity(unchecked) var recentHeads = RecentHeads()

    /// Open connections by descriptor.
    @exclusivity(unchecked) var connections: [Connection?] = []
    var openCount = 0
    var lastGeneration: UInt32 = 0
    var acceptor: Acceptor?
    /// The server that the loop works for, or nil in the pool.
    var context: ServerContext?
    /// What the loop has done for that server.
    var counters = LoopCounters()
    var isDraining = false

    var wheel = TimerWheel(now: 0)
    /// The tick that the timer is set to.
    var armedTick: UInt32?
    /// The earliest tick that was asked for since then.
    var wantedTick: UInt32?
    /// The current tick, as of the latest look at the clock.
    var tick: UInt32 = 0

    init(label: String) throws(SocketHTTPError) {
        epoll = try Epoll()
        events = .allocate(capacity: 512)
        readBuffer = .allocate(byteCount: 64 << 10, alignment: 16)
        queue = DispatchQueue(label: label)
        source = DispatchSource.makeReadSource(fileDescriptor: epoll.descriptor, queue: queue)
        timer = DispatchSource.makeTimerSource(queue: queue)
        scratch.reserveCapacity(4 << 10)
        source.setEventHandler { [unowned self] in run { drain() } }
        timer.setEventHandler { [unowned self] in run { armedTick = nil } }
        timer.schedule(deadline: .distantFuture)
        source.activate()
        timer.activate()
    }

    /// Does `message` at once where this is the loop's own thread, otherwise soon.
    func submit(_ message: LoopMessage) {
        if thread.load(ordering: .relaxed) == UInt(pthread_self()) {
            handle(message)
        } else {
            post(message)
        }
    }

    /// Does `message` soon, never within this call.
    func post(_ message: LoopMessage) {
        if mailbox.add(message) { queue.async { [self] in run { mailbox.acknowledgeWakeUp() } } }
    }

    /// Goes on with the connection once the current handler has returned.
    func resumeSoon(_ connection: Connection) {
        guard !connection.isQueuedToResume else { return }
        connection.isQueuedToResume = true
        resumable.append(connection)
    }

    /// Calls the actions once the current handler has returned: the application may hold a lock now.
    func callSoon(_ actions: [Cancellations.Action]) {
        deferred.append(contentsOf: actions)
    }

    // MARK: On the queue

    private func run(_ body: () -> Void) {
        thread.store(UInt(pthread_self()), ordering: .relaxed)
        tick = Clock.tick()
        body()
        drainMailbox()
        passTime()
        settle()
        armTimer()
        thread.store(0, ordering: .relaxed)
    }

    private func drain() {
        while true {
            let count = epoll.poll(events)
            guard count > 0 else { return }
            for index in 0..<count { handle(events[index]) }
            tick = Clock.tick()
            // Under load the queue never comes to its other work, so that is done here.
            drainMailbox()
            passTime()
            settle()
        }
    }

    private func handle(_ event: epoll_event) {
        let token = event.data.u64
        if token == Acceptor.token {
            acceptConnections()
        } else if let connection = connection(token) {
            if event.isWritable { flush(connection) }
            if event.isReadable {
                readInput(connection)
            } else if event.isBroken, connection.isOpen {
                close(connection)
            }
        }
        settle()
    }

    private func drainMailbox() {
        while true {
            var batch = spareBatch
            spareBatch = []
            mailbox.take(into: &batch)
            let isEmpty = batch.isEmpty
            for message in batch {
                handle(message)
                settle()
            }
            batch.removeAll(keepingCapacity: true)
            spareBatch = batch
            if isEmpty { return }
        }
    }

    private func handle(_ message: LoopMessage) {
        switch message {
        case .answer(let connection, let ticket, .encoded(let encoded)):
            deliver(encoded, to: connection, ticket)
        case .answer(let connection, let ticket, let answer):
            deliver(answer, to: connection, ticket)
        case .unanswered(let connection, let ticket):
            answerUnanswered(connection, ticket)
        case .fanOut(let exchanges, let encoded):
            for exchange in exchanges where exchange.handle.endWait() {
                deliver(encoded, to: exchange.handle.connection, exchange.handle.ticket)
            }
        case .streamBytes(let connection, let number, let piece):
            deliver(piece, reserved: piece.count, to: connection, number)
        case .broadcast(let recipients, let chunk, let plain, let reserved):
            for recipient in recipients {
                deliver(recipient.isChunked ? chunk : plain, reserved: reserved, to: recipient.connection, recipient.number)
            }
        case .streamEnd(let connection, let ticket, let ending):
            deliver(ending, to: connection, ticket)
        case .adopt(let descriptor, let peer, let context, let isRefused):
            adopt(descriptor, peer, context, isRefused: isRefused)
        case .perform(let action):
            action(self)
        }
    }

    /// Does what handlers' calls have put off.
    private func settle() {
        while !resumable.isEmpty || !deferred.isEmpty {
            let connections = resumable
            let actions = deferred
            resumable = []
            deferred = []
            for connection in connections {
                connection.isQueuedToResume = false
                resume(connection)
            }
            for action in actions { action.perform() }
        }
    }

    /// The open connection that `token` names; nil where its descriptor has been closed since, and perhaps used again.
    func connection(_ token: UInt64) -> Connection? {
        let index = Int(UInt32(truncatingIfNeeded: token))
        guard index < connections.count, let connection = connections[index] else { return nil }
        return connection.generation == UInt32(truncatingIfNeeded: token >> 32) ? connection : nil
    }

    /// Sets the timer to the given tick.
    func schedule(_ tick: UInt32) {
        armedTick = tick
        let distance = max(1, Int(Int32(bitPattern: tick &- self.tick)))
        timer.schedule(deadline: .now() + .milliseconds(distance * Clock.tickMilliseconds), leeway: .milliseconds(20))
    }
}
