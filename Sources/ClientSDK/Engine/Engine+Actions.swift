internal import DequeModule
internal import Dispatch
internal import FreshetCache
internal import FreshetPlatform
internal import FreshetSQLite
internal import FreshetTransport
internal import FreshetWire
internal import Logging

extension Engine {
    /// Carries out an action of the machine. Immediate results are submitted as the next event.
    func carryOut(_ action: SyncAction) {
        switch action {
        case .send(let request): send(request)
        case .cancel(let id): cancel(id)
        case .commit(let transaction): commit(transaction)
        // By index: a publication is as large as several strings, and each would be copied.
        case .publish(let publications): observers.deliver { for index in publications.indices { publish(publications, index) } }
        case .complete(let callerID, let result): self.complete(callerID, result)
        case .outcome(let writeID, _, let outcome): decide(writeID, outcome)
        case .status(let status): take(status)
        case .schedule(let deadline): timer?.schedule(at: deadline)
        case .merge(let request): merge(request)
        case .loadCachedKeys(let query): loadCachedKeys(query)
        case .read(let callerID, let keys): read(keys, for: callerID)
        case .log(let line): log(line)
        }
    }

    // MARK: Disk

    /// Commits a transaction after all earlier ones.
    ///
    /// A transaction that must survive a loss of power waits for the calls that are queued already. Their writes then
    /// share the next transaction and its wait for the disk; otherwise 10,000 simultaneous writes waited 10,000 times.
    private func commit(_ transaction: DiskTransaction) {
        guard transaction.isDurable || !uncommitted.isEmpty else { return commitNow(transaction) }
        uncommitted.append(transaction)
        transport.run { @Sendable [weak self, run] in
            self?.assumeIsolated { engine in if engine.run == run { engine.commitWaiting() } }
        }
    }

    /// Commits the transactions that wait by now. Transactions that result from these wait for a separate turn.
    private func commitWaiting() {
        for _ in 0..<uncommitted.count { if let transaction = uncommitted.popFirst() { commitNow(transaction) } }
    }

    private func commitNow(_ transaction: DiskTransaction) {
        guard let disk else { return }
        do {
            let skipped = try disk.apply(transaction)
            if transaction.removesEntries { reader.resume() }
            checksDiskLimit = true
            submit(.committed(transaction.id, skipped: skipped))
            if transaction.removesEntries || !transaction.rejections.isEmpty || losesRejectedRecords(transaction) { rejections.send(()) }
        } catch {
            guard let failure = diskFailure(error) else { return }
            storageFailure = ClientError(failure, path: settings.path)
            submit(.commitFailed(transaction.id, failure))
        }
    }

    /// Whether rejected writes may have lost the records that they met.
    private func losesRejectedRecords(_ transaction: DiskTransaction) -> Bool {
        statusBroadcaster.status.rejectedWrites > 0 && UnreadableRecords(transaction.entries) != nil
    }

    private func loadCachedKeys(_ query: CachedKeyQuery) {
        commitWaiting()
        guard let disk else { return }
        do {
            submit(.cachedKeys(query, try disk.cachedKeys(query)))
        } catch {
            guard let failure = diskFailure(error) else { return }
            submit(.cachedKeysFailed(query, failure))
        }
    }

    /// Converts a failure of the disk for the machine; `nil` for damage, after which the client has stopped.
    func diskFailure(_ error: any Error) -> DiskFailure? {
        let failure = DiskTier.failure(error)
        let described = ClientError(failure, path: disk?.path ?? "memory")
        guard case .damaged = failure else {
            settings.logger.error("\(described)")
            return failure
        }
        giveUp(described)
        return nil
    }

    // MARK: Publishing

    private func publish(_ publications: [Publication], _ index: Int) {
        switch publications[index] {
        case .view(let view):
            observers.notify(memory.store(view))
            if view.value == .unknown { wantsRefresh = true }
        case .confirmed(let revalidation):
            if let value = memory.confirm(revalidation) {
                observers.notify(value)
            } else {
                observers.update(revalidation.key) { $0.confirmed(revalidation) }
            }
        case .changed(let key): show(key)
        case .invalidated(let scope, let position):
            for value in memory.invalidate(scope, at: position) { observers.notify(value) }
            observers.update { scope.contains($0.key) ? $0.invalidated(at: position) : nil }
        case .evicted(let scope, let position):
            memory.evict(scope, before: position)
            observers.forget { scope.contains($0.key) && ($0.entry?.isKnownOnly(before: position) ?? true) }
            wantsRefresh = true
        case .passFinished(let pass, let position):
            let kept = memory.finishPass(pass, at: position)
            observers.forget { $0.entry.map { $0.ended(pass, at: position) == nil } ?? false }
            observers.update { $0.ended(pass, at: position) }
            for value in kept { observers.notify(value) }
            wantsRefresh = true
        case .inherited(let inheritance):
            let kept = memory.inherit(inheritance)
            observers.update { $0.inherited(inheritance) }
            for value in kept { observers.notify(value) }
        case .cleared:
            // The disk must not be read before the clear is done there; see `reading(_:else:_:)` for the engine's reads.
            reader.suspend()
            memory.removeAll()
            seen.removeAll()
            observers.forgetAll()
            // The collections' observers have no keys to fetch any more: only a list finds these again.
            if !settings.sync.holdsAll { unlisted.formUnion(observers.fetchedCollections) }
            listForObservers()
        }
    }

    /// Publishes a key's row on disk to memory, if that holds the key, and to the key's observers.
    private func show(_ key: RecordKey) {
        guard disk != nil, memory.peek(key) != nil || observers.watches(key) else { return }
        do {
            observers.notify(memory.store(view(of: key, stored: try stored(key))))
        } catch {
            // The view in memory is older than the row: it is removed, and a later read meets the failure.
            observers.notify(memory.store(view(of: key, stored: nil)))
            _ = diskFailure(error)
        }
    }

    /// The latest status, not live if that can no longer be true.
    nonisolated var status: SyncClient.Status {
        var status = statusBroadcaster.status
        if status.isLive, !memory.mayBeLive { status.connection = .catchingUp }
        return status
    }

    private func take(_ status: SyncStatus) {
        let before = statusBroadcaster.status
        memory.setFreshness(isLive: status.connection == .live, pass: status.pass)
        let path = settings.path
        let becomesLive = !before.isLive && status.connection == .live
        if becomesLive { wantsRefresh = true }
        let isVerified = status.isVerified && !readsForObservers
        statusBroadcaster.update {
            $0 = SyncClient.Status(status, path: path)
            $0.rights = tokenRights.rights
            $0.isVerified = isVerified
        }
        let after = statusBroadcaster.status
        for message in after.messages(after: before) { settings.logger.log(level: message.level, "\(message.text)") }
        observers.release { [machine, settings] in machine?.state.isWhole($0, in: settings.sync.filter) ?? false }
    }

    // MARK: Callers

    private func complete(_ callerID: CallerID, _ result: CallResult) {
        guard let caller = callers.removeValue(forKey: callerID) else { return }
        if case .refresh(let keys) = caller { refreshing.subtract(keys) }
        switch (caller, result) {
        case (.refresh, .failed(.tooLarge(let text))): settings.logger.warning("observed records were not read: \(text)")
        case (.refresh, .failed(let failure)):
            readFailed("observed records were not read", ClientError(failure, caller, path: settings.path))
        case (.refresh(let keys), _): readEnded(keys)
        case (.observers(let collection), .listed):
            observers.release { $0 == collection }
            listEnded(collection)
        case (.observers(let collection), _): listEnded(collection)
        case (_, .failed(let failure)): caller.fail(ClientError(failure, caller, path: settings.path))
        case (.write(let key, _, let continuation), .accepted(let writeID)):
            let promise = WriteOutcomePromise()
            promises[writeID] = promise
            continuation.resume(returning: PendingWrite(writeID: writeID, key: key, promise: promise))
        case (.views(_, let continuation), .views(let views)):
            note(seen: views)
            continuation.resume(returning: views.map { memory.hit(CachedValue($0)) })
        case (.ids(let continuation), .listed(let keys, _)): continuation.resume(returning: keys.map(\.id))
        case (.list(let continuation), .listed(let held, let read)):
            note(seen: read)
            continuation.resume(with: Result { try hits(held, read) })
        case (.clear(let continuation, let stops), .cleared):
            // Before any further request is sent. The caller continues in a later job of this thread, since `clear` does: by
            // then no frame holds the disk, so another client can open the directory at once.
            if stops { stop() }
            continuation.resume()
        case (.discard(_, let continuation), .discarded): continuation.resume()
        case (.verification(let continuation), .verified): continuation.resume()
        default:
            caller.fail(ClientError.unexpectedResponse("the sync machine gave an answer to another question, which is a mistake in it"))
        }
    }

    /// Keeps the records that the client does not follow as those that its caller saw last.
    private func note(seen views: [KeyView]) {
        for view in views where !settings.sync.covers(view.key) {
            if let entry = view.entry { seen.setValue(entry, forKey: view.key) } else { seen.removeValue(forKey: view.key) }
        }
    }

    private func decide(_ writeID: LocalWriteID, _ outcome: LocalWriteOutcome) {
        let promise = promises.removeValue(forKey: writeID)
        switch outcome {
        case .applied(let revision): promise?.resolve(.success(.confirmed(revision)))
        case .rejected(let problem): promise?.resolve(.success(.rejected(problem)))
        case .merged(let next): promises[next] = promise
        case .cleared: promise?.resolve(.failure(.cleared))
        }
    }

    // MARK: Merge closures and log

    private func merge(_ request: MergeRequest) {
        // The machine requests only registered closures, and none is ever removed.
        guard let closure = merges[request.name] else { return }
        let logger = settings.logger
        mergeQueue.async { @Sendable [weak self, transport, run] in
            let resolution: Resolution
            do {
                resolution = try closure(request)
            } catch {
                logger.warning("the merge closure of \(request.key) threw, so the write counts as rejected: \(error)")
                resolution = .takeTheirs
            }
            transport.run { @Sendable [weak self] in
                self?.assumeIsolated { engine in
                    if engine.run == run { engine.submit(.merged(request.writeID, resolution, generation: request.generation)) }
                }
            }
        }
    }

    private func log(_ line: LogLine) {
        switch line.level {
        case .info: settings.logger.info("\(line.text)")
        case .warning: settings.logger.warning("\(line.text)")
        case .error: settings.logger.error("\(line.text)")
        }
    }
}

/// Changes of a view that a collection's observer holds and memory may not hold; `nil` without a change. Views of
/// pending writes follow separately.
extension KeyView {
    fileprivate func confirmed(_ revalidation: Revalidation) -> KeyView? { changed { $0.confirm(revalidation) } }

    fileprivate func invalidated(at position: Cursor) -> KeyView? { isPending ? nil : changed { $0.invalidate(at: position) } }

    fileprivate func ended(_ pass: Int64, at position: Cursor) -> KeyView? {
        isPending ? nil : changed { $0 = $0.ended(pass, at: position) ?? $0 }
    }

    fileprivate func inherited(_ inheritance: Inheritance) -> KeyView? { changed { $0 = $0.inherited(inheritance) } }

    private func changed(_ change: (inout Entry) -> Void) -> KeyView? {
        guard var entry else { return nil }
        change(&entry)
        guard entry != self.entry else { return nil }
        var view = self
        view.entry = entry
        return view
    }
}
