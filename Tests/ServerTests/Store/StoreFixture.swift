import FreshetServer
import FreshetTestSupport
import FreshetTrust
import FreshetWire
import Synchronization
import Testing

/// The stores that every conformance test runs over.
enum StoreKind: String, CaseIterable, Sendable {
    case memory, sqlite
    /// A store that caches two or three recently written keys, so that it keeps evicting them.
    case forgetfulSQLite
    /// Only where the build has the trait and the machine has the server.
    case postgreSQL

    static let allCases: [StoreKind] = [.memory, .sqlite, .forgetfulSQLite] + shared

    /// The stores that several servers may share, apart from that in memory.
    static var shared: [StoreKind] { PostgreSQLDatabase.isAvailable ? [.postgreSQL] : [] }
}

/// A store for one test, and short ways to use it. Its files are removed with it.
struct StoreFixture: Sendable {
    let store: any RecordStore
    let namespace: Namespace
    /// The quotas by which ``commit(at:_:)`` judges.
    var quotas = Quotas.Space()
    private let directory: TemporaryDirectory?
    /// Released after the store.
    private let database: PostgreSQLDatabase?

    /// The store's file; `nil` in memory.
    var path: String? { directory?.file("data/freshet.db") }

    init(_ kind: StoreKind, seed: UInt64 = 42) throws {
        namespace = try Namespace("shop")
        database = kind == .postgreSQL ? try PostgreSQLDatabase() : nil
        switch kind {
        case .memory:
            directory = nil
            store = MemoryRecordStore(seed: seed)
        case .postgreSQL:
            directory = nil
            guard let opened = try database?.store(seed: seed) else { throw Unexpected(what: "the build has no PostgreSQL") }
            store = opened
        case .sqlite, .forgetfulSQLite:
            let directory = TemporaryDirectory()
            self.directory = directory
            let room = kind == .sqlite ? 32 << 20 : 500
            store = try SQLiteRecordStore(directory: directory.file("data"), seed: seed, readers: 1, rowCacheBytes: room)
        }
    }

    /// Uses a store whose place belongs to the test.
    init(over store: any RecordStore) throws {
        namespace = try Namespace("shop")
        self.store = store
        (directory, database) = (nil, nil)
    }

    /// Commits one submission in a separate transaction, and returns the answer that its owner gets.
    func commit<Value: Sendable>(
        at milliseconds: Int64 = 1_000, _ make: (@escaping @Sendable (Committed<Value>) -> Void) -> Submission
    ) throws -> Committed<Value> {
        let recorder = CompletionRecorder<Value>()
        try GroupCommit.commit(
            [make(recorder.record)], to: store, at: WriteTime(milliseconds: milliseconds), editLimit: 1_000, quotas: quotas
        ).complete()
        return try recorder.once()
    }

    /// Makes a single write without a number, and returns its revision.
    @discardableResult
    func write(_ key: String, _ operation: WriteOperation, if preconditions: [Precondition] = [], at milliseconds: Int64 = 1_000) throws
        -> Revision?
    {
        let write = SingleWrite(key: try RecordKey(key), operation: operation, preconditions: preconditions)
        return try commit(at: milliseconds) { .single(write, in: namespace, then: $0) }.result.get().revision
    }

    @discardableResult
    func put(_ key: String, _ json: String, at milliseconds: Int64 = 1_000) throws -> Revision? {
        try write(key, .put(Content(json: Array(json.utf8))), at: milliseconds)
    }

    /// Makes numbered writes, and returns their verdicts in brief.
    func batch(_ writes: [Write], by client: String = "phone", atomic: Bool = false, at milliseconds: Int64 = 1_000) throws -> [String] {
        let batch = WriteBatch(client: try ClientIdentifier(client), atomic: atomic, writes: writes)
        return try commit(at: milliseconds) { .batch(batch, in: namespace, then: $0) }.result.get().map(\.brief)
    }

    @discardableResult
    func invalidate(_ scopes: InvalidationScope..., at milliseconds: Int64 = 1_000) throws -> Revision {
        try commit(at: milliseconds) { .invalidate(scopes, in: namespace, then: $0) }.result.get()
    }

    func drop() throws -> Bool { try commit { .drop(namespace, then: $0) }.result.get() }

    /// Compacts until nothing remains to be done, and returns how many deletes and invalidations were forgotten.
    @discardableResult
    func compact(before milliseconds: Int64, limit: Int = 1_000) throws -> Int {
        var forgotten = 0
        while true {
            let step = try commit { .compact(before: Timestamp(milliseconds: milliseconds), limit: limit, then: $0) }.result.get()
            forgotten += step.forgotten
            if step.isComplete { return forgotten }
        }
    }

    func value(_ key: String) throws -> String? {
        try store.record(RecordKey(key), in: namespace).value?.content.map { String(decoding: $0.bytes, as: UTF8.self) }
    }

    func cursor(_ revision: Int64) throws -> Cursor {
        Cursor(epoch: try store.state(of: namespace).epoch, revision: try #require(Revision(revision)))
    }

    func changes(
        since: Since, filter: ChangeFilter = .all, limit: Int = 1_000, scanLimit: Int = 10_000
    ) throws -> ScannedChanges {
        let query = ChangeQuery(since: since, filter: filter, limit: limit, scanLimit: scanLimit)
        guard case .changes(let changes) = try store.changes(query, in: namespace).value else {
            throw Unexpected(what: "the cursor was refused")
        }
        return changes
    }

    func refusal(since: Since) throws -> CursorRefusal? {
        guard case .refused(let refusal) = try store.changes(ChangeQuery(since: since), in: namespace).value else {
            return nil
        }
        return refusal
    }
}

struct Unexpected: Error {
    let what: String
}

/// Records the calls of a submission's completion.
final class CompletionRecorder<Value: Sendable>: Sendable {
    private let calls = Mutex<[Committed<Value>]>([])

    func record(_ committed: Committed<Value>) { calls.withLock { $0.append(committed) } }

    var count: Int { calls.withLock { $0.count } }

    /// The argument of the only call.
    func once() throws -> Committed<Value> {
        let calls = calls.withLock { $0 }
        guard calls.count == 1 else { throw Unexpected(what: "completed \(calls.count) times") }
        return calls[0]
    }
}

extension WriteOutcome {
    /// `7 applied 1043`, `8 rejected not-found`, `9 settled`.
    var brief: String {
        switch verdict {
        case .applied(let revision): "\(number) applied \(revision.map(\.description) ?? "-")"
        case .rejected(let problem): "\(number) rejected \(problem.code)"
        case .settled: "\(number) settled"
        }
    }
}

extension ScannedChanges {
    /// `5 put a/1`, `6 delete a/2`, `7 sweep a/eu-`.
    var brief: [String] {
        changes.map { change in
            switch change.effect {
            case .put(let key, let content, _, let size):
                "\(change.revision) put \(key)\(content == nil ? " without its \(size) bytes" : "")"
            case .delete(let key): "\(change.revision) delete \(key)"
            case .invalidate(.key(let key)): "\(change.revision) invalidate \(key)"
            case .invalidate(.collection(let collection, let prefix)): "\(change.revision) sweep \(collection)/\(prefix)"
            case .invalidate(.everything): "\(change.revision) sweep"
            }
        }
    }
}

extension WriteOperation {
    static func put(json: String) -> WriteOperation { .put(Content(bytes: Array(json.utf8), type: Content.json)) }
    static func patch(json: String) -> WriteOperation { .patch(Array(json.utf8)) }
    static func increment(_ path: String, by amount: Int64 = 1) throws -> WriteOperation {
        .increment(path: try JSONPointer(path), by: .integer(amount))
    }
}

extension Write {
    init(_ number: Int64, _ key: String, _ operation: WriteOperation, ifRevision: Int64? = nil) throws {
        self.init(number: number, key: try RecordKey(key), operation: operation, ifRevision: ifRevision.flatMap { Revision($0) })
    }
}
