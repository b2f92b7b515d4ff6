import FreshetWire

extension SyncParts {
    /// Informs the part whose plan the disk did not take.
    mutating func notStored(_ plan: TransactionPlan, _ failure: DiskFailure, _ turn: inout Turn) {
        switch plan.onCommit {
        case .page:
            follower.notStored(failure, &reachability, &turn)
            cancelFollower(&turn)
        case .sets(let callers, _):
            for request in callers { local.complete(request, .failed(.disk(failure)), &turn) }
        case .outcomes, .reconciled: sender.notStored(failure, &turn)
        case .fetched(let entries):
            for entry in entries {
                merger.noteRead(entry.key, local.outbox)
                reader.notStored(entry.key, plan.staged(entry.key)?.view ?? KeyView(entry.key, entry), &turn)
            }
        case .reset: resetter.notStored(&turn)
        case .cleared:
            resetter.notStored(&turn)
            // The clear continues, whether or not its caller waits.
            if let callerID = resetter.takeCaller() { turn.emit(.complete(callerID, .failed(.disk(failure)))) }
        case .cachedKeysRevalidated: revalidator.failed(failure, &reachability, &turn)
        case .refreshed: refresher.failed(&turn)
        case .merged: merger.notStored(&turn)
        case .discarded(let callerID): turn.emit(.complete(callerID, .failed(.disk(failure))))
        case .bound: binding.notStored(local.sync.store)
        // The next page of the feed stores it.
        case .narrowed: break
        case .renamed: sender.notStored(failure, &turn)
        }
    }
}
