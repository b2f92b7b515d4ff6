import Synchronization

/// One accepted socket.
///
/// `@unchecked Sendable`: the mutable properties belong to the loop and are touched on its thread alone; what other threads
/// use is `let` and is `Sendable` by itself (`unsent`, `cancellations`, `loop`, `context`).
final class Connection: @unchecked Sendable {
    /// The phase of the connection; it decides which time-out applies.
    enum Phase: UInt8 {
        case opening
        case head
        case body
        case idle
        /// Responses are due: waiting is the application's business and has no limit here.
        case awaitingHandler
        case writing
        case lingering
    }

    /// Why a connection is answered `503` and closed as soon as it is accepted.
    enum Refusal: Sendable {
        /// All connections are taken.
        case full
        /// Its address has all of its connections.
        case address
    }

    /// Owns the socket and all the mutable state.
    let loop: EventLoop
    let context: ServerContext
    let peer: PeerAddress
    /// The index of the listener that has accepted it.
    let listener: UInt8
    let descriptor: Int32
    /// Distinguishes this connection from an earlier one that had the same descriptor.
    let generation: UInt32

    /// Bytes in the output queue, and stream bytes that have been submitted and not queued yet. Written by the loop and
    /// by streams' writers.
    let unsent = Atomic<Int>(0)
    /// The actions to perform when the peer disconnects before its answers.
    let cancellations = Mutex(Cancellations())

    var state = ConnectionState()
    var backlog: ConnectionBacklog?
    /// The request that the connection may repeat.
    var template: RequestTemplate?
    /// The encryption, from the first bytes on; `nil` on a plain connection.
    var layer: (any ByteLayer)?
    /// Whether bytes that arrive belong to a handshake, even if the layer is not made yet.
    var isHandshaking = false
    var interest = Epoll.Interest.input
    var isOpen = true
    var phase = Phase.opening
    /// The number of the request that the phase belongs to: the same phase of the next request is a new one.
    var phaseNumber: UInt32 = 0
    /// Whether the loop's wheel holds a valid entry for the connection.
    var hasTimerEntry = false
    /// Whether the connection is in the loop's list of those to resume.
    var isQueuedToResume = false
    /// Whether the loop's ledgers have an entry for the connection.
    var isInputCounted = false
    var isOutputCounted = false
    /// Whether the connection is in one of the loop's queues of those that resume in a later turn.
    var isWaitingForTurn = false
    /// The events that epoll has reported since the connection joined the loop's queue of transfers; 0 while it is not
    /// queued.
    var transferEvents: UInt32 = 0
    /// The loop's turn in which the connection last had a request handled, and how many it had.
    var turn: UInt32 = 0
    var requestsInTurn: UInt32 = 0
    /// The tick at which the phase has lasted too long.
    var deadline: UInt32 = 0
    /// The tick at which the wheel's entry is due.
    var timerTick: UInt32 = 0

    init(_ descriptor: Int32, _ peer: PeerAddress, _ listener: UInt8 = 0, generation: UInt32, loop: EventLoop, context: ServerContext) {
        self.listener = listener
        self.descriptor = descriptor
        self.peer = peer
        self.generation = generation
        self.loop = loop
        self.context = context
    }

    /// Names the connection in epoll events and timer entries, which may outlive it.
    var token: UInt64 { UInt64(generation) << 32 | UInt64(UInt32(bitPattern: descriptor)) }

    var hasOutput: Bool { backlog.map { !$0.output.isEmpty } ?? false }
    /// Whether the connection has much to transfer: a large body that is being received, or an answer that was not sent
    /// at once.
    var isTransferring: Bool {
        guard let backlog else { return false }
        return !backlog.output.isEmpty || (backlog.parser?.heldBytes ?? 0) >= TransferQueue.slice
    }
    var isStalled: Bool { backlog?.isStalled ?? false }

    /// The backlog, created if necessary.
    func backlogForKeeping() -> ConnectionBacklog {
        if let backlog { return backlog }
        let made = ConnectionBacklog()
        backlog = made
        return made
    }

    /// Frees the backlog once it is empty.
    func trimBacklog() {
        if let backlog, backlog.isEmpty { self.backlog = nil }
    }
}
