import CFreshetLinux
import FreshetPlatform
import Glibc
import Synchronization

/// Owns sockets: one epoll set over all of them, and over an event that other threads signal.
///
/// What a turn does is here; when turns run, and on which thread, is decided by `LoopDriver` through ``own(_:)`` and
/// ``runTurn(patience:)``: docs/decisions/0046-event-loops.md. A loop is never destroyed: servers take loops from
/// `EventLoopPool` and give them back.
///
/// `@unchecked Sendable`: the mutable properties are touched only within `own`, which one thread at a time calls; what
/// other threads use (`mailbox`, `wakeup`, `thread`) is `let` and safe by itself.
final class EventLoop: @unchecked Sendable {
    private let mailbox = Mailbox()
    private let wakeup: WakeupEvent
    /// The thread that runs the loop at this moment, or 0.
    private let thread = Atomic<UInt>(0)
    let epoll: Epoll

    private let events: UnsafeMutableBufferPointer<epoll_event>
    /// The messages that are being handled; the array's memory serves the next ones.
    private var batch: [LoopMessage] = []
    // Here and below, the properties that every event uses are `@exclusivity(unchecked)`: nothing is called within an
    // access, and the checks of a poll together cost as much as finding its head.
    @exclusivity(unchecked) private var resumable: [Connection] = []
    @exclusivity(unchecked) private var deferred: [Cancellations.Action] = []
    /// Connections with more requests than one turn may handle, and the requests of this turn.
    @exclusivity(unchecked) private var requests = RequestQueue()
    /// Connections whose handshakes continue in the next turn.
    private var waitingHandshakes: [Connection] = []
    /// Counts the turns: one for each `epoll_wait`.
    @exclusivity(unchecked) private var turn: UInt32 = 0

    /// Connections with much to transfer, and the bytes transferred in this turn.
    @exclusivity(unchecked) var transfers = TransferQueue()
    /// The buffer that input is read into; bytes that are not parsed at once are copied.
    let readBuffer: UnsafeMutableRawBufferPointer
    /// Where heads are formatted.
    var scratch: [UInt8] = []
    /// The token of the connection whose requests are being handled, 0 for none; and its answers so far, which are sent
    /// in one call.
    var corked: UInt64 = 0
    /// Where input is decrypted, made for the first encrypted connection; and bytes that were encrypted and are sent next.
    var plaintext: UnsafeMutableRawBufferPointer?
    @exclusivity(unchecked) var ciphertext: [UInt8] = []
    /// The steps of handshakes in this turn.
    var handshakeSteps = 0
    @exclusivity(unchecked) var corkedBytes: [UInt8] = []

    /// Bytes that connections keep of requests that no handler has yet, and of answers that wait to be sent.
    @exclusivity(unchecked) var keptInput = MemoryLedger(.growing)
    @exclusivity(unchecked) var queuedOutput = MemoryLedger(.shrinking)
    @exclusivity(unchecked) var queuedPieces = SharedBytes()
    /// Whether a search for connections to shed is due; and the ticks in which the last search found none.
    var isShedding = false
    var vainInputTick: UInt32?
    var vainOutputTick: UInt32?

    /// Open connections by descriptor.
    @exclusivity(unchecked) var connections: [Connection?] = []
    var openCount = 0
    var lastGeneration: UInt32 = 0
    var acceptors: [Acceptor] = []
    /// The server that the loop works for, or nil in the pool.
    var context: ServerContext?
    /// Counts of the loop's work for that server.
    var counters = LoopCounters()
    var isDraining = false

    var wheel = TimerWheel(now: 0)
    /// The tick by which the loop has to advance the wheel, if any.
    var wakeTick: UInt32?
    /// The current tick, as of the last reading of the clock.
    var tick: UInt32 = 0

    private init(_ epoll: Epoll, _ wakeup: WakeupEvent) {
        self.epoll = epoll
        self.wakeup = wakeup
        events = .allocate(capacity: RequestQueue.turnEvents)
        readBuffer = .allocate(byteCount: 64 << 10, alignment: 16)
        readBuffer.bindMemory(to: UInt8.self)
        scratch.reserveCapacity(4 << 10)
    }

    /// Called only for a loop that is not driven; all others live as long as the process.
    deinit {
        events.deallocate()
        readBuffer.deallocate()
        plaintext?.deallocate()
        SystemCall.close(wakeup.descriptor)
        SystemCall.close(epoll.descriptor)
    }

    /// Makes a loop that a driver runs.
    static func start() throws(SocketHTTPError) -> EventLoop {
        let loop = try make()
        LoopDriver.start(loop)
        return loop
    }

    /// Makes a loop that is idle: its first message makes its epoll descriptor readable.
    static func make() throws(SocketHTTPError) -> EventLoop {
        let epoll = try Epoll()
        let wakeup: WakeupEvent
        do throws(SystemFailure) { wakeup = try WakeupEvent() } catch {
            SystemCall.close(epoll.descriptor)
            throw SocketHTTPError(errno: error.code, during: "eventfd")
        }
        let loop = EventLoop(epoll, wakeup)
        // Its token belongs to no connection, so its events only wake the loop.
        guard epoll.add(wakeup.descriptor, [.reading, .onEdges], token: EventLoop.wakeupToken) else {
            throw SocketHTTPError(errno: errno, during: "epoll_ctl")
        }
        _ = loop.mailbox.fallAsleep()
        return loop
    }

    /// Names the wake-up event in epoll events; connections' generations start at 1.
    private static let wakeupToken: UInt64 = 1

    /// Handles `message` at once on the loop's own thread; otherwise posts it.
    func submit(_ message: LoopMessage) {
        if thread.load(ordering: .relaxed) == UInt(pthread_self()) {
            handle(message)
        } else {
            post(message)
        }
    }

    /// Handles `message` soon, never within this call.
    func post(_ message: LoopMessage) {
        if mailbox.add(message) { wakeup.signal() }
    }

    /// Resumes the connection once the current handler has returned.
    func resumeSoon(_ connection: Connection) {
        guard !connection.isQueuedToResume else { return }
        connection.isQueuedToResume = true
        resumable.append(connection)
    }

    /// Counts a request of the connection that is about to be handled; false if the request has to wait for a later
    /// turn, so that clients that send many at once do not hold up the others of the loop.
    func takesTurn(_ connection: Connection) -> Bool {
        // A connection that waits keeps its place in the queue.
        guard !connection.isWaitingForTurn else { return false }
        if connection.turn != turn { (connection.turn, connection.requestsInTurn) = (turn, 0) }
        let limit = connection.context.limits.requestsPerTurn
        guard requests.admit(after: Int(connection.requestsInTurn), limit: limit) else {
            waitForTurn(connection)
            return false
        }
        connection.requestsInTurn += 1
        return true
    }

    /// Resumes the connection in the next turn if it is in its handshake, and otherwise behind all that wait.
    func waitForTurn(_ connection: Connection) {
        guard !connection.isWaitingForTurn else { return }
        connection.isWaitingForTurn = true
        if connection.isHandshaking { waitingHandshakes.append(connection) } else { requests.append(connection.token) }
    }

    /// Calls the actions once the current handler has returned: the application may hold a lock at present.
    func callSoon(_ actions: [Cancellations.Action]) {
        deferred.append(contentsOf: actions)
    }

    // MARK: On the thread that runs the loop

    /// Makes the calling thread the loop's thread for the duration of `body`. Only one thread at a time may do so.
    func own(_ body: () -> Void) {
        thread.store(UInt(pthread_self()), ordering: .relaxed)
        body()
        thread.store(0, ordering: .relaxed)
    }

    /// Runs one turn: handles the events and messages that are ready, and the deadlines that have passed. If there is
    /// nothing to do, sleeps first until there is, for at most `patience` milliseconds (-1: without limit).
    ///
    /// - Returns: whether to continue with another turn. If not, nothing is left to do, and the next message signals
    ///   the wake-up event, so that the loop's epoll descriptor becomes readable.
    func runTurn(patience: Int32) -> Bool {
        turn &+= 1
        handshakeSteps = 0
        transfers.beginTurn()
        requests.beginTurn()
        let maySleep = !isAnyWaiting && mailbox.fallAsleep()
        let count = epoll.wait(events, milliseconds: maySleep ? patience : 0)
        let isIdle = maySleep && count == 0
        if maySleep, !isIdle { mailbox.wakeUp() }
        tick = Clock.tick()
        continueHandshakes()
        resumeWaiting()
        for index in 0..<count { handle(events[index]) }
        handleMessages()
        passTime()
        performDeferred()
        serveTransfers()
        return !isIdle || isAnyWaiting
    }

    /// Whether connections wait for a later turn.
    private var isAnyWaiting: Bool { !requests.isEmpty || !waitingHandshakes.isEmpty || !transfers.isEmpty }

    private func handle(_ event: epoll_event) {
        let token = event.data.u64
        if let index = Acceptor.index(of: token) {
            acceptConnections(of: index)
        } else if let connection = connection(token) {
            if connection.isTransferring {
                if connection.transferEvents == 0 { transfers.append(token) }
                // Epoll reports some events once, such as the end of the input: none must be lost.
                connection.transferEvents |= event.events
            } else {
                handle(event, on: connection)
            }
        }
        performDeferred()
    }

    private func handle(_ event: epoll_event, on connection: Connection) {
        if event.isWritable { flush(connection) }
        if event.isReadable {
            readInput(connection, isEnding: event.endsInput)
        } else if event.isBroken, connection.isOpen {
            close(connection)
        } else if event.endsInput, connection.isOpen {
            // The requests that have arrived are still handled, and the end is read behind them.
            reportEnd(of: connection)
        }
    }

    /// Continues transfers, as far as one turn may.
    private func serveTransfers() {
        while let token = transfers.next() {
            guard let connection = connection(token) else { continue }
            let event = epoll_event(events: connection.transferEvents, data: epoll_data_t(u64: token))
            connection.transferEvents = 0
            handle(event, on: connection)
            performDeferred()
        }
    }

    /// Continues the handshakes that have waited for this turn.
    private func continueHandshakes() {
        guard !waitingHandshakes.isEmpty else { return }
        let connections = waitingHandshakes
        waitingHandshakes = []
        for connection in connections {
            connection.isWaitingForTurn = false
            // The event that reported the input may have reported its end too.
            readInput(connection, isEnding: true)
            performDeferred()
        }
    }

    /// Resumes connections whose requests have waited since an earlier turn, as far as one turn may.
    private func resumeWaiting() {
        while let token = requests.next() {
            guard let connection = connection(token) else { continue }
            connection.isWaitingForTurn = false
            resume(connection)
            performDeferred()
        }
    }

    /// Handles the messages that are queued now; later ones wait until the sockets have had their turn.
    private func handleMessages() {
        mailbox.take(into: &batch)
        for message in batch {
            handle(message)
            performDeferred()
        }
        batch.removeAll(keepingCapacity: true)
    }

    private func handle(_ message: LoopMessage) {
        switch message {
        case .answer(let connection, let slot, .encoded(let encoded)):
            deliver(encoded, to: connection, slot)
        case .answer(let connection, let slot, let answer):
            deliver(answer, to: connection, slot)
        case .unanswered(let connection, let slot):
            answerUnanswered(connection, slot)
        case .fanOut(let exchanges, let encoded):
            for exchange in exchanges { answer(exchange.handle, encoded) }
        case .streamBytes(let connection, let number, let piece):
            deliver(piece, reserved: piece.count, to: connection, number)
        case .broadcast(let recipients, let chunk, let plain, let reserved):
            for recipient in recipients {
                deliver(recipient.isChunked ? chunk : plain, reserved: reserved, to: recipient.connection, recipient.number)
            }
        case .awaitDrain(let connection, let limit, let action):
            awaitDrain(connection, ConnectionBacklog.DrainListener(limit: limit, action: action))
        case .streamEnd(let connection, let slot, let ending):
            deliver(ending, to: connection, slot)
        case .adopt(let descriptor, let peer, let listener, let context, let refusal):
            adopt(descriptor, peer, listener, context, refusal: refusal)
        case .perform(let action):
            action(self)
        }
    }

    /// Performs the work that was deferred while handlers ran.
    private func performDeferred() {
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

    /// The open connection that `token` names; nil if it has been closed, even if its descriptor has been used again.
    func connection(_ token: UInt64) -> Connection? {
        let index = Int(UInt32(truncatingIfNeeded: token))
        guard index < connections.count, let connection = connections[index] else { return nil }
        return connection.generation == UInt32(truncatingIfNeeded: token >> 32) ? connection : nil
    }
}
