import FreshetClient
import FreshetSQLite
import FreshetWire
import Logging

/// One device of the demo: an SDK client with a separate directory that keeps a copy of all records.
struct Device: Sendable {
    let name: String
    let directory: String
    let client: SyncClient

    init(_ name: String, url: String, namespace: Namespace, directory: String) throws {
        self.name = name
        self.directory = directory
        var configuration = SyncClient.Configuration(url: url, namespace: namespace.name, storage: .directory(directory))
        configuration.following = .everything
        // The demo breaks connections on purpose and wants them to be restored soon.
        configuration.firstDelay = .milliseconds(50)
        configuration.longestDelay = .milliseconds(500)
        // It also says itself which connections it breaks.
        configuration.logger.logLevel = .error
        client = try SyncClient(configuration)
    }

    func collection(_ name: String) -> SyncedCollection<Content> { client.rawCollection(name) }

    /// Waits until the device has stored everything up to a revision and follows live.
    /// - Parameter isVerified: whether it must also have read all invalidated records again.
    func reached(_ revision: Revision, isVerified: Bool = false) async throws {
        try await within(.seconds(30), "\(name) to reach revision \(revision)") {
            for await status in client.statuses {
                guard status.isLive, let cursor = status.cursor, cursor.revision >= revision else { continue }
                if status.isVerified || !isVerified { return }
            }
        }
    }

    /// When the device last verified these records.
    func verified(_ keys: [RecordKey]) -> [RecordKey: Timestamp] {
        var times: [RecordKey: Timestamp] = [:]
        for key in keys { times[key] = collection(key.collection)[key.id]?.verified }
        return times
    }

    /// Waits until the device knows that it is offline.
    func offline() async throws {
        try await within(.seconds(30), "\(name) to see that it is offline") {
            for await status in client.statuses {
                if case .offline = status.connection { return }
            }
        }
    }

    /// The values of these records in memory, and how many of them are pending; read as any program would.
    func memory(of keys: some Sequence<RecordKey>) -> (tier: TierContents, pending: Int) {
        var tier = TierContents()
        var pending = 0
        for key in keys {
            guard let snapshot = collection(key.collection)[key.id] else { continue }
            if snapshot.isPending { pending += 1 }
            if let content = snapshot.content {
                tier.entries[key] = TierContents.Entry(revision: snapshot.revision?.number ?? 0, value: content.bytes)
            }
        }
        return (tier, pending)
    }

    /// The records on disk, and how many writes are queued there; read with SQL from the file itself, without the SDK.
    func disk() throws -> (tier: TierContents, waiting: Int) {
        let connection = try Connection(path: directory + "/freshet.sqlite", mode: .readOnly)
        var tier = TierContents()
        try connection.withStatement("SELECT collection, id, revision, value FROM entry WHERE type IS NOT NULL") { statement in
            while try statement.step() {
                let key = try RecordKey(collection: statement.text(0), id: statement.text(1))
                tier.entries[key] = TierContents.Entry(revision: statement.int64(2), value: statement.bytes(3))
            }
        }
        let waiting = try connection.withStatement("SELECT count(*) FROM outbox") { try $0.step() ? Int($0.int64(0)) : 0 }
        return (tier, waiting)
    }
}

/// Runs `body`, but no longer than `limit`.
/// - Throws: ``CommandFailure`` that names the awaited event.
func within<Value: Sendable>(_ limit: Duration, _ condition: String, _ body: @escaping @Sendable () async throws -> Value) async throws
    -> Value
{
    try await withThrowingTaskGroup(of: Value.self) { group in
        group.addTask(operation: body)
        group.addTask {
            try await Task.sleep(for: limit)
            throw CommandFailure(.notFound, "waited \(limit.text) for \(condition), in vain")
        }
        defer { group.cancelAll() }
        guard let value = try await group.next() else { throw CancellationError() }
        return value
    }
}
