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
    /// - Throws: ``ClientError/unreachable(_:)`` or ``ClientError/intercepted(status:_:)`` where the network is needed and the server is not
    ///   reached, ``ClientError/refused(_:)``, ``ClientError/unauthorized``, ``ClientError/stopped``, `CancellationError`, or a failure of the disk.
    public func snapshot(of id: String, policy: ReadPolicy = .cacheElseNetwork) async throws -> Snapshot<Value> {
        let key = try key(id)
        switch policy {
        case .cacheOnly: return try await cached(key)
        case .cacheElseNetwork:
            let snapshot = try await cached(key)
            return snapshot.isKnown && !snapshot.lacksValue ? snapshot : try await fetched(key, mustBeNew: false)
        case .networkOnly: return try await fetched(key, mustBeNew: true)
        case .networkElseCache:
            do {
                return try await fetched(key, mustBeNew: true)
            } catch ClientError.unreachable, ClientError.intercepted, ClientError.otherStore {
                return try await cached(key)
            }
        }
    }

    /// The ids of the collection's records, in the order of their bytes.
    ///
    /// A client that follows everything in the collection lists its copy; before it has caught up for the first time
    /// (``SyncClient/live()``), that is what has come so far. Other clients ask the server: those with
    /// ``SyncClient/Configuration/Following/held``, with a ``SyncClient/Configuration/diskLimit``, or whose ``SyncClient/Configuration/prefix``
    /// or ``SyncClient/Configuration/collections`` leave records of the collection out. Such a list has what the server lists and what this
    /// device holds, a record that was created meanwhile too, with the device's own pending writes over it. Where the server and the device
    /// say different things about a record, it is read again. The list is of the moment of the call: a client that follows what it holds
    /// learns of no records that others create later, until it lists them again.
    ///
    /// O(records) in time and in memory; the server is asked for at most 1,000 ids at once, without values.
    ///
    /// - Parameter policy: ``ReadPolicy/cacheOnly`` lists what is stored here; ``ReadPolicy/cacheElseNetwork`` (the default) the copy, or else
    ///   what the server has; ``ReadPolicy/networkOnly`` always asks the server; ``ReadPolicy/networkElseCache`` lists what is stored here if the
    ///   server cannot be reached.
    /// - Throws: ``ClientError/unreachable(_:)`` or ``ClientError/intercepted(status:_:)`` where the server is needed and is not reached, each page
    ///   within ``SyncClient/Configuration/readTimeout`` and at once while the client is offline; ``ClientError/outdated``,
    ///   ``ClientError/refused(_:)``, ``ClientError/unauthorized``, ``ClientError/cleared``, ``ClientError/stopped``, `CancellationError`, or a
    ///   failure of the disk.
    public func ids(policy: ReadPolicy = .cacheElseNetwork) async throws -> [String] {
        let (engine, name) = (client.engine, try checkedName())
        return try await listed(policy, cached: { try await engine.ids(in: name) }, network: { try await engine.listIDs(in: name) })
    }

    /// The collection's records, by id. A record whose removal is pending is among them, with ``Snapshot/exists`` false.
    ///
    /// Which records these are is as of ``ids(policy:)``. What the server lists and this device does not hold is read from it, up to 200 records
    /// with one request, and is stored and followed from then on; with ``ReadPolicy/networkOnly`` and ``ReadPolicy/networkElseCache`` all are
    /// read. O(records) in time and in memory.
    ///
    /// - Parameter policy: as of ``ids(policy:)``.
    /// - Throws: as ``ids(policy:)``; ``ClientError/unexpectedAnswer(_:)`` where a record has more than
    ///   ``SyncClient/Configuration/responseLimit``.
    public func all(policy: ReadPolicy = .cacheElseNetwork) async throws -> [Snapshot<Value>] {
        let (engine, name) = (client.engine, try checkedName())
        return try await listed(
            policy,
            cached: {
                let (observer, _) = try await engine.observe(collection: name, fetches: false)
                return observer.snapshots(engine.memory, codec)
            },
            network: {
                let mustBeNew = policy == .networkOnly || policy == .networkElseCache
                return try await engine.list(name, mustBeNew: mustBeNew).map { Snapshot($0, codec) }
            })
    }

    private func listed<List>(
        _ policy: ReadPolicy, cached: () async throws -> List, network: () async throws -> List
    ) async throws -> List {
        switch policy {
        case .cacheOnly: return try await cached()
        case .cacheElseNetwork: return client.engine.holdsAll(of: name) ? try await cached() : try await network()
        case .networkOnly: return try await network()
        case .networkElseCache:
            do {
                return try await network()
            } catch ClientError.unreachable, ClientError.intercepted, ClientError.otherStore {
                return try await cached()
            }
        }
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
        lacksValue = view.value == .elsewhere
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
