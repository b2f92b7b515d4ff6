import Synchronization

/// One accepted socket.
///
/// `@unchecked Sendable`: the mutable properties belong to the loop and are touched on its thread alone; what other threads
/// use is `let` and is `Sendable` by itself (`unsent`, `cancellations`, `loop`, `context`).
final class Connection: @unchecked Sendable {
    /// What the connection is waiting for; it decides which time-out applies.
    enum Phase: UInt8 {
        case opening
        case head
        case body
        case idle
        /// Answers are due: waiting is the application's business and has no limit here.
        case parked
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
    let descriptor: Int32
    /// Tells this connection from an earlier one that had the same descriptor.
    let generation: UInt32

    /// Bytes in the output queue, and stream bytes on their way to it. Written by the loop and by streams' writers.
    let unsent = Atomic<Int>(0)
    /// What to call when the peer goes before its answers.
    let cancellations = Mutex(Cancellations())

    var state = ConnectionState()
    var backlog: ConnectionBacklog?
    /// Its place in the crowd that its request waits in.
    var seat = CrowdTable.Seat.none
    var interest = Epoll.Interest.input
    var isOpen = true
    var phase = Phase.opening
    /// The number of the request that the phase belongs to: the same phase of the next request is a new one.
    var phaseNumber: UInt32 = 0
    /// Whether the loop's wheel holds an entry for it that still means something.
    var hasTimerEntry = false
    /// Whether it is in the loop's list of those to go on with.
    var isQueuedToResume = false
    /// Whether the loop's ledgers have an entry for it.
    var isInputCounted = false
    var isOutputCounted = false
    /// Whether it has had its requests of this turn and goes on in the next.
    var isWaitingForTurn = false
    /// What epoll has reported since it waits in the loop's queue of transfers; 0 while it does not.
    var transferEvents: UInt32 = 0
    /// The loop's turn in which it last had a request handled, and how many.
    var turn: UInt32 = 0
    var requestsInTurn: UInt32 = 0
    /// The tick at which the phase has lasted too long.
    var deadline: UInt32 = 0
    /// The tick at which the wheel's entry comes.
    var timerTick: UInt32 = 0

    init(_ descriptor: Int32, _ peer: PeerAddress, generation: UInt32, loop: EventLoop, context: ServerContext) {
        self.descriptor = descriptor
        self.peer = peer
        self.generation = generation
        self.loop = loop
        self.context = context
    }

    /// Names the connection in epoll events and timer entries, which may outlive it.
    var token: UInt64 { UInt64(generation) << 32 | UInt64(UInt32(bitPattern: descriptor)) }

    var hasOutput: Bool { backlog.map { !$0.output.isEmpty } ?? false }
    /// Whether it has much to move: a large body that comes, or an answer that did not go out at once.
    var isTransferring: Bool {
        guard let backlog else { return false }
        return !backlog.output.isEmpty || (backlog.parser?.heldBytes ?? 0) >= TransferQueue.slice
    }
    var isStalled: Bool { backlog?.isStalled ?? false }

    /// The backlog, made if need be.
    func backlogForKeeping() -> ConnectionBacklog {
        if let backlog { return backlog }
        let made = ConnectionBacklog()
        backlog = made
        return made
    }

    /// Frees the backlog once it keeps nothing.
    func trimBacklog() {
        if let backlog, backlog.isEmpty { self.backlog = nil }
    }
}
