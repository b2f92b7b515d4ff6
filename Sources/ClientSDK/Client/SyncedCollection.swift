internal import FreshetPlatform
internal import FreshetWire

/// A collection's records as values of one type. A lightweight value: all copies share the client's tiers.
public struct SyncedCollection<Value: Sendable>: Sendable {
    /// The client of the collection.
    public let client: SyncClient
    /// The collection's name.
    public let name: String
    let codec: ValueCodec<Value>

    // MARK: Reading

    /// The record in memory, with pending writes; `nil` if memory does not hold it: then use ``snapshot(forKey:policy:)``.
    ///
    /// Never waits, neither for the disk nor for a writer. O(1).
    public subscript(id: String) -> Snapshot<Value>? {
        guard let key = try? RecordKey(collection: name, id: id), let hit = client.engine.memory.read(key) else { return nil }
        return Snapshot(hit, codec)
    }

    /// Returns the value, or `nil` if there is no record.
    ///
    /// - Parameter policy: the sources of the read, and their order.
    /// - Throws: ``ClientError/notDecodable(key:_:)``, and the errors of ``snapshot(forKey:policy:)``.
    public func value(forKey id: String, policy: ReadPolicy = .cacheElseNetwork) async throws -> Value? {
        let snapshot = try await snapshot(forKey: id, policy: policy)
        if let error = snapshot.decodingError { throw error }
        return snapshot.value
    }

    /// Returns the record with its revision, source and freshness.
    ///
    /// - Throws: ``ClientError/unreachable(_:)`` or ``ClientError/intercepted(status:_:)`` if the network is needed
    ///   and the server cannot be reached, ``ClientError/refused(_:)``, ``ClientError/unauthorized``,
    ///   ``ClientError/stopped``, `CancellationError`, or a failure of the disk.
    public func snapshot(forKey id: String, policy: ReadPolicy = .cacheElseNetwork) async throws -> Snapshot<Value> {
        let key = try key(id)
        switch policy {
        case .cacheOnly: return try await cached(key)
        case .cacheElseNetwork where client.engine.settings.sync.covers(key):
            let snapshot = try await cached(key)
            return snapshot.isKnown && !snapshot.lacksValue ? snapshot : try await fetched(key, mustBeNew: false)
        case .networkOnly: return try await fetched(key, mustBeNew: true)
        // Of a record that the client does not follow, it knows its waiting writes alone.
        case .cacheElseNetwork, .networkElseCache:
            do {
                return try await fetched(key, mustBeNew: true)
            } catch let outage as ClientError where outage.isOutage {
                let hit = try await cachedHit(key)
                guard hit.value.view.value != .unknown else { throw outage }
                return Snapshot(hit, codec)
            }
        }
    }

    /// Returns the ids of the collection's records, in the order of their bytes.
    ///
    /// A client that follows everything in the collection lists its copy. Before it has caught up for the first time
    /// (``SyncClient/waitUntilLive()``) it asks the server, and so do other clients: those with
    /// ``SyncClient/Configuration/Following/cachedRecords``, with a ``SyncClient/Configuration/diskLimit``, or whose
    /// ``SyncClient/Configuration/prefix`` or ``SyncClient/Configuration/collections`` exclude records of the
    /// collection. Such a list contains the records that the server lists or this device holds, each no older than the
    /// call, with the device's pending writes over them. A record on which server and device differ is read again. The list is as of the call: a client that follows only held records does not see records that
    /// others create later, until it lists them again.
    ///
    /// O(records) in time and in memory; each request to the server asks for at most 1,000 ids, without values.
    ///
    /// - Parameter policy: ``ReadPolicy/cacheOnly`` lists the stored records; ``ReadPolicy/cacheElseNetwork`` (the
    ///   default) the copy, or else the server's records; ``ReadPolicy/networkOnly`` always asks the server;
    ///   ``ReadPolicy/networkElseCache`` lists the stored records if the server cannot be reached.
    /// - Throws: ``ClientError/incompleteCopy(collection:)`` if the copy has never been complete and the server cannot be reached;
    ///   ``ClientError/unreachable(_:)`` or ``ClientError/intercepted(status:_:)`` if the server is needed and
    ///   cannot be reached, each page within ``SyncClient/Configuration/readTimeout`` and at once while the client is
    ///   offline; ``ClientError/outdated``, ``ClientError/unexpectedResponse(_:)``, ``ClientError/refused(_:)``,
    ///   ``ClientError/unauthorized``, ``ClientError/cleared``, ``ClientError/stopped``, `CancellationError`, or a failure
    ///   of the disk.
    public func ids(policy: ReadPolicy = .cacheElseNetwork) async throws -> [String] {
        let (engine, name) = (client.engine, try checkedName())
        return try await listed(policy, cached: { try await engine.ids(in: name) }, network: { try await engine.listIDs(in: name) })
    }

    /// Returns the collection's records, by id, including records whose removal is pending, with ``Snapshot/exists`` false.
    ///
    /// The records are those of ``ids(policy:)``. Records that the server lists and this device does not hold are read
    /// from the server, up to 200 with one request, and are stored and followed from then on; with
    /// ``ReadPolicy/networkOnly`` and ``ReadPolicy/networkElseCache`` all are read. O(records) in time and in memory.
    ///
    /// - Parameter policy: as of ``ids(policy:)``.
    /// - Throws: as ``ids(policy:)``; ``ClientError/unexpectedResponse(_:)`` if a record is larger than
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
        let engine = client.engine
        switch policy {
        case .cacheOnly: return try await cached()
        case .networkOnly: return try await network()
        case .cacheElseNetwork where engine.holdsAll(of: name):
            do { try await engine.checkCopy(of: name) } catch ClientError.incompleteCopy { break }
            return try await cached()
        case .cacheElseNetwork, .networkElseCache: break
        }
        do {
            return try await network()
        } catch let outage as ClientError where outage.isOutage {
            if engine.settings.sync.holdsAll { try await engine.checkCopy(of: name) }
            guard policy == .networkElseCache, engine.settings.sync.filter.includes(name) else { throw outage }
            return try await cached()
        }
    }

    /// Reads the records that are not known yet from the server, many with one request. Each request has the timeout of a read.
    /// - Throws: as ``snapshot(forKey:policy:)``.
    public func prefetch(_ ids: some Sequence<String> & Sendable) async throws {
        var seen: Set<RecordKey> = []
        let keys = try ids.map(key).filter { seen.insert($0).inserted }
        if let key = keys.first(where: { !client.engine.settings.sync.covers($0) }) { throw ClientError.notFollowed(key.description) }
        _ = try await client.engine.read(try await client.engine.unknown(keys), mustBeNew: false)
    }

    /// Returns the changes, fetches and writes that led to the record's shown state, with dropped ones and the reasons.
    public func explain(_ id: String) async throws -> Explanation {
        let key = try key(id)
        let (hit, notes) = try await client.engine.explain(key)
        return Explanation(
            key: key, snapshot: Snapshot(hit, .raw),
            events: notes.map { Explanation.Event(time: $0.at, text: $0.message) })
    }

    private func cached(_ key: RecordKey) async throws -> Snapshot<Value> { Snapshot(try await cachedHit(key), codec) }

    private func cachedHit(_ key: RecordKey) async throws -> MemoryTier.Hit {
        if let hit = client.engine.memory.read(key) { return hit }
        return try await client.engine.lookUp(key)
    }

    private func fetched(_ key: RecordKey, mustBeNew: Bool) async throws -> Snapshot<Value> {
        guard let hit = try await client.engine.fetch([key], mustBeNew: mustBeNew).first else {
            throw ClientError.unexpectedResponse("a read of \(key) gave nothing")
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

extension ClientError {
    /// Whether the server could not be reached, so that a cached value may do.
    fileprivate var isOutage: Bool {
        switch self {
        case .unreachable, .untrusted, .intercepted, .otherStore: true
        default: false
        }
    }
}

extension Snapshot {
    init(_ hit: MemoryTier.Hit, _ codec: ValueCodec<Value>) {
        let view = hit.value.view
        name = ByteIdentity.Name(text: view.key.id)
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
