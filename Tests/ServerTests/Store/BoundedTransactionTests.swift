import FreshetServer
import FreshetWire
import Testing

/// No transaction holds up all writers to remove rows that have accumulated.
@Suite("Bounded transactions") struct BoundedTransactionTests {
    @Test(arguments: [InvalidationScope.everything, .collection("a", prefix: "k")])
    func aSweepOverManyInvalidationsRemovesThemBitByBit(_ scope: InvalidationScope) throws {
        // Given
        let fixture = try StoreFixture(.sqlite)
        let keys = try (1...2_500).map { InvalidationScope.key(try RecordKey("a/k\($0)")) }
        _ = try fixture.commit { .invalidate(keys, in: fixture.namespace, then: $0) }.result.get()
        func held() throws -> Int { try fixture.store.counts(of: fixture.namespace).value.invalidations }
        // When
        try fixture.invalidate(scope)
        // Then: the remaining invalidations add nothing for followers, and the sweep is the last
        #expect(try held() == 1_501)
        let cursor = try fixture.cursor(2_500)
        #expect(try fixture.changes(since: .after(cursor)).changes.map(\.effect) == [.invalidate(scope)])
        #expect(try fixture.changes(since: .after(fixture.cursor(0)), limit: 10_000).changes.count == 1_501)
        // When there are two in one transaction
        _ = try fixture.commit { .invalidate([scope, scope], in: fixture.namespace, then: $0) }.result.get()
        #expect(try held() == 501)
        try fixture.invalidate(scope)
        // Then
        #expect(try held() == 1)
        #expect(try fixture.changes(since: .after(fixture.cursor(0))).changes.map(\.revision.number) == [2_504])
    }

    @Test(
        "the sweeps of one transaction remove 1,000 invalidations together, however many they are",
        arguments: [StoreKind.sqlite] + StoreKind.shared)
    func manySweepsShareTheBound(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        let keys = try (1...4_000).map { InvalidationScope.key(try RecordKey("a/\(String(repeating: "k", count: 40))\($0)")) }
        _ = try fixture.commit { .invalidate(keys, in: fixture.namespace, then: $0) }.result.get()
        func held() throws -> Int { try fixture.store.counts(of: fixture.namespace).value.invalidations }
        // When sweeps of which each covers the next come in one transaction, and others beside them
        let nested = (0...40).map { InvalidationScope.collection("a", prefix: String(repeating: "k", count: $0)) }
        let others = (1...9).map { InvalidationScope.collection("a", prefix: String(repeating: "k", count: 40) + "\($0)") }
        for scopes in [nested.reversed(), others] {
            let before = try held()
            _ = try fixture.commit { .invalidate(scopes, in: fixture.namespace, then: $0) }.result.get()
            // Then they remove some, and no more than one may
            #expect(try held() - before < scopes.count && held() - before >= -1_000)
        }
        // And the sweep of everything is the last change that a reader gets
        try fixture.invalidate(.everything)
        let cursor = try fixture.cursor(4_000 + 50)
        #expect(try fixture.changes(since: .after(cursor)).changes.map(\.effect) == [.invalidate(.everything)])
    }

    @Test func recordsOfADroppedNamespaceAreClearedAwayByBytesToo() throws {
        // Given
        let fixture = try StoreFixture(.sqlite)
        let large = Content(bytes: [UInt8](repeating: 1, count: 3 << 20), type: "image/png")
        for number in 1...7 { try fixture.write("a/\(number)", .put(large)) }
        #expect(try fixture.drop())
        // When
        var steps: [Compaction] = []
        repeat {
            steps.append(try fixture.commit { .compact(before: Timestamp(milliseconds: 0), then: $0) }.result.get())
        } while steps.last?.isComplete == false
        // Then: a step ends with the record that reaches 8 MiB; the last removes the row of the drop too
        #expect(steps.map(\.purged) == [3, 3, 2])
    }

    @Test func outcomesOfADroppedNamespaceAreClearedAwayByBytesToo() throws {
        // Given: some 20 MB of outcomes
        let fixture = try StoreFixture(.sqlite)
        let detail = String(repeating: "x", count: StoredOutcome.detailLimit)
        let outcomes = (1...1_000).map { StoredOutcome(number: $0, verdict: .rejected(Problem(.tooLarge, detail))) }
        let namespace = fixture.namespace
        try fixture.store.transaction { transaction in
            let open = try transaction.namespace(namespace)
            for client in 1...22 {
                try open.keep(outcomes, of: ClientIdentifier("phone-\(client)"), owner: nil, settled: 0, at: Timestamp(milliseconds: 1))
            }
        }
        #expect(try fixture.store.counts(of: namespace).value.outcomes == 22_000)
        #expect(try fixture.drop())
        // When
        var steps: [Compaction] = []
        repeat {
            steps.append(try fixture.commit { .compact(before: Timestamp(milliseconds: 0), then: $0) }.result.get())
        } while steps.last?.isComplete == false
        // Then: for each device its row and 32 of outcomes, and the row of the drop
        #expect(steps.count == 3 && steps.map(\.purged).reduce(0, +) == 22 * 33 + 1)
    }
}
