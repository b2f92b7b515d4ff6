import FreshetWire

extension SyncParts {
    /// Gives the rows that a part has queried to that part.
    mutating func take(_ keys: [CachedKey], for query: CachedKeyQuery, _ turn: inout Turn) {
        if refresher.isWaiting(for: query) { return refresher.take(keys, local.sync, rule, reader, &requests, &turn) }
        if lister.isWaiting(for: query) { return lister.take(keys, for: query, local, &turn) }
        guard local.isRevalidating, let input = revalidator.take(keys, local.sync, rule, &requests, &turn) else { return }
        local.add(input)
    }

    mutating func failed(_ query: CachedKeyQuery, _ failure: DiskFailure, _ turn: inout Turn) {
        if refresher.isWaiting(for: query) { return refresher.failed(&turn) }
        if lister.isWaiting(for: query) { return lister.failed(query, failure, &turn) }
        revalidator.failed(failure, &reachability, &turn)
    }

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
