internal import Dispatch
internal import FreshetSQLite
internal import Synchronization

extension DiskCache {
    /// Returns the value of a key, or `nil`. The read counts as a use.
    ///
    /// A value in memory, which includes the system's page cache, is read on the caller's thread. A read that would have to
    /// wait for the disk runs on one of the cache's private queues.
    ///
    /// - Throws: ``CacheError``: the disk failed, or the cache is closed. Damage is no error, but a miss.
    /// - Complexity: O(log entries).
    public func value(forKey key: some DiskKey) async throws(CacheError) -> DiskValue? {
        try await value(forKey: key, isTagged: false)
    }

    /// - Parameter isTagged: whether it is read with its tags.
    func value(forKey key: some DiskKey, isTagged: Bool) async throws(CacheError) -> DiskValue? {
        if case .done(let value) = key.withKeyBytes({ readWithoutBlocking($0, isTagged: isTagged) }) {
            // A loop of such reads must not keep the thread from other tasks, which may have to run for the loop to end.
            let count = counters.immediateReads.add(1, ordering: .relaxed).newValue
            if count % Self.immediateReadsInARow == 0 { await Task.yield() }
            return value
        }
        counters.queuedReads.add(1, ordering: .relaxed)
        let result: Result<DiskValue?, CacheError> = await withCheckedContinuation { continuation in
            let turn = nextReadQueue.add(1, ordering: .relaxed).newValue
            readQueues[turn & 1].async {
                continuation.resume(returning: Result { () throws(CacheError) in try self.blockingValue(key, isTagged: isTagged) })
            }
        }
        return try result.get()
    }

    /// Returns the value of a key, or `nil`, read on the caller's thread: for callers that manage threads themselves. The read may wait for
    /// the disk, so use ``value(forKey:)`` where `await` is possible.
    public func blockingValue(forKey key: some DiskKey) throws(CacheError) -> DiskValue? { try blockingValue(key, isTagged: false) }

    private func blockingValue(_ key: some DiskKey, isTagged: Bool) throws(CacheError) -> DiskValue? {
        do {
            return try key.withKeyBytes { try read($0, isTagged: isTagged) }
        } catch let error as CacheError {
            throw error
        } catch {
            throw asCacheError(error)
        }
    }

    /// How many reads may return without suspending the caller before one suspends it.
    private static let immediateReadsInARow = 64

    private enum Attempt {
        case done(DiskValue?)
        case wouldBlock
    }

    /// Reads on a thread that must not wait (docs/decisions/0045-disk-reads.md). Everything that may wait is left to
    /// ``read(_:isTagged:)``: opening and closing connections, files, ciphers, errors.
    private func readWithoutBlocking(_ key: UnsafeRawBufferPointer, isTagged: Bool) -> Attempt {
        let number = KeyHash(key)
        let now = now
        switch staging.look(key, number) {
        case .none: break
        case .absent: return .done(miss())
        case .value(_, let head, _) where head.isEncrypted: return .wouldBlock
        case .value(let bytes, let head, let tags): return .done(staged(bytes, head, Set(tags), key, now))
        }
        var reader = idleReader()
        let outcome = reader?.readWithoutBlocking(key, number, now: now, isTagged: isTagged) { number in
            accessLog.withLock { $0.used(number) }
        }
        if let reader, case .hit(_, let number, let isSliding) = outcome { note(number, isSliding, reader, now) }
        giveBackWithoutBlocking(&reader)
        return outcome.map { .done(value($0)) } ?? .wouldBlock
    }

    /// Takes a reader that is open, idle and of the generation that holds now, if there is one.
    private func idleReader() -> DiskReader? {
        shared.withLock { shared in
            guard let control = shared.control, control.isLockedInMemory || !configuration.pages.needsLockedMemory,
                !shared.readsBlocked, let generation = control.generation, shared.generation == generation,
                shared.otherGeneration != generation
            else { return nil }
            return shared.idle.popLast()
        }
    }

    /// The last reference to a reader closes it, which waits for the disk. So none is dropped here: a reader that cannot be
    /// used again is left to the queue.
    private func giveBackWithoutBlocking(_ reader: inout DiskReader?) {
        guard reader != nil else { return }
        let isRetired = shared.withLock { shared in
            guard let given = reader.take() else { return false }
            let isKept = shared.generation == given.generation && shared.control != nil
            if isKept { shared.idle.append(given) } else { shared.retired.append(given) }
            return !isKept
        }
        if isRetired { queue.async { self.closeRetired() } }
    }

    private func closeRetired() {
        let retired = shared.withLock { shared in
            defer { shared.retired = [] }
            return shared.retired
        }
        accessLog.withLock { accessLog in for reader in retired { accessLog.append(reader.accesses) } }
        // They close when this returns. An awaited read may wait for the lock, but never for the disk.
        withExtendedLifetime(retired) {}
    }

    private func read(_ key: UnsafeRawBufferPointer, isTagged: Bool) throws -> DiskValue? {
        let number = KeyHash(key)
        let now = now
        switch staging.look(key, number) {
        case .none: break
        case .absent: return miss()
        case .value(let bytes, let head, let tags): return staged(bytes, head, Set(tags), key, now)
        }
        guard let reader = try reader() else { return miss() }
        do {
            let outcome = try reader.read(key, number, now: now, cipher: configuration.cipher, isTagged: isTagged) { number in
                accessLog.withLock { $0.used(number) }
            }
            giveBack(reader, outcome, now)
            return value(outcome)
        } catch {
            // The reader is not given back: the damage may be in its page cache too.
            if hasLeft(reader.generation) { return miss() }
            guard case .damage(let reason) = DiskFailure(error, directory) else { throw error }
            let generation = reader.generation
            queue.async { self.leave(generation, reason) }
            return miss()
        }
    }

    private func value(_ outcome: DiskReader.Outcome) -> DiskValue? {
        switch outcome {
        case .hit(let value, _, _):
            counters.hits.add(1, ordering: .relaxed)
            return value
        case .miss: return miss()
        case .over(let number), .suspect(let number):
            queue.async { self.recheck(number) }
            return miss()
        }
    }

    private func staged(
        _ bytes: [UInt8], _ head: DiskRecord.Head, _ tags: Set<CacheTag>, _ key: UnsafeRawBufferPointer, _ now: Int64
    ) -> DiskValue? {
        guard head.deadline.isOpen(at: now, stored: head.verified, used: head.verified) else { return miss() }
        guard head.isEncrypted else {
            counters.hits.add(1, ordering: .relaxed)
            return DiskValue(bytes: bytes, head: head, tags: tags)
        }
        guard let plain = configuration.cipher?.open(bytes, name: Array(key)) else { return miss() }
        counters.hits.add(1, ordering: .relaxed)
        return DiskValue(bytes: plain, head: head, tags: tags)
    }

    private func miss() -> DiskValue? {
        counters.misses.add(1, ordering: .relaxed)
        return nil
    }

    /// Takes an idle reader, or opens one, so that no read waits for another. `nil` where there is nothing to read.
    private func reader() throws -> DiskReader? {
        var stale: [DiskReader] = []
        defer { withExtendedLifetime(stale) {} }
        let (found, generation): (DiskReader?, UInt32?) = try shared.withLock { shared in
            guard let control = shared.control else { throw CacheError.closed }
            guard !shared.readsBlocked, let generation = control.generation else { return (nil, nil) }
            if shared.generation != generation {
                swap(&stale, &shared.idle)
                shared.generation = generation
            }
            if shared.otherGeneration == generation { return (nil, nil) }
            return (shared.idle.popLast(), generation)
        }
        if let found { return found }
        guard let generation else { return nil }
        return try openReader(generation)
    }

    private func openReader(_ generation: UInt32) throws -> DiskReader? {
        do {
            return try DiskReader.open(
                folder: folder(generation), generation: generation, scope: scope.withLock { $0 },
                largestValue: configuration.byteLimit, pages: configuration.pages)
        } catch CacheError.schemaChanged {
            shared.withLock { $0.otherGeneration = generation }
            return nil
        } catch {
            // The cache was emptied meanwhile, and the folder was removed while it was opened.
            if hasLeft(generation) { return nil }
            guard case .damage(let reason) = DiskFailure(error, directory) else { throw error }
            queue.async { self.leave(generation, reason) }
            return nil
        }
    }

    private func giveBack(_ reader: DiskReader, _ outcome: DiskReader.Outcome, _ now: Int64) {
        if case .hit(_, let number, let isSliding) = outcome { note(number, isSliding, reader, now) }
        let isKept = shared.withLock { shared in
            guard shared.generation == reader.generation, shared.idle.count < 4, shared.control != nil else { return false }
            shared.idle.append(reader)
            return true
        }
        if !isKept, !reader.accesses.isEmpty { accessLog.withLock { $0.append(reader.accesses) } }
    }

    /// Notes a use with the reader, which takes no lock; the uses are collected now and then.
    private func note(_ number: KeyHash, _ isSliding: Bool, _ reader: DiskReader, _ now: Int64) {
        if isSliding {
            let isFirst = accessLog.withLock { accessLog in
                accessLog.append(sliding: number, at: now)
                defer { accessLog.isScheduled = true }
                return !accessLog.isScheduled
            }
            if isFirst { scheduleAccessWrite() }
        } else {
            reader.accesses.append(number)
            guard reader.accesses.count == 1 || reader.accesses.count >= 1_024 else { return }
            let full = reader.accesses.count > 1 ? reader.accesses : []
            if !full.isEmpty { reader.accesses.removeAll(keepingCapacity: true) }
            let isFirst = accessLog.withLock { accessLog in
                accessLog.append(full)
                defer { accessLog.isScheduled = true }
                return !accessLog.isScheduled
            }
            if isFirst { scheduleAccessWrite() }
        }
    }

    /// Schedules the write of access times, which reach the disk together some seconds late.
    private func scheduleAccessWrite() {
        queue.asyncAfter(deadline: .now() + .seconds(2)) { [weak self] in self?.writeAccesses() }
    }
}
