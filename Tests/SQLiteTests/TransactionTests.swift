import FreshetTestSupport
import Testing

@testable import FreshetSQLite

@Suite struct TransactionTests {
    struct Interruption: Error {}

    private func counted(_ connection: Connection) throws -> Int64 {
        try connection.withStatement("SELECT count(*) FROM t") { try $0.step() ? $0.int64(0) : -1 }
    }

    @Test func committedWhenItReturnsAndUndoneWhenItThrows() throws {
        // Given
        let connection = try Connection(path: ":memory:")
        try connection.execute("CREATE TABLE t(a)")
        // When
        let row = try connection.transaction {
            try connection.execute("INSERT INTO t VALUES(1)")
            return connection.lastInsertedRow
        }
        #expect(throws: Interruption.self) {
            try connection.transaction {
                try connection.execute("INSERT INTO t VALUES(2)")
                throw Interruption()
            }
        }
        // Then
        #expect(row == 1)
        #expect(try counted(connection) == 1)
        #expect(!connection.isInTransaction)
        #expect(connection.totalChanges == 2)
    }

    @Test func aSavepointUndoesItsPartAlone() throws {
        // Given
        let connection = try Connection(path: ":memory:")
        try connection.execute("CREATE TABLE t(a)")
        // When
        try connection.transaction {
            try connection.execute("INSERT INTO t VALUES(1)")
            #expect(throws: Interruption.self) {
                try connection.savepoint {
                    try connection.execute("INSERT INTO t VALUES(2)")
                    try connection.savepoint { try connection.execute("INSERT INTO t VALUES(3)") }
                    throw Interruption()
                }
            }
            try connection.savepoint { try connection.execute("INSERT INTO t VALUES(4)") }
        }
        // Then
        #expect(try counted(connection) == 2)
    }

    @Test func aReadTransactionSeesOneState() throws {
        // Given
        let directory = TemporaryDirectory()
        let writer = try Connection(path: directory.file("a"))
        try writer.pragma("journal_mode = WAL")
        try writer.execute("CREATE TABLE t(a); INSERT INTO t VALUES(1)")
        let reader = try Connection(path: directory.file("a"), mode: .readOnly)
        // When
        try reader.readTransaction {
            let before = try counted(reader)
            try writer.execute("INSERT INTO t VALUES(2)")
            // Then
            #expect(before == 1)
            #expect(try counted(reader) == 1)
        }
        #expect(try counted(reader) == 2)
    }

    @Test func aFullDiskUndoesTheTransactionAndTheNextOneIsTriedAfresh() throws {
        // Given
        let directory = TemporaryDirectory()
        let connection = try Connection(path: directory.file("a"))
        try connection.pragma("journal_mode = WAL")
        try connection.execute("CREATE TABLE t(a)")
        try connection.pragma("max_page_count = 10")
        // When
        do {
            try connection.transaction {
                try connection.execute("INSERT INTO t VALUES(1)")
                try connection.execute("INSERT INTO t VALUES(zeroblob(1000000))")
            }
            Issue.record("a million bytes fitted into ten pages")
        } catch let error as SQLiteError where error.category == .full {
            // Then
            #expect(!connection.isInTransaction)
        }
        #expect(try counted(connection) == 0)
        try connection.transaction { try connection.execute("INSERT INTO t VALUES(3)") }
        #expect(try counted(connection) == 1)
    }

    @Test func twoWritersAreBusy() throws {
        // Given
        let directory = TemporaryDirectory()
        let first = try Connection(path: directory.file("a"))
        try first.execute("CREATE TABLE t(a)")
        let second = try Connection(path: directory.file("a"), mode: .readWrite, busyTimeout: 0)
        // When
        try first.transaction {
            // Then
            let error = #expect(throws: SQLiteError.self) { try second.transaction {} }
            #expect(error?.category == .busy)
        }
        try second.transaction { try second.execute("INSERT INTO t VALUES(1)") }
    }
}
