internal import FreshetTransport
public import FreshetWire
internal import HTTPTypes

/// One device in one namespace: a cache in memory and on disk that follows the server's changes, and an outbox for this device's writes.
///
/// ```swift
/// struct Note: Codable, Sendable { var text: String }
///
/// let client = try SyncClient(url: "http://127.0.0.1:8180", namespace: "demo", storage: .directory("/tmp/notes"))
/// try await client.start()
///
/// let notes = client.collection("notes", of: Note.self)
/// try await notes.setValue(Note(text: "Hello"), forKey: "1")      // shown and durable at once, pending until the server has it
/// print(notes["1"]?.value as Any)                         // from memory, without waiting
/// for try await snapshot in notes.snapshots(forKey: "1") { print(snapshot.value as Any, snapshot.isPending) }
/// ```
///
/// All members may be used from any thread or task. The client stops when it is deallocated; data on disk stays,
/// including pending writes.
public final class SyncClient: Sendable {
    let engine: Engine

    /// Creates a client that does nothing until ``start()``.
    ///
    /// - Throws: ``ClientError/invalidConfiguration(_:)``, ``ClientError/invalidName(_:)``, or
    ///   ``ClientError/storageFailed(path:_:)`` if there is no memory or no thread.
    public init(_ configuration: Configuration) throws(ClientError) {
        engine = try Engine(try EngineSettings(configuration))
    }

    /// Creates a client with the default configuration, except for these values.
    public convenience init(url: String, namespace: String, storage: Configuration.Storage = .memory) throws(ClientError) {
        try self.init(Configuration(url: url, namespace: namespace, storage: storage))
    }

    /// Creates a client with the settings of another one, which the caller stops before it starts this one. Paths lead where they did.
    package init(again other: SyncClient) throws(ClientError) { engine = try Engine(other.engine.settings) }

    deinit {
        let engine = engine
        engine.transport.run { @Sendable in engine.assumeIsolated { $0.stop() } }
    }

    // MARK: Life

    /// Opens the storage, shows its contents with pending writes over them, and begins to follow the server.
    ///
    /// Returns when the storage is open, before the server is reached: follow ``statuses`` for that. Does nothing if
    /// the client is running.
    ///
    /// - Throws: ``ClientError/otherPrincipal(pendingWrites:)``, ``ClientError/directoryInUse(path:holder:)``, ``ClientError/readOnly(path:)``, ``ClientError/newerSchema(path:found:supported:)``,
    ///   ``ClientError/corrupt(path:quarantine:)``, ``ClientError/diskFull(path:)`` or ``ClientError/storageFailed(path:_:)``.
    public func start() async throws(ClientError) { try await engine.start() }

    /// Ends all activity and closes the storage. Data on disk stays, including waiting writes: they are sent after the
    /// next ``start()``.
    public func stop() async { await engine.stop() }

    /// Removes all data in memory and on disk: for a log-out, or a change of account.
    ///
    /// When it returns, no earlier record can be read, and no response to an earlier request is stored. The directory belongs to no
    /// ``Configuration/principal`` any more, or to that of this client if it continues. The device takes a new name.
    ///
    /// With `keepingOutbox`, waiting writes stay and are sent exactly once: now, or after the next ``start()``. Rejected writes stay too,
    /// without the records that they met. As long as any of them is kept, so are the device's name and the directory's principal, since
    /// the server may know them under that name.
    ///
    /// ```swift
    /// try await client.clear(andStop: true)
    /// ```
    /// A client that is not running clears its directory, also that of another principal.
    ///
    /// - Parameters:
    ///   - keepsOutbox: whether the writes of this device stay that have no outcome, or were rejected and neither retried nor discarded.
    ///   - stops: whether the client also stops, as for a log-out, so that no data is left in its directory.
    ///     Otherwise it follows the server again at once.
    /// - Throws: a failure of the disk: then no data is shown, but some may still be on disk, and the client continues; as ``start()`` for
    ///   a client that is not running, and ``ClientError/stopped`` if that stores in memory.
    public func clear(keepingOutbox keepsOutbox: Bool = false, andStop stops: Bool = false) async throws {
        try await engine.clear(keepingOutbox: keepsOutbox, andStop: stops)
    }

    // MARK: Contact

    /// Retries all failed operations at once, for example after a log-in or on the user's request, and resets their
    /// back-off.
    ///
    /// Returns at once, and may be called any number of times. Does nothing while the client is stopped, or live
    /// without an error.
    public func retryNow() {
        guard !status.isLive || status.feedError != nil || status.writeError != nil else { return }
        engine.transport.run { @Sendable [engine] in engine.assumeIsolated { $0.reconnect(onOtherPath: false) } }
    }

    /// Closes the connections, which may be dead unnoticed, and catches up at once. Call it when the network path has
    /// changed, such as a plugged cable, another Wi-Fi or a VPN. On Linux, `NetworkManager` and `netlink` notify
    /// programs of such changes.
    ///
    /// Returns at once. Does nothing while the client is stopped. The client detects a sleep of the device without
    /// this call.
    public func networkChanged() {
        engine.transport.run { @Sendable [engine] in engine.assumeIsolated { $0.reconnect(onOtherPath: true) } }
    }

    // MARK: Status

    /// The present status, without waiting. Immediately after a sleep of the device it is not live, even before the
    /// sleep has been detected.
    public var status: Status { engine.status }

    /// The present status and then each change. A slow consumer receives only the latest. Ends when the client is
    /// released, not when it stops. A sleep of the device is detected within five seconds.
    public var statuses: AsyncStream<Status> { engine.statusBroadcaster.subscribe() }

    /// The rejected writes that wait to be retried or discarded, including those of earlier processes.
    public var rejections: Rejections { Rejections(client: self) }

    /// Waits until every write has its outcome.
    /// - Throws: ``ClientError/stopped`` when the client is not running, and `CancellationError`.
    public func waitUntilDrained() async throws { try await wait { $0.waitingWrites == 0 } }

    /// Waits until the client is live: it has caught up, and the server notifies it of each change.
    /// - Throws: as ``waitUntilDrained()``.
    public func waitUntilLive() async throws { try await wait { $0.isLive } }

    /// Waits until every record that this client follows or holds is verified as of the call: the client has all changes that the server
    /// had made by then, also of values that are too large to come with the changes, and no copy that was invalidated by then is left.
    /// Values that observers of records and lists show have been read again too.
    ///
    /// It asks the server at once, rather than at the end of the present poll. While the server cannot be reached, or the client is
    /// ``Status/Connection/unauthorized(since:)`` or ``Status/Connection/forbidden(since:)``, it waits; cancel the task to end the wait.
    /// Changes of the server after the call are waited for only as far as they come meanwhile. Writes of this device need not have
    /// their outcomes: see ``waitUntilDrained()``.
    ///
    /// - Throws: ``ClientError/stopped`` when the client is not running, ``ClientError/cleared`` when it is cleared, and
    ///   `CancellationError`.
    public func waitUntilVerified() async throws {
        try await engine.verify()
        try await wait { $0.isVerified }
    }

    private func wait(until condition: (Status) -> Bool) async throws {
        for await status in statuses {
            guard status.connection != .stopped else { throw ClientError.stopped }
            if condition(status) { return }
        }
        throw CancellationError()
    }

    // MARK: Collections

    /// Returns a collection of values that are JSON on the wire.
    ///
    /// - Parameters:
    ///   - name: `[A-Za-z0-9._-]{1,64}`; another name fails at the first use, with ``ClientError/invalidName(_:)``.
    ///   - merging: makes one value of two simultaneous writes; used by writes with ``OnConflict/merge``. The latest
    ///     closure given for a collection counts, so open the collection with it once in each process, before or after
    ///     ``start()``. Until then a write of an earlier process that met a conflict waits, as
    ///     ``Status/missingMergeClosures`` reports, while writes to other records continue.
    public func collection<Value: Codable & Sendable>(
        _ name: String, of type: Value.Type = Value.self, merging: MergeClosure<Value>? = nil
    ) -> SyncedCollection<Value> {
        collection(name, codec: ValueCodec.json(), merging: merging)
    }

    /// Returns a collection of values with a custom codec.
    public func collection<Value: Sendable>(
        _ name: String, codec: ValueCodec<Value>, merging: MergeClosure<Value>? = nil
    ) -> SyncedCollection<Value> {
        if let merging { engine.register(merging, for: name, codec) }
        return SyncedCollection(client: self, name: name, codec: codec)
    }

    /// Returns a collection of plain bytes with their media type: images, texts, unparsed JSON.
    public func rawCollection(_ name: String, merging: MergeClosure<Content>? = nil) -> SyncedCollection<Content> {
        collection(name, codec: .raw, merging: merging)
    }

    // MARK: Invalidation

    /// Notifies all clients of the namespace that records have changed in the system that owns them: the clients evict
    /// these records, and load them again.
    ///
    /// - Parameter scope: one record, a collection's ids with a prefix, or everything.
    /// - Returns: the revision of the invalidation. It is sent once: if it throws, it may have had its effect all the same, and may be
    ///   repeated.
    /// - Throws: ``ClientError/unreachable(_:)``, ``ClientError/intercepted(status:_:)``, ``ClientError/refused(_:)``,
    ///   ``ClientError/unauthorized``, ``ClientError/stopped``.
    @discardableResult
    public func invalidate(_ scope: InvalidationScope) async throws -> Revision { try await invalidate([scope]) }

    /// As ``invalidate(_:)-(InvalidationScope)``, for several records at once.
    @discardableResult
    public func invalidate(_ keys: [RecordKey]) async throws -> Revision { try await invalidate(keys.map { .key($0) }) }

    private func invalidate(_ scopes: [InvalidationScope]) async throws -> Revision {
        guard !scopes.isEmpty else { throw ClientError.invalidName("no keys are given: an invalidation takes at least one") }
        let path = engine.settings.namespace.invalidationsPath
        let reply = try await engine.exchange(.post, path, json: InvalidationRequest(scopes: scopes).json)
        switch reply.status {
        case 200 where Content.isJSON(reply.fields[.contentType] ?? ""):
            do {
                return try InvalidationReceipt(json: reply.body).revision
            } catch {
                throw ClientError.unexpectedResponse(error.description)
            }
        case 401: throw ClientError.unauthorized
        case 400...:
            switch ReplyDecoder.problem(in: reply) {
            case .success(let problem): throw ClientError.refused(problem)
            case .failure(let failure): throw ClientError(failure)
            }
        default: throw ClientError(.intercepted(ReplyDecoder.intercepted(reply, "it answers no invalidation")))
        }
    }
}
