#if PostgreSQL
import FreshetTestSupport
import Glibc
import Testing

@testable import FreshetPostgreSQL

@Suite("Connections to PostgreSQL", .enabled(if: PostgreSQLCluster.isInstalled, Comment(rawValue: PostgreSQLCluster.reason)))
struct ConnectionTests {
    private static let deadline = Duration.seconds(20)

    private func connection(user: String = "postgres", database: String = "postgres") throws -> Connection {
        try Connection(ConnectionSettings(uri: PostgreSQLCluster.shared.get().uri(database, user: user)))
    }

    private static let all = Statement(
        "all",
        """
        SELECT $1::bigint, $2::integer, $3::smallint, $4::boolean, $5::text, $6::bytea, $7::bigint, $8::text, $9::bytea
        """)

    @Test func valuesOfEachTypeComeBackAsTheyWere() throws {
        // Given
        let connection = try connection()
        var parameters = Parameters()
        parameters.add(Int64.min)
        parameters.add(Int32.max)
        parameters.add(Int16(-7))
        parameters.add(true)
        parameters.add("\u{E9}\u{10FFFF}'; --")
        parameters.add([0, 1, 255] as [UInt8])
        parameters.add(Int64?.none)
        parameters.add("")
        parameters.add([UInt8]())
        // When
        let row = try connection.run(Self.all, parameters, by: Deadline(after: Self.deadline))
        // Then
        #expect(try row.int64(0, 0) == .min && row.int64(0, 1) == Int64(Int32.max) && row.int64(0, 2) == -7 && row.bool(0, 3))
        #expect(row.text(0, 4) == "\u{E9}\u{10FFFF}'; --" && row.byteArray(0, 5) == [0, 1, 255])
        #expect(row.isNull(0, 6) && !row.isNull(0, 7) && row.text(0, 7).isEmpty && !row.isNull(0, 8) && row.byteArray(0, 8).isEmpty)
        #expect(try row.optionalInt64(0, 6) == nil)
        #expect(throws: PostgreSQLError.self) { try row.int64(0, 4) }
    }

    private static let arrays = Statement(
        "arrays",
        """
        SELECT * FROM unnest($1::bigint[], $2::integer[], $3::smallint[], $4::boolean[], $5::text[], $6::bytea[])
            AS d(a, b, c, d, e, f)
        """)

    @Test(arguments: [0, 1, 3, 2_000])
    func arraysComeBackAsRows(_ count: Int) throws {
        // Given
        let connection = try connection()
        var parameters = Parameters()
        parameters.add(array: (0..<count).map { $0 == 1 ? nil : Int64($0) })
        parameters.add(array: (0..<count).map { Int32($0) })
        parameters.add(array: (0..<count).map { Int16(-$0) })
        parameters.add(array: (0..<count).map { $0 % 2 == 0 })
        parameters.add(array: (0..<count).map { "{\"\($0),\\}" })
        parameters.add(array: (0..<count).map { $0 == 2 ? nil : [UInt8](repeating: UInt8(truncatingIfNeeded: $0), count: $0) })
        // When
        let rows = try connection.run(Self.arrays, parameters, by: Deadline(after: Self.deadline))
        // Then
        #expect(rows.count == count)
        for row in 0..<count {
            #expect(try rows.optionalInt64(row, 0) == (row == 1 ? nil : Int64(row)))
            #expect(try rows.int64(row, 1) == Int64(row) && rows.int64(row, 2) == Int64(-row) && rows.bool(row, 3) == (row % 2 == 0))
            #expect(rows.text(row, 4) == "{\"\(row),\\}" && rows.isNull(row, 5) == (row == 2))
            if row != 2 { #expect(rows.byteArray(row, 5) == [UInt8](repeating: UInt8(truncatingIfNeeded: row), count: row)) }
        }
    }

    private static let divide = Statement("divide", "SELECT 1 / $1::bigint")
    private static let one = Statement("one", "SELECT 1::bigint")
    private static let begin = Statement("begin", "BEGIN")
    private static let rollback = Statement("rollback", "ROLLBACK")

    @Test func aStatementThatFailsEndsTheExchangeAndNotTheConnection() throws {
        // Given
        let connection = try connection()
        var zero = Parameters()
        zero.add(Int64(0))
        // When
        let error = #expect(throws: PostgreSQLError.self) {
            try connection.exchange(
                [Request(Self.begin), Request(Self.divide, zero), Request(Self.one)], by: Deadline(after: Self.deadline))
        }
        // Then
        #expect(error?.state == "22012" && error?.category == .value && error?.statement == "divide")
        #expect(connection.isUsable && connection.isInTransaction)
        _ = try connection.run(Self.rollback, by: Deadline(after: Self.deadline))
        #expect(!connection.isInTransaction)
        // The statement after the failure had not been prepared either.
        #expect(try connection.run(Self.one, by: Deadline(after: Self.deadline)).int64(0, 0) == 1)
        try connection.execute("SELECT 1; SELECT 2", by: Deadline(after: Self.deadline))
        #expect(throws: PostgreSQLError.self) { try connection.execute("SELECT 1; SELECT nothing", by: Deadline(after: Self.deadline)) }
        #expect(try connection.run(Self.one, by: Deadline(after: Self.deadline)).int64(0, 0) == 1)
    }

    private static let echo = Statement("echo", "SELECT $1::bytea FROM generate_series(1, 4)")

    @Test func muchIsSentAndReceivedAtOnce() throws {
        // Given
        let connection = try connection()
        var parameters = Parameters()
        parameters.add([UInt8](repeating: 7, count: 4 << 20))
        // When
        let results = try connection.exchange(
            (0..<6).map { _ in Request(Self.echo, parameters) }, by: Deadline(after: .seconds(60)))
        // Then
        #expect(results.count == 6 && results.allSatisfy { $0.count == 4 && $0.byteArray(3, 0).count == 4 << 20 })
    }

    private static let pause = Statement("pause", "SELECT pg_sleep(600)")
    private static let end = Statement("end", "SELECT pg_terminate_backend($1::bigint::integer)")

    @Test func aDeadlineEndsTheWaitAndTheConnection() throws {
        // Given
        let connection = try connection()
        // When
        let error = #expect(throws: PostgreSQLError.self) { try connection.run(Self.pause, by: Deadline(after: .milliseconds(50))) }
        // Then
        #expect(error?.category == .timedOut && !connection.isUsable)
        #expect(throws: PostgreSQLError.self) { try connection.run(Self.one, by: Deadline(after: Self.deadline)) }
    }

    @Test func anEndedConnectionSaysSo() throws {
        // Given
        let (connection, other) = (try connection(), try connection())
        var parameters = Parameters()
        parameters.add(Int64(connection.process))
        // When
        _ = try other.run(Self.end, parameters, by: Deadline(after: Self.deadline))
        // Then
        let error = #expect(throws: PostgreSQLError.self) { try connection.run(Self.one, by: Deadline(after: Self.deadline)) }
        #expect(error?.category == .connectionLost && !connection.isUsable)
    }

    @Test func aServerThatIsNotThereAndAWrongPasswordAreToldApart() throws {
        // Given
        let cluster = try PostgreSQLCluster.shared.get()
        try cluster.query("DO $$ BEGIN CREATE ROLE guarded LOGIN PASSWORD 'right'; EXCEPTION WHEN duplicate_object THEN NULL; END $$")
        // When
        let unreachable = #expect(throws: PostgreSQLError.self) {
            try Connection(ConnectionSettings(uri: "postgres://postgres@/postgres?host=%2Fnowhere"))
        }
        let refused = #expect(throws: PostgreSQLError.self) {
            try Connection(ConnectionSettings(uri: "\(cluster.uri("postgres", user: "guarded"))&password=wrong"))
        }
        // Then
        #expect(unreachable?.category == .unreachable)
        #expect(refused?.category == .refused && refused?.description.contains("wrong") == false)
        _ = try Connection(ConnectionSettings(uri: "\(cluster.uri("postgres", user: "guarded"))&password=right"))
    }

    @Test func aServerThatIsFullAndAnUnknownRoleAreToldApart() throws {
        // Given
        let cluster = try PostgreSQLCluster.shared.get()
        try cluster.query(
            "DO $$ BEGIN CREATE ROLE crowded LOGIN CONNECTION LIMIT 0; EXCEPTION WHEN duplicate_object THEN NULL; END $$")
        // When
        let full = #expect(throws: PostgreSQLError.self) {
            try Connection(ConnectionSettings(uri: cluster.uri("postgres", user: "crowded")))
        }
        let unknown = #expect(throws: PostgreSQLError.self) {
            try Connection(ConnectionSettings(uri: cluster.uri("postgres", user: "stranger")))
        }
        // Then
        #expect(full?.category == .tooManyConnections && full?.description.contains("max_connections") == true)
        #expect(unknown?.category == .refused)
    }

    private static let session = Statement(
        "session", "SELECT current_setting('application_name'), current_setting('client_encoding'), 'é'")

    @Test func theStoreDependsOnNoOptionOfTheURI() throws {
        // Given
        let uri = "\(try PostgreSQLCluster.shared.get().uri("postgres"))&client_encoding=LATIN1&application_name=other"
        // When
        let row = try Connection(ConnectionSettings(uri: uri)).run(Self.session, by: Deadline(after: Self.deadline))
        // Then
        #expect([0, 1, 2].map { row.text(0, $0) } == ["freshet", "UTF8", "é"])
    }

    @Test func aStatementThatAPoolerHasLostIsNoMistakeOfTheProgram() {
        for state in ["42P05", "26000"] {
            #expect(PostgreSQLError(state: state, message: "prepared statement").category == .pooled)
        }
    }

    @Test("files that a URI names are read where they were when it was given")
    func files() throws {
        let uri = "postgres://db/shop?sslmode=verify-full&sslrootcert=ca.pem&sslcert=%2Fa.pem&sslkey=token:key"
        let files = try ConnectionSettings(uri: uri).parameters.filter { $0.keyword.hasPrefix("ssl") }
        // Those that are no files stay in the URI alone
        #expect(files.map(\.keyword).sorted() == ["sslcert", "sslrootcert"])
        #expect(files.first { $0.keyword == "sslcert" }?.value == "/a.pem")
        #expect(files.first { $0.keyword == "sslrootcert" }?.value == getcwd(nil, 0).map { String(cString: $0) + "/ca.pem" })
        #expect(try ConnectionSettings(uri: "postgres://db/shop?sslrootcert=system").parameters.count { $0.keyword.hasPrefix("ssl") } == 0)
        let error = #expect(throws: PostgreSQLError.self) { try ConnectionSettings(uri: "postgres://db/shop?sslrootcert=~%2Fca.pem") }
        #expect(error?.category == .invalidURI && error?.message.contains("sslrootcert of the database '~/ca.pem' begins with ~") == true)
    }

    @Test func noTextOfAConnectionHoldsThePassword() throws {
        // Given
        let settings = try ConnectionSettings(uri: "postgres://alice:secret@db.example:6432/shop?sslmode=require")
        // Then
        #expect(settings.label == "postgres://db.example:6432/shop")
        #expect(!"\(settings) \(String(reflecting: settings))".contains("secret"))
        let error = #expect(throws: PostgreSQLError.self) { try ConnectionSettings(uri: "postgres://alice:se%cret@db/shop") }
        #expect(error?.category == .invalidURI && error?.description.contains("cret") == false)
        #expect(throws: PostgreSQLError.self) { try ConnectionSettings(uri: "mysql://db/shop") }
    }
}
#endif
