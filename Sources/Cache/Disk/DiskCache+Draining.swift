internal import Dispatch
internal import FreshetPlatform
internal import Logging
internal import Synchronization

/// The writing half of the cache, on its queue.
extension DiskCache {
    private typealias Batch = [(order: Int, write: DiskWrite)]

    /// The most entries that one transaction evicts.
    private static let mostEvictions = 2_048

    /// Writes a batch of the staged changes, and schedules the next one. Calls that wait for the queue run in between, however
    /// fast others write.
    func drain() {
        if writeBatch(through: .max) { queue.async { self.drain() } }
    }

    /// Writes all changes up to one.
    ///
    /// - Parameter last: its number, see ``DiskStaging/lastOrder``.
    func drain(through last: Int) {
        while writeBatch(through: last) {}
    }

    /// - Returns: false if there was nothing to write.
    private func writeBatch(through last: Int) -> Bool {
        let batch = staging.take(through: last)
        if batch.isEmpty { return false }
        write(batch)
        writing.drains += 1
        if writing.drains % 16 == 0 { removeOrphans() }
        return true
    }

    private func write(_ batch: Batch) {
        let failed = staging.failed
        switch guarded({ try commit(batch, removing: failed) }) {
        case .success:
            staging.finish(batch, batch.map { _ in .success(()) }, removed: failed)
            count(batch)
        case .failure(let error) where batch.count == 1:
            fail(batch, error)
        case .failure:
            // One write that fails must not fail the others.
            for write in batch { self.write([write]) }
        }
    }

    private func count(_ batch: Batch) {
        var writes = 0
        for (_, write) in batch { if case .put = write.change { writes += 1 } }
        counters.writes.add(writes, ordering: .relaxed)
        counters.removals.add(batch.count - writes, ordering: .relaxed)
    }

    private func fail(_ batch: Batch, _ error: CacheError) {
        counters.failures.add(batch.count, ordering: .relaxed)
        configuration.logger.warning("the cache could not write", metadata: ["directory": "\(directory)", "error": "\(error)"])
        for (_, write) in batch where write.done == nil { broadcast.send(.writeFailed(error)) }
        staging.finish(batch, batch.map { _ in .failure(error) })
        if staging.failedCount > configuration.mostFailedWrites { forgetFailedWrites() }
    }

    /// Empties the cache, since it cannot remember more entries that are outdated. That also makes room on a full disk.
    private func forgetFailedWrites() {
        do {
            try reset(.failedWrites, unless: nil)
        } catch {
            // Reads miss until it succeeds.
            staging.forgetFailures()
            configuration.logger.warning("the cache could not be emptied", metadata: ["error": "\(asCacheError(error))"])
        }
    }

    private func commit(_ batch: Batch, removing failed: [KeyHash]) throws {
        let database = try currentDatabase()
        var files: [(KeyHash, UInt64)] = []
        do {
            let entries = try batch.map { try entry($0.write, database, &files) }
            let uses = takeAccesses()
            try maintained(database) {
                for number in failed { try database.remove(number) }
                try write(uses, database)
                for (entry, (_, write)) in zip(entries, batch) {
                    if let entry { try database.put(entry) } else { try database.remove(write.number) }
                }
            }
        } catch {
            for (number, unique) in files { database.files.remove(number, unique) }
            throw error
        }
    }

    /// The entry of a write, its value in a file already if it is large; `nil` for a removal.
    private func entry(_ write: DiskWrite, _ database: DiskDatabase, _ files: inout [(KeyHash, UInt64)]) throws -> DiskDatabase.NewEntry? {
        guard case .put(let bytes, let head, let tags) = write.change else { return nil }
        var location = DiskRecord.Location.inline(bytes)
        if bytes.count > configuration.inlineLimit {
            let unique = UInt64.random(in: .min ... .max)
            try database.files.write(bytes, write.number, unique)
            files.append((write.number, unique))
            location = .file(unique: unique, count: bytes.count, checksum: DiskRecord.checksum(file: bytes))
        }
        return DiskDatabase.NewEntry(key: write.key, number: write.number, record: DiskRecord(head: head, location: location), tags: tags)
    }

    /// Runs the closure in a transaction that also evicts down to the limit, and removes some expired entries.
    func maintained<Value>(_ database: DiskDatabase, _ body: () throws -> Value) throws -> Value {
        let now = now
        var evicted = 0
        var expired = 0
        let value = try database.transaction {
            let value = try body()
            // Once a second is enough: expired entries are not returned anyway.
            if now >= writing.nextPurge || now < writing.nextPurge.saturatingSubtract(1_000) {
                expired = try database.purge(now: now, atMost: 256)
                writing.nextPurge = expired == 256 ? now : now.saturatingAdd(1_000)
            }
            evicted = try database.evict(toBytes: max(0, configuration.byteLimit), atMost: Self.mostEvictions)
            return value
        }
        counters.expirations.add(expired, ordering: .relaxed)
        if evicted > 0 {
            counters.evictions.add(evicted, ordering: .relaxed)
            broadcast.send(.evicted(entries: evicted))
            try database.giveBackPages()
        }
        // The limit was lowered by much: later transactions evict the rest, so that writes come in between.
        if evicted == Self.mostEvictions { queue.async { self.trim() } }
        return value
    }

    private func trim() {
        if case .failure(let error) = guarded({ try maintained(try currentDatabase()) {} }) {
            configuration.logger.warning("the cache could not evict", metadata: ["error": "\(error)"])
        }
    }

    /// Writes which entries were used, in order.
    func writeAccesses() {
        let uses = takeAccesses()
        accessLog.withLock { $0.isScheduled = false }
        if uses.order.isEmpty { return }
        let result = guarded {
            // One database for the whole transaction: another instance may start a generation meanwhile.
            let database = try currentDatabase()
            try maintained(database) { try write(uses, database) }
        }
        if case .failure(let error) = result {
            configuration.logger.warning("the cache could not note uses", metadata: ["error": "\(error)"])
        }
    }

    private func takeAccesses() -> (order: [KeyHash], sliding: [KeyHash: Int64]) {
        let kept = shared.withLock { shared in
            var kept: [KeyHash] = []
            for reader in shared.idle where !reader.accesses.isEmpty {
                kept += reader.accesses
                reader.accesses.removeAll(keepingCapacity: true)
            }
            return kept
        }
        return accessLog.withLock { accessLog in
            accessLog.append(kept)
            return accessLog.take()
        }
    }

    private func write(_ uses: (order: [KeyHash], sliding: [KeyHash: Int64]), _ database: DiskDatabase) throws {
        let now = now
        for number in uses.order { try database.touch(number, at: uses.sliding[number] ?? now) }
    }

    /// Checks an entry again that a reader found expired or damaged, and removes it if it still is.
    func recheck(_ number: KeyHash) {
        let now = now
        let result = guarded { () -> (DiskDatabase.State, [UInt8]) in
            let database = try currentDatabase()
            return try database.transaction {
                let (state, key) = try database.state(of: number, now: now)
                if state != .sound { try database.remove(number) }
                return (state, key)
            }
        }
        switch result {
        case .success((.over, _)): counters.expirations.add(1, ordering: .relaxed)
        case .success((.damaged, let key)):
            counters.damaged.add(1, ordering: .relaxed)
            configuration.logger.warning("a damaged entry is removed", metadata: ["directory": "\(directory)"])
            broadcast.send(.damaged(key: key))
        case .success: break
        case .failure(let error): configuration.logger.warning("a damaged entry could not be removed", metadata: ["error": "\(error)"])
        }
    }

    /// Resets the cache if the generation that a reader found damaged is still the current one.
    func leave(_ generation: UInt32, _ reason: String) {
        do {
            try reset(.damage(reason), unless: generation)
        } catch {
            configuration.logger.warning("the cache could not be reset", metadata: ["error": "\(asCacheError(error))"])
        }
    }

    /// Removes from one folder the files that no row refers to: a process died before it had written the row.
    private func removeOrphans() {
        writing.folder += 1
        guard let database = writing.database else { return }
        for (number, unique) in database.files.settled(in: writing.folder) {
            do {
                if try database.file(of: number) != unique { database.files.remove(number, unique) }
            } catch {
                // Where the row cannot be read, the file stays.
                configuration.logger.warning("the cache could not look for files of no entry", metadata: ["error": "\(error)"])
                return
            }
        }
    }
}
