internal import FreshetWire

/// A collection's records as values of one type. A light value: make as many as you like; they share the client's tiers.
public struct SyncedCollection<Value: Sendable>: Sendable {
    /// The client that it belongs to.
    public let client: SyncClient
    /// The collection's name.
    public let name: String
    let codec: ValueCodec<Value>

    // MARK: Reading

    /// The record as memory has it, pending writes included; `nil` where memory has nothing: then use ``snapshot(of:policy:)``.
    ///
    /// Never waits, neither for the disk nor for anyone who writes. O(1).
    public subscript(id: String) -> Snapshot<Value>? {
        guard let key = try? RecordKey(collection: name, id: id), let hit = client.engine.memory.read(key) else { return nil }
        return Snapshot(hit, codec)
    }

    /// The value, or `nil` where there is no record.
    ///
    /// - Parameter policy: where to look, and in which order.
    /// - Throws: ``ClientError/notDecodable(key:_:)``, and what ``snapshot(of:policy:)`` throws.
    public func value(for id: String, policy: ReadPolicy = .cacheElseNetwork) async throws -> Value? {
        let snapshot = try await snapshot(of: id, policy: policy)
        if let error = snapshot.decodingError { throw error }
        return snapshot.value
    }

    /// The record with all that is known about it.
    ///
    /// - Throws: ``ClientError/unreachable(_:)`` where the network is needed and the server is not reached, ``ClientError/refused(_:)``,
    ///   ``ClientError/unauthorized``, ``ClientError/stopped``, `CancellationError`, or a failure of the disk.
    public func snapshot(of id: String, policy: ReadPolicy = .cacheElseNetwork) async throws -> Snapshot<Value> {
        let key = try key(id)
        switch policy {
        case .cacheOnly: return try await cached(key)
        case .cacheElseNetwork:
            let snapshot = try await cached(key)
            return snapshot.isKnown ? snapshot : try await fetched(key, mustBeNew: false)
        case .networkOnly: return try await fetched(key, mustBeNew: true)
        case .networkElseCache:
            do {
                return try await fetched(key, mustBeNew: true)
            } catch ClientError.unreachable {
                return try await cached(key)
            }
        }
    }

    /// The ids of all records that this device knows in the collection, by their bytes. O(records).
    public func ids() async throws -> [String] { try await client.engine.ids(in: checkedName()) }

    /// All records that this device knows in the collection, by id. O(records).
    public func all() async throws -> [Snapshot<Value>] {
        let (observer, _) = try await client.engine.observe(collection: checkedName(), fetches: false)
        return observer.snapshots(client.engine.memory, codec)
    }

    /// Reads those of the records that are not known yet from the server, many with one request.
    /// - Throws: as ``snapshot(of:policy:)``.
    public func prefetch(_ ids: some Sequence<String> & Sendable) async throws {
        var seen: Set<String> = []
        let keys = try ids.filter { seen.insert($0).inserted }.map(key)
        let unknown = try await client.engine.unknown(keys)
        if !unknown.isEmpty { _ = try await client.engine.fetch(unknown, mustBeNew: false) }
    }

    /// Which changes, fetches and writes led to what the record shows, and which were dropped and why.
    public func explain(_ id: String) async throws -> Explanation {
        let key = try key(id)
        let (hit, notes) = try await client.engine.explain(key)
        return Explanation(
            key: key, snapshot: Snapshot(hit, .raw),
            events: notes.map { Explanation.Event(time: $0.at, text: $0.sentence) })
    }

    private func cached(_ key: RecordKey) async throws -> Snapshot<Value> {
        if let hit = client.engine.memory.read(key) { return Snapshot(hit, codec) }
        return Snapshot(try await client.engine.lookUp(key), codec)
    }

    private func fetched(_ key: RecordKey, mustBeNew: Bool) async throws -> Snapshot<Value> {
        guard let hit = try await client.engine.fetch([key], mustBeNew: mustBeNew).first else {
            throw ClientError.unexpectedAnswer("a read of \(key) gave nothing")
        }
        return Snapshot(hit, codec)
    }

    func key(_ id: String) throws(ClientError) -> RecordKey {
        do {
            return try RecordKey(collection: name, id: id)
        } catch {
            throw .invalidName(error.description)
        }
    }

    func checkedName() throws(ClientError) -> String {
        do {
            try RecordKey.check(collection: name)
            return name
        } catch {
            throw .invalidName(error.description)
        }
    }
}

extension Snapshot {
    init(_ hit: MemoryTier.Hit, _ codec: ValueCodec<Value>) {
        let view = hit.value.view
        id = view.key.id
        content = if case .content(let content) = view.value { content } else { nil }
        revision = view.revision
        isPending = view.isPending
        freshness = hit.freshness
        modified = view.entry?.modified
        verified = view.entry?.verifiedAt
        source =
            switch (view.value, view.entry?.origin) {
            case (.unknown, _) where !view.isPending: .unknown
            case _ where view.isPending: .ownWrite
            case (_, .feed): .feed
            case (_, .fetch): .fetch
            case (_, .ownWrite), (_, nil): .ownWrite
            case (_, .rejection): .rejection
            }
        do {
            value = try hit.value.value(codec)
        } catch {
            value = nil
            decodingError = error
        }
    }
}
