import Testing

@testable import FreshetSQLite

@Suite struct StatementTests {
    @Test func everyTypeComesBackAsItWasBound() throws {
        // Given
        let connection = try Connection(path: ":memory:")
        try connection.execute("CREATE TABLE t(a, b, c, d, e)")
        // When
        try connection.withStatement("INSERT INTO t VALUES(?, ?, ?, ?, ?)") { statement in
            try statement.bind(1, Int64.min)
            try statement.bind(2, "räksmörgås\u{0}tail")
            try statement.bind(3, [0, 255, 1])
            try statement.bind(4, 0.1)
            try statement.bindNull(5)
            try statement.run()
        }
        // Then
        try connection.withStatement("SELECT a, b, c, d, e FROM t") { row in
            try #require(try row.step())
            #expect(row.int64(0) == .min)
            #expect(row.text(1) == "räksmörgås\u{0}tail")
            #expect(row.bytes(2) == [0, 255, 1])
            #expect(row.double(3) == 0.1)
            #expect(row.isNull(4))
            #expect(row.optionalInt64(4) == nil && row.optionalText(4) == nil && row.optionalBytes(4) == nil)
            try #require(try !row.step())
        }
    }

    @Test func emptyIsNotNull() throws {
        // Given
        let connection = try Connection(path: ":memory:")
        // When
        try connection.withStatement("SELECT ?1, ?2, ?3 IS NULL, ?4 IS NULL") { row in
            try row.bind(1, "")
            try row.bind(2, [UInt8]())
            try row.bind(3, nil as String?)
            let stepped = try row.withBound(4, inPlace: []) { () throws(SQLiteError) in
                // Then
                let stepped = try row.step()
                #expect(!row.isNull(0) && row.text(0).isEmpty)
                #expect(!row.isNull(1) && row.optionalBytes(1) == [])
                #expect(row.int64(2) == 1)
                #expect(row.int64(3) == 0)
                return stepped
            }
            #expect(stepped)
        }
    }

    @Test func bytesBoundInPlaceAreStoredAndForgotten() throws {
        // Given
        let connection = try Connection(path: ":memory:")
        try connection.execute("CREATE TABLE t(value BLOB)")
        let value = [UInt8](repeating: 7, count: 10_000)
        // When
        try connection.withStatement("INSERT INTO t VALUES(?)") { statement in
            try statement.withBound(1, inPlace: value) { () throws(SQLiteError) in _ = try statement.step() }
            // Then the parameter is NULL again, so that freed bytes are never read.
            try statement.run()
        }
        try connection.withStatement("SELECT value FROM t ORDER BY rowid") { row in
            try #require(try row.step())
            #expect(row.withBytes(0) { $0.elementsEqual(value) })
            #expect(row.byteCount(0) == 10_000)
            try #require(try row.step())
            #expect(row.isNull(0))
        }
    }

    @Test func aStatementIsResetAndClearedWhenItsUserThrows() throws {
        struct Interruption: Error {}
        // Given
        let connection = try Connection(path: ":memory:")
        try connection.execute("CREATE TABLE t(a); INSERT INTO t VALUES(1), (2)")
        let select: StaticString = "SELECT a FROM t WHERE a >= coalesce(?, 1) ORDER BY a"
        // When
        #expect(throws: Interruption.self) {
            try connection.withStatement(select) { row in
                try row.bind(1, 2)
                _ = try row.step()
                throw Interruption()
            }
        }
        // Then
        try connection.withStatement(select) { row in
            try #require(try row.step())
            #expect(row.int64(0) == 1)
        }
        try connection.execute("DROP TABLE t")
    }

    @Test func oneTextMayBeUsedWithinItself() throws {
        // Given
        let connection = try Connection(path: ":memory:")
        try connection.execute("CREATE TABLE t(a); INSERT INTO t VALUES(1), (2), (3)")
        let select: StaticString = "SELECT a FROM t ORDER BY a"
        // When
        var pairs = 0
        try connection.withStatement(select) { outer in
            while try outer.step() {
                try connection.withStatement(select) { inner in while try inner.step() { pairs += 1 } }
                try connection.withStatement(String("SELECT a FROM t ORDER BY a")) { inner in while try inner.step() { pairs += 1 } }
            }
        }
        // Then
        #expect(pairs == 18)
    }

    @Test func aStatementMayOutliveItsConnection() throws {
        // Given
        var connection: Connection? = try Connection(path: ":memory:")
        let kept = try connection?.withStatement("SELECT 42") { $0 }
        // When
        connection = nil
        // Then
        #expect(try kept?.step() == true)
        #expect(kept?.int64(0) == 42)
    }

    @Test func aWrongTextNamesItself() throws {
        // Given
        let connection = try Connection(path: ":memory:")
        // When
        let error = #expect(throws: SQLiteError.self) { try connection.withStatement("SELEKT 1") { _ in } }
        // Then
        #expect(error?.category == .misuse)
        #expect(error?.message.contains("SELEKT") == true)
        #expect(error?.sql == "SELEKT 1")
        #expect(throws: SQLiteError.self) { try connection.withStatement("") { _ in } }
        #expect(throws: SQLiteError.self) { try connection.withStatement("SELECT ?") { try $0.bind(2, 1) } }
        #expect(throws: SQLiteError.self) { try connection.execute("SELECT \"no such column\"") }
    }
}
