package import FreshetWire

/// What the edge is to do. Actions are carried out in the order given.
package enum SyncAction: Hashable, Sendable {
    /// Send the request and hand in ``SyncEvent/replied(_:_:)`` once.
    case send(RequestDescription)
    /// Nobody waits for this request any more. A reply that comes all the same is ignored.
    case cancel(RequestID)
    /// Carry the transaction out and hand in ``SyncEvent/committed(_:skipped:)`` or ``SyncEvent/commitFailed(_:_:)``.
    case commit(DiskTransaction)
    /// What is on disk now differs: update the memory tier and tell the observers, in this order.
    case publish([Publication])
    /// The answer for a caller; each token gets one.
    case answer(Token, Answer)
    /// The verdict on a write, for its writer: once, when it is on disk, whether the write is of this life of the process or of an earlier one.
    /// If the process dies in between, nobody is told; the views are right all the same.
    case verdict(Receipt, RecordKey, WriteVerdict)
    /// The status has changed.
    case status(SyncStatus)
    /// Hand in ``SyncEvent/timer`` at this uptime; it replaces the earlier deadline, `nil` none is needed.
    case schedule(at: Int64?)
    /// Run the user's closure, outside of every lock, and hand in ``SyncEvent/merged(_:_:)``.
    case merge(MergeRequest)
    /// Read held keys from disk and hand in ``SyncEvent/heldKeys(_:_:)``.
    case loadHeld(HeldQuery)
    /// Something worth a line in the log.
    case log(LogLine)

    /// Whether somebody goes on who waited.
    var tellsCaller: Bool {
        switch self {
        case .answer, .verdict: true
        default: false
        }
    }

    var isCommit: Bool { if case .commit = self { true } else { false } }

    var isRequest: Bool { if case .send = self { true } else { false } }

    /// Whether writes of ours leave with it.
    var sendsWrites: Bool {
        guard case .send(let request) = self, case .writes = request.kind else { return false }
        return true
    }
}

/// A difference that others should see.
///
/// Operations without effect are not published, so the memory tier must hold no key that the disk has not: what the disk evicts for want of
/// room must leave the memory at once. Keys with rows in the outbox must never be evicted, nor those that a ``SyncEvent/set(_:)`` was
/// handed in for and that has not been answered.
package enum Publication: Hashable, Sendable {
    /// The key looks like this now. An unknown value means: not in any tier.
    case view(KeyView, Cause)
    /// The entry of the key is confirmed, its value unchanged: only what a copy says of `asOf`, `pass` and `verifiedAt` is to be raised.
    case confirmed(Confirmation)
    /// Entries in `scope` that are of another epoch or known only through an earlier position are in no tier any more. Keys with pending
    /// writes follow as views of their own and must not be taken away by this.
    case swept(InvalidationScope, before: Cursor)
    /// The key's row on disk has changed, and only the disk knows how: show what it says.
    case changed(RecordKey, Cause)
    /// Entries in `scope` of this epoch that are known only through an earlier position were invalidated at it (``Entry/invalidate(at:)``),
    /// except for keys with pending writes, which follow as views of their own.
    case invalidated(InvalidationScope, at: Cursor)
    /// Entries of a lower pass than this that are of another epoch or known only through an earlier position are in no tier any more, and
    /// the others have this pass (``Entry/ended(_:at:)``); except for keys with pending writes, which follow as views of their own.
    case passEnded(Int64, at: Cursor)
    /// Nothing is in any tier any more. Comes at once with `clear`, before the disk has done it: until that transaction is committed,
    /// the disk must not be read for users.
    case cleared
}

/// Why a view changed.
package enum Cause: Hashable, Sendable {
    /// The user wrote, in this life of the process or in an earlier one.
    case written
    /// The server's record changed.
    case changed
    /// It was deleted on the server.
    case deleted
    /// It was invalidated, or its value was left out: read it to know.
    case invalidated
    /// It was read from the server.
    case fetched
    /// A write of ours became part of the confirmed record, or got its verdict.
    case confirmed
    /// A write of ours was rejected.
    case rolledBack
    /// After a reset it was confirmed, changed or dropped.
    case verified
}

/// What a waiting caller gets.
package enum Answer: Hashable, Sendable {
    /// The write is on disk, and shown.
    case accepted(Receipt)
    /// The keys as they are shown now, in the order asked for.
    case views([KeyView])
    /// The rejected write is off the disk.
    case discarded
    /// Everything is forgotten.
    case cleared
    case failed(SyncFailure)
}

/// Why a caller does not get what it asked for.
package enum SyncFailure: Error, Hashable, Sendable {
    /// The disk is full; nothing was stored or shown. Free some room and set again.
    case storageFull
    /// The disk failed; nothing was stored or shown. The text says what.
    case storageFailed(String)
    /// The value cannot take the operation, for example an increment of a text. The text says what would be right.
    case cannotApply(String)
    /// A write that must be compared with the record needs to know it: fetch the key first, or let the last writer win.
    case baseUnknown
    /// The rejected write that is to be retried or discarded is not kept: it was retried, discarded or dropped already.
    case noRejection
    /// The server cannot be reached.
    case offline(TransportFailure)
    /// The server refused.
    case refused(Problem)
    /// Every answer was older than what this device has seen already. Try again later.
    case outdated
    /// The server's answers are not what the protocol says. The text tells what was wrong; check the URL, proxies and versions.
    case malformed(String)
    /// The cache was cleared meanwhile.
    case cleared
    /// The cache was closed.
    case stopped
}

extension SyncFailure {
    init(_ failure: DiskFailure) {
        self =
            switch failure {
            case .full: .storageFull
            case .failed(let text): .storageFailed(text)
            }
    }
}

/// What became of a write, for its writer.
package enum WriteVerdict: Hashable, Sendable {
    /// It took effect; at this revision, where it is known.
    case applied(Revision?)
    /// It did not, and never will. `current` of the problem is the record that it met, where that is known. The disk keeps the write until the
    /// user has retried or discarded it.
    case rejected(Problem)
    /// It was merged with another's change and goes on as this new write.
    case merged(into: Receipt)
    /// The cache was cleared before there was a verdict.
    case cleared
}

/// A conflict for the user's closure.
package struct MergeRequest: Hashable, Sendable {
    package var receipt: Receipt
    package var key: RecordKey
    package var name: MergeName
    /// What the user saw before writing; `nil` for no record.
    package var base: Content?
    /// What the user wrote; `nil` for a delete.
    package var mine: Content?
    /// What the server has; `nil` for no record.
    package var theirs: Content?
    /// As of a ``RequestID``; to be handed back with the answer.
    package var generation: Int64

    package init(
        receipt: Receipt, key: RecordKey, name: MergeName, base: Content?, mine: Content?, theirs: Content?, generation: Int64 = 0
    ) {
        self.receipt = receipt
        self.key = key
        self.name = name
        self.base = base
        self.mine = mine
        self.theirs = theirs
        self.generation = generation
    }
}

/// A line for the log.
package struct LogLine: Hashable, Sendable {
    package enum Level: Hashable, Sendable { case info, warning, error }

    package var level: Level
    package var text: String

    package init(_ level: Level, _ text: String) {
        self.level = level
        self.text = text
    }
}
