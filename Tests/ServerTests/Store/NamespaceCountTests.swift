import FreshetSQLite
import FreshetServer
import FreshetWire
import Testing

/// The counts of a namespace equal the numbers of its rows.
@Suite("Counts of a namespace") struct NamespaceCountTests {
    @Test(arguments: [11, 12, 13, 14] as [UInt64], [StoreKind.sqlite, .forgetfulSQLite])
    func countsAreThoseOfTheRowsWhateverIsDone(_ seed: UInt64, _ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind, seed: seed)
        var script = StoreScript(seed: seed)
        let connection = try Connection(path: try #require(fixture.path))
        for step in 1...200 {
            // When
            _ = try fixture.run(script.group(), at: StoreScript.time(Int64(step * 10)))
            // Then
            var expected = StoreTotals()
            for name in ["other", "shop"] {
                let counted = try Self.counted(name, connection)
                let snapshot = try fixture.store.counts(of: Namespace(name))
                try #require(snapshot.value == counted.counts, "\(name) after step \(step) of seed \(seed)")
                try #require(snapshot.state.records == counted.records && snapshot.state.bytes == counted.bytes)
                expected.add(counted)
            }
            try #require(fixture.store.totals() == expected, "after step \(step) of seed \(seed)")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func anAtomicBatchThatIsRejectedLeavesItsOutcomesAlone(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        try fixture.put("a/1", "1")
        // When
        _ = try fixture.batch([Write(1, "a/1", .delete), Write(2, "a/2", .put(json: "1"), ifRevision: 9)], atomic: true)
        // Then
        let counts = try fixture.store.counts(of: fixture.namespace).value
        #expect(counts.tombstones == 0 && counts.clients == 1 && counts.outcomes == 2 && counts.outcomeBytes > 0)
    }

    @Test(arguments: StoreKind.allCases)
    func outcomesBeyondThoseThatAreKeptAreNotCounted(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        // When
        for start in stride(from: Int64(1), to: 3_000, by: 100) {
            _ = try fixture.batch((start..<start + 100).map { try Write($0, "a/1", .put(json: "\($0)")) })
        }
        // Then: a file keeps some more, so that not each batch has to remove some
        let counts = try fixture.store.counts(of: fixture.namespace).value
        #expect(counts.clients == 1 && (1_000...1_300).contains(counts.outcomes) && counts.outcomeBytes < 10_000)
    }

    @Test(arguments: StoreKind.allCases)
    func aNamespaceThatNothingWasWrittenToHoldsNothing(_ kind: StoreKind) throws {
        let fixture = try StoreFixture(kind)
        #expect(try fixture.store.counts(of: fixture.namespace).value == NamespaceCounts())
        #expect(try fixture.store.totals() == StoreTotals())
    }

    /// Counts the rows of one namespace.
    private static func counted(_ name: String, _ connection: Connection) throws -> StoreTotals {
        var totals = StoreTotals()
        func number(_ sql: String) throws -> Int {
            try connection.withStatement(sql) { row in
                try row.bind(1, name)
                return try row.step() ? Int(row.int64(0)) : 0
            }
        }
        let inside = "namespace = (SELECT id FROM namespace WHERE name = ?)"
        let outcomes = "FROM outcome JOIN client ON client.id = outcome.client WHERE \(inside)"
        totals.namespaces = try number("SELECT count(*) FROM namespace WHERE name = ?")
        totals.records = try number("SELECT count(value) FROM record WHERE \(inside)")
        totals.bytes = try number("SELECT sum(length(value)) FROM record WHERE \(inside)")
        totals.counts.tombstones = try number("SELECT count(*) FROM record WHERE value IS NULL AND \(inside)")
        totals.counts.invalidations = try number("SELECT count(*) FROM invalidation WHERE \(inside)")
        totals.counts.clients = try number("SELECT count(*) FROM client WHERE \(inside)")
        totals.counts.outcomes = try number("SELECT sum(json_array_length(outcomes)) \(outcomes)")
        totals.counts.outcomeBytes = try number("SELECT sum(length(CAST(outcomes AS BLOB))) \(outcomes)")
        return totals
    }
}

extension StoreTotals {
    fileprivate mutating func add(_ other: StoreTotals) {
        namespaces += other.namespaces
        records += other.records
        bytes += other.bytes
        counts.tombstones += other.counts.tombstones
        counts.invalidations += other.counts.invalidations
        counts.clients += other.counts.clients
        counts.outcomes += other.counts.outcomes
        counts.outcomeBytes += other.counts.outcomeBytes
    }
}
