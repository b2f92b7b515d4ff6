import FreshetWire

/// Resets, when the position or the whole history is lost (rule 11), and clears, when the user wants everything gone (rule 12): which of them is to
/// come, and when.
struct Resetter: Hashable, Sendable {
    struct Reset: Hashable, Sendable {
        /// The history from now on; `nil` if it is not known.
        var epoch: Epoch?
        /// Whether the entries must go: the server went back within a history, so revisions cannot tell new from old.
        var forgets: Bool
        fileprivate var notBefore: Int64
    }

    struct Clear: Hashable, Sendable {
        var client: ClientIdentifier
        var token: Token
    }

    private(set) var reset: Reset?
    private(set) var clear: Clear?
    private var retry = Retry()
    /// Resets in a row, without a poll that showed that the history lasts.
    private var storm = Backoff()

    /// Whether nothing else may be asked or stored.
    var isUnderWay: Bool { reset != nil || clear != nil }

    /// When the reset or the clear is tried, where that is a matter of time.
    var deadline: Int64? { isUnderWay ? max(retry.notBefore, reset?.notBefore ?? 0) : nil }

    /// The clear that may be stored now.
    func dueClear(_ turn: Turn) -> Clear? { retry.isDue(turn) ? clear : nil }

    /// The reset that may be stored now.
    func dueReset(_ turn: Turn) -> Reset? {
        guard clear == nil, retry.isDue(turn), let reset, turn.now.uptime >= reset.notBefore else { return nil }
        return reset
    }

    /// The second reset in a row waits, the third longer, and all that would be asked with it: two servers that disagree must not make a
    /// storm.
    mutating func add(_ epoch: Epoch?, forgets: Bool, _ turn: inout Turn) {
        let isAgain = storm.failures > 0
        let delay = turn.delay(&storm)
        reset = Reset(epoch: epoch, forgets: forgets, notBefore: isAgain ? turn.now.uptime + delay : 0)
    }

    /// The start found other settings than those that the disk was filled with.
    mutating func addAtStart(_ epoch: Epoch?) { reset = Reset(epoch: epoch, forgets: false, notBefore: 0) }

    /// Returns the caller of an earlier clear that had not ended.
    mutating func add(_ clear: Clear) -> Token? {
        defer {
            self.clear = clear
            reset = nil
            retry.hurry()
        }
        return self.clear?.token
    }

    mutating func resetStored() { reset = nil }

    mutating func cleared() {
        clear = nil
        storm.reset()
    }

    /// The disk took a transaction.
    mutating func stored() { retry.wake() }

    mutating func notStored(_ turn: inout Turn) { retry.fail(&turn) }

    /// A poll showed that the history lasts.
    mutating func calm() { storm.reset() }

    mutating func wake() {
        retry.hurry()
        reset?.notBefore = 0
    }

    /// See ``SyncMachine/relativeState(at:)``.
    mutating func makeRelative(to uptime: Int64) {
        retry.makeRelative(to: uptime)
        if let reset { self.reset?.notBefore = max(0, reset.notBefore - uptime) }
    }
}
