#if PostgreSQL
import FreshetPostgreSQL
import FreshetTestSupport
import FreshetWire
import Testing

@testable import FreshetPostgreSQLStore
@testable import FreshetServer

/// PostgreSQL keeps the plan of a statement until it has new statistics, and a table may grow a thousandfold before.
@Suite("Plans of PostgreSQL", .enabled(if: PostgreSQLCluster.isInstalled, Comment(rawValue: PostgreSQLCluster.reason)))
struct StatementPlanTests {
    private let database: PostgreSQLDatabase

    init() throws { database = try PostgreSQLDatabase() }

    /// Explains the statements that the connection has prepared, as the connection would run them now.
    private static let explanation = """
        CREATE FUNCTION freshet.plans() RETURNS TABLE(name text, plan jsonb) LANGUAGE plpgsql AS $$
        DECLARE s record;
        BEGIN
            FOR s IN SELECT p.name, cardinality(parameter_types) AS parameters FROM pg_prepared_statements p
                WHERE statement ~* '^\\s*(SELECT|INSERT|UPDATE|DELETE|WITH)' LOOP
                name := s.name;
                EXECUTE format('EXPLAIN (FORMAT JSON) EXECUTE %I%s', s.name, CASE WHEN s.parameters > 0
                    THEN '(' || array_to_string(array_fill('NULL'::text, ARRAY[s.parameters]), ',') || ')' END) INTO plan;
                RETURN NEXT;
            END LOOP;
        END $$
        """

    private static let names = Statement("names", "SELECT string_agg(name, ' ') FROM freshet.plans()")

    /// The statements that read one of the large tables otherwise than by the first column of a key, and how.
    private static let scans = Statement(
        "scans",
        """
        SELECT coalesce(string_agg(DISTINCT concat_ws(' ', name, node->>'Node Type', node->>'Relation Name', node->>'Index Cond'), '; '), '')
        FROM freshet.plans() CROSS JOIN jsonb_path_query(plan, '$.** ? (exists (@."Relation Name") && @."Node Type" like_regex "Scan")') AS node
        WHERE node->>'Relation Name' IN ('namespace', 'record', 'invalidation', 'client', 'outcome') AND NOT node ? 'TID Cond'
            AND coalesce(node->>'Index Cond', '') !~ CASE node->>'Relation Name' WHEN 'namespace' THEN '\\m(id|name) ' ELSE '\\mnamespace =' END
        """)

    /// These look for rows of all namespaces: the oldest ones, and a sum.
    private static let exempt: Set<Substring> = ["tombstones_before", "invalidations_before", "idle_clients", "totals"]

    private func open() throws -> PostgreSQLRecordStore {
        var configuration = PostgreSQLRecordStore.Configuration()
        (configuration.lanes, configuration.readers) = (1, 1)
        return try PostgreSQLRecordStore(uri: database.uri, configuration: configuration) { 7 }
    }

    /// Does everything that a store does for clients and by itself.
    private func use(_ store: PostgreSQLRecordStore) throws {
        let fixture = try StoreFixture(over: store)
        for number in 1...3 { try fixture.put("a/\(number)", "1") }
        try fixture.write("a/1", .increment(""))
        try fixture.write("a/2", .delete)
        for first in stride(from: Int64(1), through: 1_201, by: 200) {
            _ = try fixture.batch((first..<first + 200).map { try Write($0, "b/\($0 % 3)", .put(json: "1")) }, at: 1)
        }
        _ = try fixture.batch([Write(700, "b/1", .put(json: "1"))], at: 1)
        for scope in try [.key(RecordKey("a/1")), .collection("a", prefix: ""), .everything] as [InvalidationScope] {
            for _ in 1...2 { try fixture.invalidate(.key(RecordKey("a/9")), scope) }
        }
        try fixture.put("a/9", "1")
        _ = try fixture.changes(since: .start)
        _ = try store.records(ListQuery(collection: "a"), in: fixture.namespace)
        _ = try store.records(ReadsRequest(items: [.init(key: RecordKey("a/1"))]), in: fixture.namespace)
        _ = try store.record(RecordKey("a/1"), in: fixture.namespace)
        _ = try store.lastWrite(of: ClientIdentifier("phone"), in: fixture.namespace)
        _ = try store.states(of: [fixture.namespace])
        _ = try store.counts(of: fixture.namespace)
        _ = try store.namespaces(limit: 9)
        _ = try store.totals()
        _ = try fixture.commit { .forgetDeletes(of: fixture.namespace, then: $0) }.result.get()
        try fixture.write("a/3", .delete)
        try fixture.invalidate(.everything)
        _ = try fixture.commit {
            .compact(before: Timestamp(milliseconds: 2_000), outcomesBefore: Timestamp(milliseconds: 90_000_000_000), then: $0)
        }.result.get()
        #expect(try fixture.drop())
        try fixture.compact(before: 2_000)
    }

    @Test("Every statement searches by keys, also if it was planned while the tables had a few rows")
    func plans() throws {
        // Given a store whose statistics say that its tables have a few rows
        try use(try open())
        let fixture = try StoreFixture(over: try open())
        _ = try fixture.batch([Write(1, "a/1", .put(json: "1"))])
        try fixture.invalidate(.key(RecordKey("a/9")))
        try database.cluster.query("VACUUM ANALYZE", in: database.name)
        try database.cluster.query(Self.explanation, in: database.name)
        // When other connections make their plans
        let store = try open()
        _ = try store.put("a/1", in: Namespace("other"))
        try use(store)
        // Then
        func ask(_ statement: Statement) throws -> [String] {
            let ask: @Sendable (Connection) throws -> String = { try $0.run(statement, by: .patient).text(0, 0) }
            let written = try store.transaction { transaction in
                guard let transaction = transaction as? PostgreSQLRecordTransaction else { throw Unexpected(what: "another store") }
                return try ask(transaction.connection)
            }
            return [try store.read(ask), written]
        }
        for found in try ask(Self.scans) {
            let scans = found.split(separator: "; ").filter { !Self.exempt.contains($0.prefix { $0 != " " }) }
            #expect(scans.isEmpty)
        }
        let names = Set(try ask(Self.names).joined(separator: " ").split(separator: " "))
        let expected = """
            lock_namespaces load_namespaces load_records load_clients make_namespaces put_namespaces put_records put_clients add_outcomes
            remove_outcomes add_invalidations remove_invalidations remove_range remove_all_invalidations forget_tombstones
            forget_invalidations forget_outcomes tombstones_of invalidations_of purge_records purge_clients drop state client record list
            records changes namespaces
            """
        #expect(Set(expected.split(whereSeparator: \.isWhitespace)).subtracting(names).isEmpty)
    }

    private static let runs = Statement(
        "runs",
        """
        SELECT coalesce(sum(generic_plans + custom_plans), 0)::bigint FROM pg_prepared_statements WHERE name IN ('load_namespaces', 'state')
        """)

    @Test func theStatesOfManyNamespacesTakeOneStatement() throws {
        // Given
        let store = try open()
        let namespaces = try (0..<256).map { try Namespace("shop-\($0)") }
        // When
        let states = try store.states(of: namespaces)
        // Then
        #expect(states.count == 256)
        #expect(try store.read { try $0.run(Self.runs, by: .patient).int64(0, 0) } == 1)
    }
}
#endif
