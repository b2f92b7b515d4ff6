package import FreshetWire

/// An action for the edge. Actions are carried out in the order given.
package enum SyncAction: Hashable, Sendable {
    /// Sends the request; the edge hands in ``SyncEvent/replied(_:_:)`` once.
    case send(RequestDescription)
    /// Cancels a request that no caller waits for. A reply that arrives nevertheless is ignored.
    case cancel(RequestID)
    /// Carries the transaction out; the edge hands in ``SyncEvent/committed(_:skipped:)`` or
    /// ``SyncEvent/commitFailed(_:_:)``.
    case commit(DiskTransaction)
    /// Reports differences on disk: updates the memory tier and notifies the observers, in this order.
    case publish([Publication])
    /// Answers a caller. Each token gets one answer.
    case answer(Token, Answer)
    /// Reports the verdict on a write to its writer, once it is on disk, also for a write of an earlier process. If
    /// the process ends before that, no verdict is reported; the views are right all the same.
    case verdict(Receipt, RecordKey, WriteVerdict)
    /// Reports a changed status.
    case status(SyncStatus)
    /// Requests ``SyncEvent/timer`` at this uptime. It replaces the earlier deadline; `nil` removes it.
    case schedule(at: Int64?)
    /// Runs the user's closure, outside of every lock; the edge hands in ``SyncEvent/merged(_:_:)``.
    case merge(MergeRequest)
    /// Reads held keys from disk; the edge hands in ``SyncEvent/heldKeys(_:_:)``.
    case loadHeld(HeldQuery)
    /// Writes a line to the log.
    case log(LogLine)

    /// Whether a waiting caller or writer continues.
    var tellsCaller: Bool {
        switch self {
        case .answer, .verdict: true
        default: false
        }
    }

    var isCommit: Bool { if case .commit = self { true } else { false } }

    var isRequest: Bool { if case .send = self { true } else { false } }

    /// Whether the action sends writes of this device.
    var sendsWrites: Bool {
        guard case .send(let request) = self, case .writes = request.kind else { return false }
        return true
    }
}

/// A difference that observers and the memory tier should see.
///
/// Operations without effect are not published, so the memory tier must hold no key that the disk does not hold: a key
/// that the disk evicts for want of room must leave the memory at once. Keys with rows in the outbox must never be
/// evicted, nor keys of a ``SyncEvent/set(_:)`` that has not been answered yet.
package enum Publication: Hashable, Sendable {
    /// The key has this view now. An unknown value means that the key is in no tier.
    case view(KeyView, Cause)
    /// The entry of the key is confirmed with its value unchanged: only `asOf`, `pass` and `verifiedAt` are to be raised.
    case confirmed(Confirmation)
    /// Entries in `scope` that are of another epoch or known only through an earlier position are in no tier any more.
    /// Keys with pending writes follow as separate views and must not be removed by this.
    case swept(InvalidationScope, before: Cursor)
    /// The key's row on disk has changed, and only the disk knows how: read it and show it.
    case changed(RecordKey, Cause)
    /// Entries in `scope` of this epoch that are known only through an earlier position were invalidated at it
    /// (``Entry/invalidate(at:)``), except for keys with pending writes, which follow as separate views.
    case invalidated(InvalidationScope, at: Cursor)
    /// Entries of a lower pass than this that are of another epoch or known only through an earlier position are in no
    /// tier any more, and the others have this pass (``Entry/ended(_:at:)``); except for keys with pending writes,
    /// which follow as separate views.
    case passEnded(Int64, at: Cursor)
    /// All tiers are empty. Published immediately for `clear`, before the disk has done it: until that transaction is
    /// committed, the disk must not be read for users.
    case cleared
}

/// The reason why a view changed.
package enum Cause: Hashable, Sendable {
    /// The user wrote, in this process or in an earlier one.
    case written
    /// The server's record changed.
    case changed
    /// It was deleted on the server.
    case deleted
    /// It was invalidated, or its value was left out: read it to know the value.
    case invalidated
    /// It was read from the server.
    case fetched
    /// A write of this device became part of the confirmed record, or got its verdict.
    case confirmed
    /// A write of this device was rejected.
    case rolledBack
    /// After a reset it was confirmed, changed or dropped.
    case verified
}

/// An answer for a waiting caller.
package enum Answer: Hashable, Sendable {
    /// The write is on disk, and shown.
    case accepted(Receipt)
    /// The present views of the keys, in the order of the request.
    case views([KeyView])
    /// The rejected write is off the disk.
    case discarded
    /// All data is removed.
    case cleared
    case failed(SyncFailure)
}

/// The reason why a caller does not get what it requested.
package enum SyncFailure: Error, Hashable, Sendable {
    /// The disk is full; nothing was stored or shown. Free some room and set again.
    case storageFull
    /// The disk failed, as the text explains; nothing was stored or shown.
    case storageFailed(String)
    /// The value cannot take the operation, for example an increment of a text. The text states what would be right.
    case cannotApply(String)
    /// The record is not known, and the write must be compared with it: fetch the key first, or let the last writer win.
    case baseUnknown
    /// The rejected write that is to be retried or discarded is not on disk: it was retried, discarded or dropped already.
    case noRejection
    /// The server cannot be reached.
    case offline(TransportFailure)
    /// The server refused.
    case refused(Problem)
    /// Every response was older than a state that this device has seen already. Try again later.
    case outdated
    /// The server's responses violate the protocol, as the text explains; check the URL, proxies and versions.
    case malformed(String)
    /// The cache was cleared during the call.
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

/// The outcome of a write, for its writer.
package enum WriteVerdict: Hashable, Sendable {
    /// It took effect, at this revision where the revision is known.
    case applied(Revision?)
    /// It did not take effect, and never will. `current` of the problem is the record that it met, where that is
    /// known. The disk keeps the write until the user has retried or discarded it.
    case rejected(Problem)
    /// It was merged with another writer's change and continues as this new write.
    case merged(into: Receipt)
    /// The cache was cleared before there was a verdict.
    case cleared
}

/// A conflict for the user's closure.
package struct MergeRequest: Hashable, Sendable {
    package var receipt: Receipt
    package var key: RecordKey
    package var name: MergeName
    /// The value that the user saw before writing; `nil` for no record.
    package var base: Content?
    /// The value that the user wrote; `nil` for a delete.
    package var mine: Content?
    /// The value on the server; `nil` for no record.
    package var theirs: Content?
    /// As in a ``RequestID``; to be returned with the answer.
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
