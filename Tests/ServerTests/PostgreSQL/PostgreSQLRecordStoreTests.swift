#if PostgreSQL
import Dispatch
import FreshetPostgreSQL
import FreshetPostgreSQLStore
import FreshetServer
import FreshetTestSupport
import FreshetWire
import Synchronization
import Testing

@Suite("A store in PostgreSQL", .enabled(if: PostgreSQLCluster.isInstalled, Comment(rawValue: PostgreSQLCluster.reason)))
struct PostgreSQLRecordStoreTests {
    private let database: PostgreSQLDatabase
    private let namespace: Namespace

    init() throws {
        database = try PostgreSQLDatabase()
        namespace = try Namespace("shop")
    }

    /// Counts the sessions of the database that wait for a lock.
    private struct LockWaits: ~Copyable, Sendable {
        private static let statement = Statement(
            "waits", "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'")

        private let connection: Mutex<Connection>

        init(_ database: PostgreSQLDatabase) throws { connection = Mutex(try Connection(ConnectionSettings(uri: database.uri))) }

        func count() throws -> Int64 {
            try connection.withLock { try $0.run(Self.statement, by: Deadline(after: .seconds(20))).int64(0, 0) }
        }
    }

    private func open(seed: UInt64 = 7) throws -> PostgreSQLRecordStore { try PostgreSQLRecordStore(uri: database.uri) { seed } }

    @Test func aStoreIsTheSameWhenItIsOpenedAgain() throws {
        // Given
        let first = try open()
        let revision = try first.put("a/1", in: namespace)
        let state = try first.state(of: namespace)
        // When
        let second = try open(seed: 8)
        // Then
        #expect(second.identifier == first.identifier && revision == Revision(1))
        #expect(try second.state(of: namespace) == state)
        #expect(try second.state(of: Namespace("other")) == first.state(of: Namespace("other")))
    }

    @Test func aStepOfTheSchemaMayTakeLong() throws {
        // Given a database that notes the settings of each step
        let cluster = database.cluster
        defer {
            for sql in ["DROP EVENT TRIGGER IF EXISTS note", "DROP SCHEMA noted CASCADE"] { _ = try? cluster.query(sql, in: database.name) }
        }
        try cluster.query(
            """
            CREATE SCHEMA noted;
            CREATE TABLE noted.settings(value text);
            CREATE FUNCTION noted.note() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
                INSERT INTO noted.settings VALUES (current_setting('statement_timeout') || ' ' || current_setting('lock_timeout'));
            END $$;
            CREATE EVENT TRIGGER note ON ddl_command_start EXECUTE FUNCTION noted.note();
            """, in: database.name)
        // When
        _ = try open()
        // Then
        #expect(try cluster.query("SELECT string_agg(DISTINCT value, ', ') FROM noted.settings", in: database.name) == "10min 10min")
    }

    @Test func twoStoresOverOneDatabaseShareTheirWrites() throws {
        // Given
        let (first, second) = (try open(), try open())
        // When
        for _ in 1...10 {
            _ = try first.put("a/1", in: namespace)
            _ = try second.put("a/1", in: namespace)
        }
        // Then
        #expect(try first.state(of: namespace) == second.state(of: namespace))
        #expect(try first.state(of: namespace).head == Revision(20))
    }

    @Test func aNamespaceThatAnotherServerMakesWhileALockIsWaitedForIsLockedToo() throws {
        // Given a server that holds a namespace, and one whose group waits for it and also makes another
        let (hot, new) = (namespace, try Namespace("new"))
        let (holder, maker, writer) = (try open(), try open(), try open())
        _ = try writer.put("a/1", in: hot)
        // A wait for a lock ends after three seconds: all connections are open before.
        _ = try maker.put("a/1", in: Namespace("other"))
        let locks = try LockWaits(database)
        let writes = DispatchGroup()
        try holder.transaction(touching: { TransactionScope(namespaces: [hot]) }) { _ in
            DispatchQueue(label: "test.writer").async(group: writes) {
                do {
                    let submissions = try [hot, new].map { namespace in
                        Submission.single(SingleWrite(key: try RecordKey("a/1"), operation: .put(json: "2")), in: namespace) { _ in }
                    }
                    try GroupCommit.commit(submissions, to: writer, at: WriteTime(milliseconds: 1_000), editLimit: 1_000).complete()
                } catch { Issue.record(error) }
            }
            while try locks.count() == 0 {}
            // When a third one makes it first
            _ = try maker.put("b/1", in: new)
        }
        writes.wait()
        // Then the two writes have different revisions
        let state = try maker.state(of: new)
        #expect(state.head == Revision(2) && state.records == 2)
        let revisions = try ["a/1", "b/1"].map { try maker.record(RecordKey($0), in: new).value?.revision.number }
        #expect(revisions == [2, 1])
    }

    @Test("A change of access rows waits for the transactions that were decided by the former ones, and no longer")
    func accessOrder() throws {
        // Given a transaction that has read the version, and is not committed
        let (inside, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        // A wait for a lock ends after three seconds: all connections are open before.
        let (store, other) = (try open(), try open())
        _ = try (store.accessVersion(), other.accessRows())
        let locks = try LockWaits(database)
        let namespace = namespace
        let journal = Mutex<[String]>([])
        let ends = DispatchGroup()
        let row = AccessRow(.revocation, name: "token:a", value: Array("{}".utf8))
        DispatchQueue(label: "test.writer").async(group: ends) {
            try? store.transaction(touching: { TransactionScope(namespaces: [namespace]) }) { transaction in
                journal.withLock { $0.append("read") }
                _ = try transaction.accessVersion()
                inside.signal()
                mayEnd.wait()
                journal.withLock { $0.append("written") }
            }
        }
        inside.wait()
        // When another server changes a row
        DispatchQueue(label: "test.revoker").async(group: ends) {
            try? other.transaction(touching: { TransactionScope(isWholeStore: true, changesAccess: true) }) { transaction in
                journal.withLock { $0.append("revoked") }
                try transaction.keep(row)
            }
        }
        while try locks.count() == 0 {}
        // Then reads go on
        #expect(try store.accessVersion().number == 0)
        #expect(try other.accessRows().isEmpty)
        mayEnd.signal()
        ends.wait()
        #expect(journal.withLock { $0 } == ["read", "written", "revoked"])
        let seen = try store.transaction(touching: { TransactionScope(namespaces: [namespace]) }) {
            (try $0.accessVersion(), try $0.accessChanges(after: AccessVersion(number: 0)))
        }
        #expect(seen.0.number == 1 && seen.1.rows == [row])
    }

    @Test("Transactions that change access rows without saying so beforehand are all stored")
    func unforeseenAccess() throws {
        let stores = [try open(), try open()]
        let namespace = namespace
        DispatchQueue.concurrentPerform(iterations: 2) { place in
            for number in 0..<10 {
                var isOpen = true
                while isOpen {
                    do {
                        try stores[place].transaction(touching: { TransactionScope(namespaces: [namespace]) }) { transaction in
                            try transaction.keep(AccessRow(.revocation, name: "token:\(place)-\(number)", value: []))
                        }
                        isOpen = false
                    } catch StoreError.overloaded {
                        // On a busy machine the other transaction keeps its lock for longer than this one waits.
                    } catch {
                        Issue.record(error)
                        isOpen = false
                    }
                }
            }
        }
        #expect(try stores[0].accessVersion().number == 20)
        #expect(try stores[1].accessRows().count == 20)
    }

    @Test func anotherHistoryHasOtherAccessRows() throws {
        let store = try open()
        try store.transaction { try $0.keep(AccessRow(.revocation, name: "token:a", value: [])) }
        let version = try store.accessVersion()
        try store.transaction { try $0.rotateEpochs(seed: 5) }
        let changes = try store.accessChanges(after: version)
        #expect(changes.base == nil && changes.version > version && changes.rows.count == 1)
    }

    @Test func aLookupThatFailsFailsAlone() throws {
        // Given a namespace whose row Freshet did not write
        let store = try open()
        for name in ["shop", "broken"] { _ = try store.put("a/1", in: Namespace(name)) }
        try database.cluster.query("UPDATE freshet.namespace SET base = '?' WHERE name = 'broken'", in: database.name)
        // When
        let results = try store.records(["shop", "broken", "shop"].map { RecordLookup(try RecordKey("a/1"), in: try Namespace($0)) })
        // Then
        #expect(results.map { (try? $0.get().value) != nil } == [true, false, true])
    }

    @Test("Lookups that wait in vain for a lock fail together, and do not wait for it again one by one")
    func lookupsWithoutALock() throws {
        // Given a table that another program holds
        let store = try open()
        _ = try store.put("a/1", in: namespace)
        let holder = try Connection(ConnectionSettings(uri: database.uri))
        try holder.execute("BEGIN; LOCK TABLE freshet.record IN ACCESS EXCLUSIVE MODE", by: Deadline(after: .seconds(20)))
        let lookups = try (1...3).map { RecordLookup(try RecordKey("a/\($0)"), in: namespace) }
        let results = Mutex<[Result<Snapshot<Record?>, StoreError>]>([])
        let ends = DispatchGroup()
        // When it holds the table until a second lookup waits, or all have ended
        DispatchQueue(label: "test.reader").async(group: ends) {
            let found = store.records(lookups)
            results.withLock { $0 = found }
        }
        var waits: Set<String> = []
        while waits.count < 2, ends.wait(timeout: .now()) == .timedOut {
            let start = try database.cluster.query(
                "SELECT query_start FROM pg_stat_activity WHERE datname = '\(database.name)' AND wait_event_type = 'Lock'")
            if !start.isEmpty { waits.insert(start) }
        }
        try holder.execute("COMMIT", by: Deadline(after: .seconds(20)))
        ends.wait()
        // Then
        let areBusy = results.withLock { $0 }.map { result in
            if case .failure(.overloaded) = result { true } else { false }
        }
        #expect(areBusy == [true, true, true])
    }

    @Test func aNewerSchemaIsRefused() throws {
        // Given
        _ = try open()
        try database.cluster.query("UPDATE freshet.store SET schema = 99", in: database.name)
        // When
        let error = #expect(throws: StoreError.self) { _ = try open() }
        // Then
        guard case .newerSchema(let path, 99, _)? = error else { throw Unexpected(what: "\(String(describing: error))") }
        #expect(path.hasPrefix("postgres://") && !path.contains("postgres@"))
    }

    @Test func anotherEncodingIsRefused() throws {
        // Given
        let name = "latin\(database.name)"
        try database.cluster.run("createdb", "--encoding", "LATIN1", "--locale", "C", "--template", "template0", name)
        // When
        let error = #expect(throws: StoreError.self) { _ = try PostgreSQLRecordStore(uri: database.cluster.uri(name)) { 7 } }
        // Then
        #expect(error?.description.contains("LATIN1") == true)
        try database.cluster.run("dropdb", name)
    }

    @Test func aServerThatMayLoseCommitsIsRefused() throws {
        // Given
        let cluster = try PostgreSQLCluster(settings: ["fsync = off"])
        // When
        let error = #expect(throws: StoreError.self) { _ = try PostgreSQLRecordStore(uri: cluster.uri("postgres")) { 7 } }
        // Then
        #expect(error?.description.contains("fsync") == true)
    }

    @Test func aRoleThatOwnsOnlyItsDatabaseIsEnough() throws {
        // Given
        let role = "plain\(database.name)"
        try database.cluster.query("CREATE ROLE \(role) LOGIN")
        try database.cluster.run("createdb", "--owner", role, role)
        // When
        let store = try PostgreSQLRecordStore(uri: database.cluster.uri(role, user: role)) { 7 }
        // Then
        #expect(try store.put("a/1", in: namespace) == Revision(1))
        try store.transaction { try $0.touch() }
    }

    @Test(
        "A commit waits for the disk, and warns of a missing standby, whatever the previous user of the connection has set",
        arguments: [["synchronous_commit", "off", "on"], ["client_min_messages", "error", "warning"]])
    func foreignSettings(_ setting: [String]) throws {
        // Given a connection whose setting another program changes, as through a pooler
        var configuration = PostgreSQLRecordStore.Configuration()
        configuration.lanes = 1
        let store = try PostgreSQLRecordStore(uri: database.uri, configuration: configuration) { 7 }
        try database.cluster.query(
            """
            CREATE TABLE freshet.seen(setting text);
            CREATE FUNCTION freshet.change() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN PERFORM set_config('\(setting[0])', '\(setting[1])', false); RETURN NEW; END $$;
            CREATE FUNCTION freshet.see() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN INSERT INTO freshet.seen VALUES (current_setting('\(setting[0])')); RETURN NULL; END $$;
            CREATE TRIGGER change BEFORE INSERT ON freshet.record FOR EACH ROW EXECUTE FUNCTION freshet.change();
            CREATE CONSTRAINT TRIGGER see AFTER INSERT OR UPDATE ON freshet.record DEFERRABLE INITIALLY DEFERRED
                FOR EACH ROW EXECUTE FUNCTION freshet.see();
            """, in: database.name)
        // When
        _ = try store.put("a/1", in: namespace)
        try database.cluster.query("DROP TRIGGER change ON freshet.record", in: database.name)
        _ = try store.put("a/1", in: namespace)
        // Then. The first transaction began with the right setting, and changed it itself.
        let seen = try database.cluster.query("SELECT string_agg(setting, ' ') FROM freshet.seen", in: database.name)
        #expect(seen == "\(setting[1]) \(setting[2])")
    }

    @Test func anotherTimelineGivesEveryNamespaceAnotherEpoch() throws {
        // Given
        let first = try open()
        _ = try first.put("a/1", in: namespace)
        let (made, unmade) = (try first.state(of: namespace), try first.state(of: Namespace("other")))
        // When: as after a failover, the row was last written on another timeline.
        try database.cluster.query("UPDATE freshet.store SET timeline = timeline + 1", in: database.name)
        let second = try open(seed: 99)
        // Then
        let state = try second.state(of: namespace)
        #expect(state.epoch != made.epoch && state.head == made.head && state.records == 1)
        #expect(try second.state(of: Namespace("other")).epoch != unmade.epoch)
        #expect(second.identifier == first.identifier)
        // The first one goes on, in the new epoch.
        #expect(try first.put("a/1", in: namespace) == Revision(2))
        #expect(try first.state(of: namespace).epoch == state.epoch)
    }

    @Test("after a promotion the store states up to where the new history has what the old one had")
    func promotionContinuesTheHistory() throws {
        // Given
        let first = try open()
        for _ in 1...3 { _ = try first.put("a/1", in: namespace) }
        let (old, unmade) = (try first.state(of: namespace), try first.state(of: Namespace("other")))
        func continuation(_ store: PostgreSQLRecordStore, _ state: NamespaceState, _ revision: Int64, in namespace: Namespace) throws
            -> Problem.Continuation?
        {
            let cursor = Cursor(epoch: state.epoch, revision: try #require(Revision(revision)))
            let answer = try store.changes(ChangeQuery(since: .after(cursor)), in: namespace)
            guard case .refused(let refusal) = answer.value else { return nil }
            return refusal.problem(for: cursor, in: answer.state).continuation
        }
        // When: as at a promoted standby, the row was last written on an earlier timeline.
        try database.cluster.query("UPDATE freshet.store SET timeline = timeline - 1", in: database.name)
        let second = try open(seed: 99)
        // Then, before and after the first write
        let epoch = try second.state(of: namespace).epoch
        let (two, fork) = (try #require(Revision(2)), try #require(Revision(3)))
        for _ in 1...2 {
            let found = try continuation(second, old, 2, in: namespace)
            #expect(found?.fork == fork && found?.cursor == Cursor(epoch: epoch, revision: two))
            #expect(try continuation(second, old, 9, in: namespace)?.cursor == Cursor(epoch: epoch, revision: fork))
            _ = try second.put("a/1", in: namespace)
        }
        // A namespace without writes has lost none.
        #expect(try continuation(second, unmade, 0, in: Namespace("other"))?.fork == .zero)
        // When a back-up is restored that begins no timeline
        try second.transaction { try $0.rotateEpochs(seed: 5) }
        // Then nothing is known, neither of the history before nor of the one before that
        for state in [old, try second.state(of: namespace)] { #expect(try continuation(second, state, 2, in: namespace) == nil) }
        let restored = try second.state(of: namespace)
        // When another standby is promoted
        try database.cluster.query("UPDATE freshet.store SET timeline = timeline - 1", in: database.name)
        let third = try open(seed: 100)
        // Then it continues the last history, and no earlier one
        #expect(try continuation(third, restored, 4, in: namespace)?.fork == restored.head)
        #expect(try continuation(third, old, 2, in: namespace) == nil)
    }

    @Test("with 'keep' a promotion leaves the epochs as they are, and nothing else does")
    func promotionKeepsTheEpochs() throws {
        // Given
        func open(seed: UInt64) throws -> PostgreSQLRecordStore {
            var configuration = PostgreSQLRecordStore.Configuration()
            configuration.failover = .keep
            return try PostgreSQLRecordStore(uri: database.uri, configuration: configuration) { seed }
        }
        let first = try open(seed: 7)
        _ = try first.put("a/1", in: namespace)
        let epoch = try first.state(of: namespace).epoch
        // When: as at a promoted standby, the row was last written on an earlier timeline.
        try database.cluster.query("UPDATE freshet.store SET timeline = timeline - 1", in: database.name)
        let second = try open(seed: 99)
        // Then both servers go on in the same epoch
        #expect(try second.put("a/1", in: namespace) == Revision(2))
        #expect(try first.put("a/1", in: namespace) == Revision(3))
        #expect(try second.state(of: namespace).epoch == epoch && first.state(of: namespace).epoch == epoch)
        // When the row was written on a later timeline, or in another cluster, nothing is known of the writes
        for (seed, change) in [(50, "timeline = timeline + 1"), (51, "system = system + 1")] as [(UInt64, String)] {
            let before = try second.state(of: namespace).epoch
            try database.cluster.query("UPDATE freshet.store SET \(change)", in: database.name)
            // Then
            #expect(try open(seed: seed).state(of: namespace).epoch != before)
        }
    }

    @Test func aServerWithAnEarlierStateIsNotUsed() throws {
        // Given
        let store = try open()
        _ = try store.put("a/1", in: namespace)
        try store.transaction { try $0.rotateEpochs(seed: 5) }
        _ = try store.put("a/1", in: namespace)
        // When
        try database.cluster.query("UPDATE freshet.store SET ordinal = ordinal - 1", in: database.name)
        // Then
        let error = #expect(throws: StoreError.self) { _ = try store.put("a/1", in: namespace) }
        guard case .unavailable? = error else { throw Unexpected(what: "\(String(describing: error))") }
        try database.cluster.query("UPDATE freshet.store SET ordinal = ordinal + 1", in: database.name)
        #expect(try store.state(of: namespace).head == Revision(2))
    }

    @Test func aProgramCanEmbedAServerOverPostgreSQL() async throws {
        // Given
        var configuration = RecordServerConfiguration()
        configuration.port = 0
        let server = try RecordServer(configuration, postgreSQL: database.uri)
        // When
        try server.start()
        // Then
        #expect(server.url.hasPrefix("http://127.0.0.1:"))
        await server.stop()
        let error = #expect(throws: RecordServerError.self) {
            try RecordServer(configuration, postgreSQL: "postgres://nobody@/x?host=%2Fnowhere")
        }
        #expect(error?.description.contains("nowhere") == true)
    }

    @Test func rowsThatTheScopeDoesNotNameAreRead() throws {
        // Given
        let store = try open()
        _ = try store.put("a/1", in: namespace)
        let (key, time) = (try RecordKey("a/1"), Timestamp(milliseconds: 5))
        // When
        let seen = try store.transaction(touching: { TransactionScope() }) { [namespace] transaction in
            let shop = try transaction.namespace(namespace)
            let record = try shop.record(key)
            let existing = try shop.existingRow(of: key)
            let other = try transaction.namespace(Namespace("other"))
            _ = try other.put(Content(json: Array("2".utf8)), at: key, over: nil, WriteMetadata(time: WriteTime(time)))
            return (record?.content?.bytes.count, existing?.revision, try other.outline(key)?.revision)
        }
        // Then
        #expect(seen.0 == 1 && seen.1 == Revision(1) && seen.2 == Revision(1))
        #expect(try store.record(key, in: Namespace("other")).value?.revision == Revision(1))
    }

    @Test func theNamesOfAllLanguagesAreOrderedByTheirBytes() throws {
        // Given
        let store = try open()
        let ids = [
            "a", "a\u{10FFFF}", "a\u{10FFFF}b", "\u{D7FF}", "\u{E000}x", "\u{10FFFF}", "\u{10FFFF}\u{10FFFF}z", "Z", "e\u{301}", "\u{E9}",
        ]
        for id in ids { _ = try store.put("a/\(id)", in: namespace) }
        // When
        for prefix in ["", "a", "a\u{10FFFF}", "\u{D7FF}", "\u{10FFFF}", "\u{10FFFF}\u{10FFFF}", "e", "\u{E9}"] {
            let list = try store.records(ListQuery(collection: "a", prefix: prefix), in: namespace).value.records.map(\.key.id)
            // Then
            let expected = ids.filter { $0.utf8.starts(with: prefix.utf8) }.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
            #expect(list.map { Array($0.utf8) } == expected.map { Array($0.utf8) }, "prefix \(prefix)")
        }
    }
}

extension RecordStore {
    /// Puts a record, in a separate transaction.
    func put(_ key: String, in namespace: Namespace, json: String = "1") throws -> Revision? {
        let write = SingleWrite(key: try RecordKey(key), operation: .put(json: json))
        return try single(write, in: namespace)
    }

    func increment(_ key: String, in namespace: Namespace) throws -> Revision? {
        try single(SingleWrite(key: RecordKey(key), operation: .increment("")), in: namespace)
    }

    private func single(_ write: SingleWrite, in namespace: Namespace) throws -> Revision? {
        let recorder = CompletionRecorder<SingleReceipt>()
        try GroupCommit.commit(
            [.single(write, in: namespace, then: recorder.record)], to: self, at: WriteTime(milliseconds: 1_000), editLimit: 1_000
        ).complete()
        return try recorder.once().result.get().revision
    }
}
#endif
