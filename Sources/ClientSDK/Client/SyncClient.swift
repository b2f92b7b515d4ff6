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
/// try await notes.set(Note(text: "Hello"), for: "1")      // shown and durable at once, pending until the server has it
/// print(notes["1"]?.value as Any)                         // from memory, without waiting
/// for try await snapshot in notes.snapshots(of: "1") { print(snapshot.value as Any, snapshot.isPending) }
/// ```
///
/// All members may be used from any thread or task. The client stops when it is let go of; what is on disk stays, pending writes too.
public final class SyncClient: Sendable {
    let engine: Engine

    /// A client that does nothing until ``start()``.
    ///
    /// - Throws: ``ClientError/invalidConfiguration(_:)``, ``ClientError/invalidName(_:)``, or ``ClientError/storageFailed(path:_:)`` where neither
    ///   memory nor a thread can be had.
    public init(_ configuration: Configuration) throws(ClientError) {
        engine = try Engine(try EngineSettings(configuration))
    }

    /// A client with a default configuration but for these.
    public convenience init(url: String, namespace: String, storage: Configuration.Storage = .memory) throws(ClientError) {
        try self.init(Configuration(url: url, namespace: namespace, storage: storage))
    }

    deinit {
        let engine = engine
        engine.transport.run { @Sendable in engine.assumeIsolated { $0.stop() } }
    }

    // MARK: Life

    /// Opens the storage, shows what it holds with pending writes over it, and begins to follow the server.
    ///
    /// It returns when the storage is open, not when the server is reached: follow ``statuses`` for that. Does nothing if it runs.
    ///
    /// - Throws: ``ClientError/directoryInUse(path:holder:)``, ``ClientError/readOnly(path:)``, ``ClientError/newerSchema(path:found:supported:)``,
    ///   ``ClientError/corrupt(path:quarantine:)``, ``ClientError/diskFull(path:)`` or ``ClientError/storageFailed(path:_:)``.
    public func start() async throws { try await engine.start() }

    /// Ends all activity and closes the storage. What is on disk stays, writes that wait too: they are sent after the next ``start()``.
    public func stop() async { await engine.stop() }

    /// Forgets everything, writes that wait too, in memory and on disk: for a log-out, or a change of account.
    ///
    /// When it returns, no earlier value can be read, and no response to an earlier request is stored. The device takes a new name.
    ///
    /// ```swift
    /// try await client.clear(andStop: true)
    /// ```
    /// - Parameter stops: whether the client stops in the same moment, as for a log-out: nothing is left in its directory. Otherwise it follows the
    ///   server again at once.
    /// - Throws: ``ClientError/stopped``, or a failure of the disk; then nothing is shown, but may still be on disk, and the client goes on.
    public func clear(andStop stops: Bool = false) async throws { try await engine.clear(andStop: stops) }

    // MARK: Contact

    /// Tries again at once what waits after a failure: after a log-in, or when the user asks for it. Nothing of the back-off is left.
    ///
    /// Returns at once, and may be called as often as one likes. It does nothing while the client is stopped, or live without an error.
    public func retryNow() {
        guard !status.isLive || status.feedError != nil || status.writeError != nil else { return }
        engine.transport.run { @Sendable [engine] in engine.assumeIsolated { $0.reconnect(onOtherPath: false) } }
    }

    /// Closes the connections, which may be dead without knowing it, and catches up at once: call it when the network path has changed, such as a
    /// cable that was plugged, another Wi-Fi or a VPN. On Linux, `NetworkManager`'s and `netlink`'s notifications tell of it.
    ///
    /// Returns at once. It does nothing while the client is stopped. A sleep of the device is noticed without it.
    public func networkChanged() {
        engine.transport.run { @Sendable [engine] in engine.assumeIsolated { $0.reconnect(onOtherPath: true) } }
    }

    // MARK: Status

    /// How fresh the client is. Never waits. After a sleep of the device it is not live, before anything else has noticed.
    public var status: Status { engine.status }

    /// The present status and then each change; one who is slow gets the latest only. It does not end while the client lives. A sleep of the
    /// device is noticed within five seconds.
    public var statuses: AsyncStream<Status> { engine.board.follow() }

    /// The rejected writes that wait to be retried or discarded, those of earlier processes too.
    public var rejections: Rejections { Rejections(client: self) }

    /// Waits until no write waits for its verdict.
    /// - Throws: ``ClientError/stopped`` when the client is not running, and `CancellationError`.
    public func drained() async throws { try await wait { $0.waitingWrites == 0 } }

    /// Waits until the client is live: has caught up, and is told of each change.
    /// - Throws: as ``drained()``.
    public func live() async throws { try await wait { $0.isLive } }

    private func wait(until condition: (Status) -> Bool) async throws {
        for await status in statuses {
            guard status.connection != .stopped else { throw ClientError.stopped }
            if condition(status) { return }
        }
        throw CancellationError()
    }

    // MARK: Collections

    /// A collection of values that are JSON on the wire.
    ///
    /// - Parameters:
    ///   - name: `[A-Za-z0-9._-]{1,64}`; another name fails at the first use, with ``ClientError/invalidName(_:)``.
    ///   - merging: makes one value of two that were written at once; used by writes with ``OnConflict/merge``. The latest closure given
    ///     for a collection counts, so open the collection with it once in each process, before or after ``start()``: until then a write of an
    ///     earlier process that met a conflict waits for it, as ``Status/missingMergeClosures`` says, while writes to other records go on.
    public func collection<Value: Codable & Sendable>(
        _ name: String, of type: Value.Type = Value.self, merging: MergeClosure<Value>? = nil
    ) -> SyncedCollection<Value> {
        collection(name, codec: ValueCodec.json(), merging: merging)
    }

    /// A collection of values with a codec of one's own.
    public func collection<Value: Sendable>(
        _ name: String, codec: ValueCodec<Value>, merging: MergeClosure<Value>? = nil
    ) -> SyncedCollection<Value> {
        if let merging { engine.register(merging, for: name, codec) }
        return SyncedCollection(client: self, name: name, codec: codec)
    }

    /// A collection of plain bytes with their media type: images, texts, JSON as it is.
    public func rawCollection(_ name: String, merging: MergeClosure<Content>? = nil) -> SyncedCollection<Content> {
        collection(name, codec: .raw, merging: merging)
    }

    // MARK: Invalidation

    /// Tells all clients of the namespace that records have changed in the system that owns them: they evict them, and load them afresh.
    ///
    /// - Parameter scope: one record, a collection's ids with a prefix, or everything.
    /// - Returns: the revision of the invalidation.
    /// - Throws: ``ClientError/unreachable(_:)``, ``ClientError/intercepted(status:_:)``, ``ClientError/refused(_:)``,
    ///   ``ClientError/unauthorized``, ``ClientError/stopped``.
    @discardableResult
    public func invalidate(_ scope: InvalidationScope) async throws -> Revision { try await invalidate([scope]) }

    /// As ``invalidate(_:)-(InvalidationScope)``, of several records at once.
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
                throw ClientError.unexpectedAnswer(error.description)
            }
        case 401: throw ClientError.unauthorized
        case 400...:
            switch ReplyDecoder.answer(reply) {
            case .success(let problem): throw ClientError.refused(problem)
            case .failure(let failure): throw ClientError(failure)
            }
        default: throw ClientError(.foreign(ReplyDecoder.foreign(reply, "it answers no invalidation")))
        }
    }
}
