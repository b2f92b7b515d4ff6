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
    /// Answers a caller. Each call gets one result.
    case complete(CallerID, CallResult)
    /// Reports the verdict on a write to its writer, once it is on disk, also for a write of an earlier process. If
    /// the process ends before that, no verdict is reported; the views are right all the same.
    case outcome(LocalWriteID, RecordKey, LocalWriteOutcome)
    /// Reports a changed status.
    case status(SyncStatus)
    /// Requests ``SyncEvent/timer`` at this uptime. It replaces the earlier deadline; `nil` removes it.
    case schedule(at: Int64?)
    /// Runs the user's closure, outside of every lock; the edge hands in ``SyncEvent/merged(_:_:)``.
    case merge(MergeRequest)
    /// Reads cached keys from disk; the edge hands in ``SyncEvent/cachedKeys(_:_:)``.
    case loadCachedKeys(CachedKeyQuery)
    /// Begins a read for a list: the edge hands in ``SyncEvent/fetch(_:)`` at once, for this caller, with the disk's rows of the keys, and
    /// with ``FetchRequest/mustBeNew``.
    case read(CallerID, [RecordKey])
    /// Writes a line to the log.
    case log(LogLine)

    /// Whether a waiting caller or writer continues.
    var completesCall: Bool {
        switch self {
        case .complete, .outcome: true
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
