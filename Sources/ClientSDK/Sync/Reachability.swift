import FreshetWire

/// Whether the server was reached lately, and the failure if it was not.
struct Reachability: Hashable, Sendable {
    /// When contact was lost; `nil` while there is contact, and before the first attempt has failed.
    private(set) var lostAt: Timestamp?
    /// When the server answered last.
    private var last: Timestamp?
    /// Whether more than one attempt has failed since then, or one that took long.
    private var lasts = false
    /// The failure that keeps the device from being live.
    private(set) var trouble: SyncStatus.Trouble?

    var isLost: Bool { lostAt != nil }

    /// Notes a valid response of the server.
    mutating func heard(_ turn: Turn) {
        lostAt = nil
        lasts = false
        trouble = nil
        last = turn.now.wall
    }

    /// Notes that the server answered, if only to refuse.
    mutating func touched(_ turn: Turn) { last = turn.now.wall }

    /// - Parameter isSlow: whether no response came for long, rather than that something broke.
    mutating func lost(_ trouble: SyncStatus.Trouble, isSlow: Bool = false, _ turn: Turn) {
        self.trouble = trouble
        lasts = lasts || isLost || isSlow
        lostAt = lostAt ?? last ?? turn.now.wall
    }

    /// Notes a failure that says nothing about the contact.
    mutating func failed(_ trouble: SyncStatus.Trouble) { self.trouble = trouble }

    /// Notes that the disk has stored something.
    mutating func stored() { if case .disk? = trouble { trouble = nil } }

    /// Why the server cannot be reached, if that lasts. Immediately after a loss of contact it is `nil`: a read may
    /// then get through as the feed does.
    var outage: TransportFailure? {
        guard lasts, case .transport(let failure)? = trouble else { return nil }
        return failure
    }

    /// Resets the state for the start of the process.
    mutating func start() { lostAt = nil }
}
