internal import FreshetCache
internal import FreshetPlatform
internal import FreshetTransport
internal import FreshetWire

extension Engine {
    // MARK: Writing

    /// Returns the pending write once the row is on disk; by then the value is shown.
    ///
    /// - Parameter retries: the rejected write that this write replaces.
    func write(
        _ key: RecordKey, _ operation: WriteOperation, _ policy: ConflictPolicy, rejectsIfGone: Bool = false, retries: LocalWriteID? = nil
    ) async throws -> PendingWrite {
        let base = try base(key)
        let callerID = nextCallerID()
        return try await withCheckedThrowingContinuation { continuation in
            callers[callerID] = .write(key, retries, continuation)
            submit(
                .set(
                    SetRequest(
                        callerID: callerID, key: key, operation: operation, policy: policy, rejectsIfGone: rejectsIfGone, base: base,
                        retries: retries)))
        }
    }

    /// Registers the collection's merge closure, also with the machine, now or at its start.
    nonisolated func register<Value>(_ closure: @escaping MergeClosure<Value>, for collection: String, _ codec: ValueCodec<Value>) {
        guard merges.set(closure, for: collection, codec) else { return }
        transport.run { @Sendable [weak self] in self?.assumeIsolated { $0.submit(.registered(MergeName(collection))) } }
    }

    func clear(keepingOutbox keepsOutbox: Bool, andStop stops: Bool) async throws {
        guard machine != nil else { return try clearDirectory(keepingOutbox: keepsOutbox) }
        let callerID = nextCallerID()
        let principal = stops ? nil : settings.principal
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            callers[callerID] = .clear(continuation, stops: stops)
            submit(.clear(newClient: EngineSettings.randomClient, keepsOutbox: keepsOutbox, principal: principal, callerID))
        }
    }

    /// Clears the directory of a client that is not running, also that of another owner.
    private func clearDirectory(keepingOutbox keepsOutbox: Bool) throws {
        guard settings.directory != nil else { throw failure ?? .stopped }
        try movingDamageAside { () throws(ClientError) in
            let disk = try openDisk()
            try disk.handling { try disk.clear(keepingOutbox: keepsOutbox, newClient: EngineSettings.randomClient, settings.sync) }
        }
    }

    // MARK: Reading

    /// Loads the view of a key from disk, with pending writes over it, into memory.
    func load(_ key: RecordKey) throws -> CachedValue {
        let disk = try running()
        if let held = memory.peek(key) { return held }
        disk.noteUse(key)
        // Views of keys with pending writes stay in memory, so none are missing here.
        let entry = try reading(disk, else: nil) { try $0.entry(key) }
        counters.note(isHit: entry != nil)
        return memory.store(view(of: key, stored: entry))
    }

    /// As ``load(_:)``, but without waiting for the queue if only the disk has the entry.
    nonisolated func lookUp(_ key: RecordKey) async throws -> MemoryTier.Hit {
        let changes = memory.changes
        guard settings.sync.covers(key), let entry = await reader.entry(key) else { return try await hit(key) }
        // Written in the meantime? Views with pending writes are always in memory.
        if let hit = memory.held(key) { return hit }
        let hit = memory.hit(CachedValue(KeyView(key, entry)))
        // A change may have just replaced or removed the row, which would then be called live: the queue decides.
        guard memory.changes == changes else { return try await self.hit(key) }
        // Only the queue may put the row into memory: it knows whether the row is still there, and it counts the hit.
        transport.run { @Sendable [weak self] in self?.assumeIsolated { engine in _ = try? engine.load(key) } }
        return hit
    }

    private func hit(_ key: RecordKey) throws -> MemoryTier.Hit {
        let value = try load(key)
        // Not stored in memory, which holds no key that the disk does not hold.
        guard value.view.value == .unknown, !value.view.isPending, let absence = machine?.absence(of: key) else { return memory.hit(value) }
        return memory.hit(CachedValue(KeyView(key, absence)))
    }

    /// Fetches the server's values, with the machine's staleness check. Cancelling the task ends the wait, not the fetch.
    ///
    /// - Parameter mustBeNew: whether to wait for a request sent after this call, rather than to join one that is in flight.
    func fetch(_ keys: [RecordKey], mustBeNew: Bool) async throws -> [MemoryTier.Hit] {
        let items = try keys.map { FetchRequest.Item(key: $0, known: try known($0)) }
        return try await answer {
            .views(keys, $0)
        } to: {
            .fetch(FetchRequest(callerID: $0, items: items, mustBeNew: mustBeNew))
        }
    }

    /// Returns the machine's answer to a call. Cancelling the task ends the wait.
    func answer<Answer>(
        _ caller: (CheckedContinuation<Answer, any Error>) -> Caller, to event: (CallerID) -> SyncEvent
    ) async throws -> Answer {
        let callerID = nextCallerID()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                guard !Task.isCancelled else { return continuation.resume(throwing: CancellationError()) }
                callers[callerID] = caller(continuation)
                submit(event(callerID))
            }
        } onCancel: {
            transport.run { @Sendable [weak self] in self?.assumeIsolated { $0.abandon(callerID) } }
        }
    }

    /// Returns when everything on the device is verified as of the call. Cancelling the task ends the wait.
    func verify() async throws {
        _ = try running()
        let callerID = nextCallerID()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                guard !Task.isCancelled else { return continuation.resume(throwing: CancellationError()) }
                callers[callerID] = .verification(continuation)
                submit(.verify(callerID))
            }
        } onCancel: {
            transport.run { @Sendable [weak self] in self?.assumeIsolated { $0.abandon(callerID) } }
        }
    }

    private func abandon(_ callerID: CallerID) {
        guard let caller = callers.removeValue(forKey: callerID) else { return }
        submit(.abandon(callerID))
        caller.fail(CancellationError())
    }

    /// Returns the ids of the collection's shown records, in the order of their bytes.
    func ids(in collection: String) throws -> [String] { try names(in: collection).inOrder }

    private func covers(_ collection: String, _ id: String) -> Bool {
        guard settings.sync.filter != .all else { return true }
        return (try? RecordKey(collection: collection, id: id)).map(settings.sync.covers) ?? false
    }

    /// Throws ``ClientError/incompleteCopy(collection:)`` if this client copies the collection, and has never held all of it.
    func checkCopy(of collection: String) throws {
        guard let machine, settings.sync.holdsAll, !machine.state.isWhole(collection, in: settings.sync.filter) else { return }
        throw ClientError.incompleteCopy(collection: collection)
    }

    /// Returns the ids of the collection's shown records.
    func names(in collection: String) throws -> Set<ByteIdentity.Name> {
        let disk = try running()
        let stored = try reading(disk, else: []) { try $0.ids(in: collection) }.filter { covers(collection, $0) }
        var ids = Set(stored.lazy.map(ByteIdentity.Name.init))
        for key in machine?.overlaidKeys ?? [] where ByteIdentity.areEqual(key.collection, collection) {
            switch memory.read(key)?.value.view.value {
            case .content?, .elsewhere?: ids.insert(ByteIdentity.Name(text: key.id))
            case .absent?, .unknown?, nil: ids.remove(ByteIdentity.Name(text: key.id))
            }
        }
        return ids
    }

    /// Returns those of the keys whose values are neither in memory nor on disk.
    func unknown(_ keys: [RecordKey]) throws -> [RecordKey] { try keys.filter { !(try load($0).view.value.isKnown) } }

    func explain(_ key: RecordKey) throws -> (hit: MemoryTier.Hit, notes: [HistoryEvent]) {
        (try hit(key), machine?.history(of: key) ?? [])
    }

    // MARK: Observing

    /// Returns the present value and each later one, until the client stops. A slow consumer receives only the latest.
    ///
    /// - Throws: ``ClientError/notFollowed(_:)`` for a record of which no change would be reported.
    func observe(_ key: RecordKey, fetches: Bool) throws -> (KeyObserver, AsyncStream<CachedValue>) {
        guard !fetches || settings.sync.covers(key) else { throw ClientError.notFollowed(key.description) }
        let first = try load(key)
        let (stream, continuation) = AsyncStream.makeStream(of: CachedValue.self, bufferingPolicy: .bufferingNewest(1))
        let observer = KeyObserver(first, fetches: fetches, continuation)
        let id = observers.add(observer)
        memory.retain(key)
        continuation.onTermination = { [observers, memory] _ in
            observers.remove(id, of: key)
            memory.release(key)
        }
        if first.view.value == .unknown, fetches { refresh() }
        return (observer, stream)
    }

    /// Returns an observer of the collection's members, and a stream that signals their changes: first, for an observer that fetches,
    /// once there is a complete copy, or one member of a partial copy.
    ///
    /// - Throws: ``ClientError/notFollowed(_:)`` for a collection of which no change would be reported.
    func observe(collection: String, fetches: Bool) throws -> (CollectionObserver, AsyncStream<Void>) {
        guard !fetches || settings.sync.filter.includes(collection) else { throw ClientError.notFollowed(collection) }
        let members = try members(of: collection)
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let isComplete = settings.sync.holdsAll ? machine?.state.isWhole(collection, in: settings.sync.filter) ?? false : !members.isEmpty
        let observer = CollectionObserver(
            collection, members, fetches: fetches, waits: !fetches || isComplete ? .no : settings.sync.holdsAll ? .forCopy : .forMember,
            continuation)
        let id = observers.add(observer)
        continuation.onTermination = { [observers, transport, weak self] _ in
            observers.remove(id, of: collection)
            transport.run { @Sendable [weak self] in self?.assumeIsolated { $0.abandonList(of: collection) } }
        }
        if fetches, !settings.sync.holdsAll {
            unlisted.insert(collection)
            listForObservers()
        }
        return (observer, stream)
    }

    /// Returns the members of a collection on this device; a key with pending writes may occur twice, with the same
    /// value. O(records).
    func members(of collection: String) throws -> [CachedValue] {
        let disk = try running()
        var members: [CachedValue] = []
        for entry in try reading(disk, else: [], { try $0.entries(in: collection) }) {
            guard settings.sync.covers(entry.key) else { continue }
            // The view in memory, perhaps decoded, is the same or pending.
            let value = memory.peek(entry.key) ?? CachedValue(KeyView(entry.key, entry))
            if value.view.isShown { members.append(value) }
        }
        for key in machine?.overlaidKeys ?? [] where key.collection == collection {
            if let value = memory.peek(key), value.view.isShown { members.append(value) }
        }
        return members
    }

    // MARK: Disk

    /// As ``stored(_:)``, but from memory if that shows the row unchanged.
    private func base(_ key: RecordKey) throws -> Entry? {
        _ = try running()
        guard settings.sync.covers(key) else { return seen.value(forKey: key) }
        if let view = memory.peek(key)?.view, !view.isPending, let entry = view.entry { return entry }
        return try stored(key)
    }

    /// Returns the record that a read can compare with the server's.
    func known(_ key: RecordKey) throws -> Entry? { settings.sync.covers(key) ? try stored(key) : seen.value(forKey: key) }

    func stored(_ key: RecordKey) throws -> Entry? { try reading(try running(), else: nil) { try $0.entry(key) } }

    /// Reads from the disk. The caller gets a failure; damage stops the client.
    ///
    /// - Parameter nothing: the result while a clear waits for the disk, which still holds data that must not be read.
    func reading<Value>(_ disk: DiskTier, else nothing: Value, _ body: (DiskTier) throws -> Value) throws -> Value {
        if machine?.isClearing == true { return nothing }
        do {
            return try body(disk)
        } catch {
            let failure = DiskTier.clientError(error, disk.path)
            guard case .corrupt = failure else { throw failure }
            giveUp(failure)
            throw self.failure ?? failure
        }
    }

    func view(of key: RecordKey, stored: Entry?) -> KeyView { machine?.view(of: key, stored: stored) ?? KeyView(key, stored) }
}

extension KeyView {
    /// Whether a list of the collection shows the key: a record, or a pending removal.
    var isShown: Bool {
        switch value {
        case .content, .elsewhere: true
        case .absent, .unknown: isPending
        }
    }
}

extension Set<ByteIdentity.Name> {
    /// In the order of their bytes.
    var inOrder: [String] { sorted().map(\.text) }
}
