/// Decides the next steps of one connection, without sockets: which request is whose turn, when to stop reading, how to
/// end.
///
/// Requests are numbered as they are admitted, and answers go out in that order (RFC 9112 §9.3.2). One request is handled at a
/// time: an answer that was made before its turn could be of a state, or under a right, that has ended by then.
struct ConnectionState: Sendable {
    private struct Flags: OptionSet {
        let rawValue: UInt8
        /// The last request of this connection has been admitted.
        static let final = Flags(rawValue: 1 << 0)
        /// The peer has shut its writing side.
        static let inputEnded = Flags(rawValue: 1 << 1)
        /// The last answer is written, at least to the output queue.
        static let closing = Flags(rawValue: 1 << 2)
        /// Input may arrive that will not be read as requests.
        static let hasUnreadInput = Flags(rawValue: 1 << 3)
        /// Everything is sent; input is read only to be discarded.
        static let lingering = Flags(rawValue: 1 << 4)
    }

    /// How a connection ends once its last answer is sent.
    enum Ending: Equatable {
        /// Close at once.
        case close
        /// Shut the writing side and discard input until the peer closes too. Closing with unread input would make the
        /// kernel send a reset, which can destroy the answer before the peer has read it (RFC 9112 §9.6).
        case linger
    }

    /// The number of the next request.
    private(set) var next: UInt32 = 0
    private var flags: Flags = []
    /// The number of the request whose answer goes out next.
    private(set) var turn: UInt32 = 0

    /// The number of requests that have been admitted and not answered.
    var pending: Int { Int(next &- turn) }
    /// Whether any request has been admitted.
    var hasBegun: Bool { next != 0 }
    var isFinal: Bool { flags.contains(.final) }
    var isClosing: Bool { flags.contains(.closing) }
    var isLingering: Bool { flags.contains(.lingering) }
    var isInputEnded: Bool { flags.contains(.inputEnded) }

    /// Whether arriving bytes are to be read: as requests, or to be discarded.
    func wantsInput(isStalled: Bool) -> Bool {
        if flags.contains(.inputEnded) { return false }
        return flags.contains(.lingering) || !(flags.contains(.final) || isStalled)
    }

    /// Whether a request may be handled now.
    var mayAdmit: Bool { !isFinal && pending == 0 }

    /// Admits a request, or a refusal behind the request that is being handled, and returns its number.
    ///
    /// - Parameters:
    ///   - isFinal: whether the connection closes after it.
    ///   - leavesInput: whether the input behind the request will stay unread.
    mutating func admit(isFinal: Bool, leavesInput: Bool = false) -> UInt32 {
        if isFinal { flags.insert(.final) }
        if leavesInput { flags.insert(.hasUnreadInput) }
        defer { next &+= 1 }
        return next
    }

    /// Whether the answer whose turn it is must be the connection's last.
    func closes(after slot: RequestSlot, isDraining: Bool) -> Bool {
        // A peer that has shut its writing side sends no more requests.
        slot.traits.contains(.closes) || pending == 1 && (isDraining || isInputEnded)
    }

    /// Ends the turn of a complete answer.
    mutating func finishTurn(closes: Bool) {
        turn &+= 1
        guard closes else { return }
        // The server's own decision to close may cross a request that is in transit.
        if !flags.contains(.final) { flags.insert(.hasUnreadInput) }
        flags.formUnion([.final, .closing])
    }

    /// Ends the connection once earlier answers are sent: input that has arrived, or that arrives later, is not handled.
    mutating func endUnanswered() { flags.formUnion([.final, .closing, .hasUnreadInput]) }

    mutating func endInput() { flags.insert(.inputEnded) }

    /// Records that input came after the last request that will be handled.
    mutating func leaveInput() { flags.insert(.hasUnreadInput) }

    /// Decides how to end once everything is sent, and records the decision.
    mutating func end() -> Ending {
        guard flags.contains(.hasUnreadInput), !flags.contains(.inputEnded) else { return .close }
        flags.insert(.lingering)
        return .linger
    }
}

/// One request's place on its connection, and the constraints on its answer.
struct RequestSlot: Sendable {
    /// The constraints on an answer.
    struct Traits: OptionSet, Sendable {
        let rawValue: UInt8
        /// The method was `HEAD`: no body.
        static let headOnly = Traits(rawValue: 1 << 0)
        /// HTTP/1.0: no chunks, and `Connection: keep-alive` if it stays open.
        static let isHTTP10 = Traits(rawValue: 1 << 1)
        /// The connection closes after the answer.
        static let closes = Traits(rawValue: 1 << 2)
        /// A page of another origin sent the request, and may read the answer.
        static let isCrossOrigin = Traits(rawValue: 1 << 3)
    }

    let number: UInt32
    let traits: Traits
    /// The number of the request's origin in ``CrossOriginList``; 0 without ``Traits/isCrossOrigin``.
    let origin: UInt16

    init(number: UInt32, traits: Traits, origin: UInt16 = 0) {
        (self.number, self.origin) = (number, origin)
        self.traits = origin > 0 ? traits.union(.isCrossOrigin) : traits
    }
}
