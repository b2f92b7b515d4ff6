internal import FoundationEssentials
internal import Synchronization

extension Cache: Encodable where Key: Codable, Value: Codable {
    /// Encodes the entries whose lifetime is not over, and the limits, but not the pins. O(count).
    public func encode(to encoder: any Encoder) throws { try saved().encode(to: encoder) }

    /// Writes the entries whose lifetime is not over, and the limits, to a file as JSON, but not the pins. Blocks until
    /// the disk has the file. O(count).
    ///
    /// An existing file is replaced atomically.
    ///
    /// - Throws: ``CacheError/invalidPath(path:reason:)``, ``CacheError/cannotEncode(reason:)`` or ``CacheError/cannotWrite(path:reason:)``.
    public func save(to path: String) throws(CacheError) {
        let file = try WholeFile(path: path)
        let bytes: Data
        do { bytes = try JSONEncoder().encode(saved()) } catch { throw .cannotEncode(reason: "\(error)") }
        try file.replace(with: Array(bytes))
    }

    private func saved() -> SavedCache<Key, Value> {
        let (now, wall) = (uptime(), clock.wall())
        let reading = ClockReading(uptime: now, wall: wall)
        return writeLock.withLock { _ in
            SavedCache(
                version: SavedCache<Key, Value>.currentVersion, costLimit: state.pointee.limitScale.costLimit,
                countLimit: state.pointee.limitScale.countLimit,
                entries: entries().reversed().filter { !isExpired($0, at: reading) }.map { saved($0, now, wall) })
        }
    }

    /// Requires the write lock.
    private func saved(_ entry: EntryReference, _ now: Int64, _ wall: Int64) -> SavedCache<Key, Value>.Entry {
        let (slot, record) = (slot(entry), record(entry).pointee)
        let end = lock(of: shard(of: entry)).pointee.withLock { _ in slot.pointee.end }
        func date(_ uptime: Int64) -> Int64 { wall.saturatingAdd((uptime &- now) / 1_000_000) }
        let expires: Int64? =
            switch end.timing {
            case .unlimited: nil
            case .fixed, .sliding: date(end.deadline)
            case .wall: end.deadline
            }
        return SavedCache.Entry(
            key: slot.pointee.key, value: slot.pointee.value, cost: record.cost, recorded: date(record.storedAt),
            verified: date(record.validatedAt), expires: expires, sliding: end.timing == .sliding ? record.span : nil,
            endsByWall: end.timing == .wall, isInMain: record.queue != .small,
            tags: record.isTagged ? state.pointee.tags.tags(of: entry).sorted() : [])
    }
}

extension Cache: Decodable where Key: Codable, Value: Codable {
    /// Restores an encoded cache without the entries that have expired since, with the system clock and the standard
    /// lifetime for new values.
    ///
    /// - Throws: the decoder's error; `DecodingError.dataCorrupted` for a cache with a cost limit whose values do not
    ///   state their cost: conform them to ``CostedValue``, or use a file and
    ///   ``init(contentsOf:costLimit:countLimit:lifetime:clock:shards:cost:)``.
    public convenience init(from decoder: any Decoder) throws {
        let saved = try SavedCache<Key, Value>(from: decoder)
        guard saved.version == SavedCache<Key, Value>.currentVersion else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "a cache of version \(saved.version); this reads 1"))
        }
        guard saved.costLimit == .max || Self.statedCost != nil else {
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: decoder.codingPath,
                    debugDescription: "a cache with a cost limit, whose values do not state their cost: make \(Value.self) a CostedValue"))
        }
        self.init(saved.costLimit, saved.countLimit, .standard, .system, nil, statedCost: Self.statedCost)
        restore(saved.entries)
    }

    /// Restores a saved cache without the entries that have expired since, and without those with a limited lifetime that
    /// were stored in the future by a wall clock that was set back since. Blocks until the file is read. O(count).
    ///
    /// - Parameters:
    ///   - path: a file written by ``save(to:)``.
    ///   - costLimit: nil for the saved one.
    ///   - countLimit: nil for the saved one.
    ///   - lifetime: the lifetime of a new value whose write does not state one.
    ///   - clock: the source of time.
    ///   - shards: as for a new cache.
    ///   - cost: computes the cost of a new value; nil for the cost that the value states, see ``CostedValue``.
    ///     Restored values keep their saved costs.
    /// - Throws: ``CacheError/invalidPath(path:reason:)``; ``CacheError/cannotRead(path:reason:)``; ``CacheError/notACache(path:reason:)`` for a file without a
    ///   cache of these types; ``CacheError/noCost(path:)`` if there is a cost limit, `cost` is nil and values do not
    ///   state their cost.
    public convenience init(
        contentsOf path: String, costLimit: Int? = nil, countLimit: Int? = nil, lifetime: Lifetime = .standard, clock: CacheClock = .system,
        shards: Int? = nil, cost: (@Sendable (Value) -> Int)? = nil
    ) throws(CacheError) {
        let bytes = try WholeFile(path: path).content()
        let saved: SavedCache<Key, Value>
        do {
            saved = try JSONDecoder().decode(SavedCache<Key, Value>.self, from: Data(bytes))
        } catch {
            throw .notACache(path: path, reason: "\(error)")
        }
        guard saved.version == SavedCache<Key, Value>.currentVersion else {
            throw .notACache(path: path, reason: "it is of version \(saved.version), and this reads 1")
        }
        let (limit, cost) = (costLimit ?? saved.costLimit, cost ?? Self.statedCost)
        guard limit == .max || cost != nil else { throw .noCost(path: path) }
        self.init(limit, countLimit ?? saved.countLimit, lifetime, clock, shards, statedCost: cost)
        restore(saved.entries)
    }

    private func restore(_ entries: [SavedCache<Key, Value>.Entry]) {
        if entries.contains(where: \.endsByWall) { usesWall.store(true, ordering: .relaxed) }
        let (now, wall) = (uptime(), clock.wall())
        let reading = ClockReading(uptime: now, wall: wall)
        func instant(_ date: Int64) -> Int64 {
            let (milliseconds, overflow) = date.subtractingReportingOverflow(wall)
            let (nanoseconds, isFar) = milliseconds.multipliedReportingOverflow(by: 1_000_000)
            return overflow || isFar ? (date > wall ? .max : .min) : now.saturatingAdd(nanoseconds)
        }
        // As on disk: if the wall clock was set back since, nobody knows how old a value is.
        let latest = wall.saturatingAdd(DiskDeadline.slack)
        for entry in entries where entry.expires.map({ $0 > wall && (entry.endsByWall || entry.verified <= latest) }) ?? true {
            let timing: Timing = entry.expires == nil ? .unlimited : entry.endsByWall ? .wall : entry.sliding == nil ? .fixed : .sliding
            let deadline = entry.expires.map { entry.endsByWall ? $0 : instant($0) } ?? .max
            let resolved = ResolvedLifetime(start: instant(entry.recorded), timing: timing, deadline: deadline, span: entry.sliding ?? 0)
            let hash = entry.key.hashValue
            write { released in
                guard store(entry.value, entry.key, hash, max(1, entry.cost), resolved, Set(entry.tags), reading, &released) else { return }
                let stored = find(entry.key, hash)
                record(stored).pointee.validatedAt = instant(entry.verified)
                guard entry.isInMain, record(stored).pointee.queue == .small else { return }
                unlink(stored)
                link(stored, .main)
            }
        }
    }
}
