import FreshetServer
import FreshetWire
import Testing

@Suite struct RecordStoreTests {
    @Test(arguments: StoreKind.allCases)
    func aNamespaceThatNoWriteHasMadeHasAnEpochAndNothingElse(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        // When
        let state = try fixture.store.state(of: fixture.namespace)
        // Then
        #expect(state == NamespaceState(unmade: state.epoch))
        #expect(try fixture.store.state(of: Namespace("other")).epoch != state.epoch)
        let missing = try fixture.store.record(RecordKey("a/1"), in: fixture.namespace)
        #expect(missing.value == nil && missing.state == state)
        #expect(try fixture.store.lastWrite(of: ClientIdentifier("phone"), in: fixture.namespace).value == 0)
        #expect(try fixture.store.records(ListQuery(collection: "a"), in: fixture.namespace).value.records.isEmpty)
        #expect(
            try fixture.store.records(ReadsRequest(items: [.init(key: RecordKey("a/1"))]), in: fixture.namespace).value.missing == [
                RecordKey("a/1")
            ])
        #expect(try fixture.changes(since: .after(state.cursor)).isComplete)
    }

    @Test(arguments: StoreKind.allCases)
    func theFirstWriteAdoptsTheEpochThatWaitersKnow(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        let before = try fixture.store.state(of: fixture.namespace).cursor
        // When
        try fixture.put("a/1", "{}")
        // Then
        #expect(try fixture.store.state(of: fixture.namespace).epoch == before.epoch)
        #expect(try fixture.changes(since: .after(before)).brief == ["1 put a/1"])
    }

    @Test(arguments: StoreKind.allCases)
    func aRecordComesBackWithAllThatBelongsToIt(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        let image = Content(bytes: [0, 255, 10], type: "image/png")
        // When
        try fixture.put("a/1", "{\"name\": \"Ada\"}", at: 1_000)
        try fixture.write("a/å/ä", .put(image), at: 2_000)
        try fixture.write("a/empty", .put(Content(bytes: [], type: "text/plain")), at: 3_000)
        // Then
        let first = try fixture.store.record(RecordKey("a/1"), in: fixture.namespace)
        #expect(first.value?.content == Content(bytes: Array("{\"name\": \"Ada\"}".utf8), type: "application/json"))
        #expect(first.value?.revision.number == 1 && first.value?.modified.milliseconds == 1_000)
        #expect(first.cursor.revision.number == 3)
        #expect(try fixture.store.record(RecordKey("a/å/ä"), in: fixture.namespace).value?.content == image)
        #expect(try fixture.store.record(RecordKey("a/empty"), in: fixture.namespace).value?.size == 0)
    }

    @Test(arguments: StoreKind.allCases)
    func countersFollowEveryKindOfWrite(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        func counters() throws -> [Int] {
            let state = try fixture.store.state(of: fixture.namespace)
            return [Int(state.head.number), state.records, state.bytes]
        }
        // When, then
        try fixture.put("a/1", "[1]")
        #expect(try counters() == [1, 1, 3])
        try fixture.put("a/1", "[1,2]")
        #expect(try counters() == [2, 1, 5])
        try fixture.put("a/2", "{}")
        #expect(try counters() == [3, 2, 7])
        try fixture.write("a/1", .delete)
        #expect(try counters() == [4, 1, 2])
        try fixture.put("a/1", "1")
        #expect(try counters() == [5, 2, 3])
        try fixture.invalidate(.everything)
        #expect(try counters() == [6, 2, 3])
        try fixture.write("a/1", .delete)
        try fixture.compact(before: 2_000)
        #expect(try counters() == [7, 1, 2])
    }

    @Test(arguments: StoreKind.allCases)
    func keysDifferByTheirBytesAlone(_ kind: StoreKind) throws {
        // Given two spellings of é
        let fixture = try StoreFixture(kind)
        // When
        try fixture.put("a/\u{E9}", "1")
        try fixture.put("a/e\u{301}", "2")
        try fixture.put("A/\u{E9}", "3")
        // Then
        #expect(try fixture.value("a/\u{E9}") == "1")
        #expect(try fixture.value("a/e\u{301}") == "2")
        #expect(try fixture.store.state(of: fixture.namespace).records == 3)
    }

    @Test(arguments: StoreKind.allCases)
    func aCollectionIsListedInTheOrderOfBytesAndPageByPage(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        for id in ["b", "a", "eu-2", "eu-1", "eu-", "eu", "z", "Ω", "😀", "a/b"] { try fixture.put("c/\(id)", "1") }
        try fixture.put("d/other", "1")
        try fixture.write("c/z", .delete)
        func page(after: String? = nil, prefix: String = "", limit: Int = 100, bytes: Int = 100) throws -> ([String], String?) {
            let query = ListQuery(collection: "c", after: after, prefix: prefix, limit: limit, byteLimit: bytes)
            let slice = try fixture.store.records(query, in: fixture.namespace).value
            return (slice.records.map(\.key.id), slice.next)
        }
        // When, then
        #expect(try page() == (["a", "a/b", "b", "eu", "eu-", "eu-1", "eu-2", "Ω", "😀"], nil))
        #expect(try page(prefix: "eu-") == (["eu-", "eu-1", "eu-2"], nil))
        #expect(try page(after: "eu-", prefix: "eu-") == (["eu-1", "eu-2"], nil))
        #expect(try page(after: "a", prefix: "eu-", limit: 2) == (["eu-", "eu-1"], "eu-1"))
        #expect(try page(after: "Ω") == (["😀"], nil))
        #expect(try page(after: "nothing") == (["Ω", "😀"], nil))
        #expect(try page(limit: 1) == (["a"], "a"))
        #expect(try page(bytes: 2) == (["a", "a/b"], "a/b"))
        #expect(try page(bytes: 0) == (["a"], "a"))
        #expect(try page(after: "z", prefix: "eu") == ([], nil))
    }

    @Test(arguments: StoreKind.allCases)
    func readsTellOnlyWhatDiffers(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        for id in 1...4 { try fixture.put("a/\(id)", "\(id)") }
        try fixture.write("a/4", .delete)
        // When
        let wanted: [(String, Int64?)] = [("a/1", 1), ("a/2", 1), ("a/3", nil), ("a/4", 4), ("a/5", nil)]
        let items = try wanted.map { key, revision in
            ReadsRequest.Item(key: try RecordKey(key), revision: revision.flatMap { Revision($0) })
        }
        let answer = try fixture.store.records(ReadsRequest(items: items), in: fixture.namespace)
        // Then
        #expect(answer.value.records.map(\.key.description) == ["a/2", "a/3"])
        #expect(answer.value.missing.map(\.description) == ["a/4", "a/5"])
        #expect(answer.cursor.revision.number == 5)
    }

    @Test(arguments: StoreKind.allCases)
    func readsEndAtTheirBoundsAndAnswerEqualKeysOnce(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        for id in 1...4 { try fixture.put("a/\(id)", "\"\(String(repeating: "x", count: 8))\"") }
        func read(_ ids: [Int], _ bounds: ReadBounds, known: Int64? = nil) throws -> DifferingRecords {
            let items = try ids.map { ReadsRequest.Item(key: try RecordKey("a/\($0)"), revision: known.flatMap { Revision($0) }) }
            return try fixture.store.records(ReadsRequest(items: items), within: bounds, in: fixture.namespace).value
        }
        func ids(_ records: [Record]) -> [String] { records.map(\.key.id) }
        // When an answer may hold two values, and keys come again
        let page = try read([1, 1, 9, 2, 1, 3, 4], ReadBounds(bytes: 25))
        // Then it ends before the third record, having named each key once
        #expect(ids(page.records) == ["1", "2"] && page.missing.map(\.id) == ["9"] && page.next == 5)
        // When it may hold none
        let least = try read([9, 9, 3, 3, 4], ReadBounds(bytes: 0))
        // Then there is one record all the same
        #expect(ids(least.records) == ["3"] && least.missing.count == 1 && least.next == 4)
        // When the client has one of them, and the others are repeated
        let known = try read([2, 1, 1, 2], ReadBounds(bytes: 0), known: 1)
        // Then it takes no room
        #expect(ids(known.records) == ["2"] && known.next == nil)
        // When all are to come, two with values
        let all = try read([1, 2, 3, 9], ReadBounds(bytes: 25, coversAll: true))
        // Then the others come without
        #expect(ids(all.records) == ["1", "2", "3"] && all.missing.count == 1 && all.next == nil)
        #expect(all.records.map { $0.content?.bytes.count } == [10, 10, nil] && all.records.allSatisfy { $0.size == 10 })
        // When no value may have so many bytes
        let outlines = try read([1, 2], ReadBounds(bytes: 25, valueBytes: 9, coversAll: true))
        // Then
        #expect(outlines.records.allSatisfy { $0.content == nil && $0.contentType == Content.json && $0.revision > .zero })
    }

    @Test(arguments: StoreKind.allCases)
    func whatATransactionDidIsUndoneWhenItThrows(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        try fixture.put("a/1", "1")
        try fixture.invalidate(.key(RecordKey("a/9")))
        let (store, namespace) = (fixture.store, fixture.namespace)
        let before = try (store.state(of: namespace), fixture.changes(since: .after(fixture.cursor(0))))
        let unmade = try store.state(of: Namespace("unmade"))
        // When
        #expect(throws: Unexpected.self) {
            try store.transaction { transaction in
                let open = try transaction.namespace(namespace)
                let metadata = WriteMetadata(time: WriteTime(milliseconds: 5))
                let key = try RecordKey("a/1")
                _ = try open.put(Content(json: [0x32]), at: key, over: open.existingRow(of: key), metadata)
                let existing = try open.existingRow(of: key)
                _ = try open.delete(key, #require(existing), metadata)
                _ = try open.invalidate(.everything, at: WriteTime(milliseconds: 5))
                try open.keep(
                    [StoredOutcome(number: 1, verdict: .applied(nil))], of: ClientIdentifier("phone"), owner: nil, settled: 0,
                    at: Timestamp(milliseconds: 1))
                let other = try transaction.namespace(Namespace("unmade"))
                _ = try other.put(Content(json: [0x32]), at: key, over: nil, metadata)
                _ = try transaction.drop(namespace)
                try transaction.rotateEpochs(seed: 7)
                throw Unexpected(what: "on purpose")
            }
        }
        // Then
        #expect(try store.state(of: namespace) == before.0)
        #expect(try fixture.changes(since: .after(fixture.cursor(0))) == before.1)
        #expect(try store.state(of: Namespace("unmade")) == unmade)
        #expect(try store.lastWrite(of: ClientIdentifier("phone"), in: namespace).value == 0)
        #expect(try fixture.put("a/1", "3")?.number == 3)
    }

    @Test(arguments: StoreKind.allCases)
    func aDroppedNamespaceNeverGetsAnOldEpochAgain(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        let other = try fixture.store.state(of: Namespace("other")).epoch
        var epochs = [try fixture.store.state(of: fixture.namespace).epoch]
        // When
        #expect(try !fixture.drop())
        for _ in 1...5 {
            try fixture.put("a/1", "1")
            #expect(try fixture.store.state(of: fixture.namespace).epoch == epochs.last)
            #expect(try fixture.drop())
            #expect(try fixture.value("a/1") == nil)
            let state = try fixture.store.state(of: fixture.namespace)
            #expect(state == NamespaceState(unmade: state.epoch))
            epochs.append(state.epoch)
        }
        // Then
        #expect(Set(epochs).count == 6)
        #expect(try fixture.store.state(of: Namespace("other")).epoch == other)
        try fixture.compact(before: 0)
        try fixture.put("a/1", "1")
        #expect(try fixture.store.state(of: fixture.namespace).records == 1)
    }

    @Test(arguments: StoreKind.allCases)
    func namespacesThatWritesHaveMadeAreListedByName(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        for name in ["c", "a", "b"] {
            let namespace = try Namespace(name)
            _ = try fixture.commit { .invalidate([.everything], in: namespace, then: $0) }.result.get()
        }
        _ = try fixture.store.state(of: Namespace("unmade"))
        // When, then
        #expect(try fixture.store.namespaces(limit: 10).map(\.name) == ["a", "b", "c"])
        #expect(try fixture.store.namespaces(limit: 2).map(\.name) == ["a", "b"])
    }

    @Test(arguments: StoreKind.allCases)
    func namespacesAreListedByTheBeginningOfTheirNames(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        for name in ["shop", "shop-z", "shop-1", "shop.a", "shop_b", "shoq", "a"] {
            let namespace = try Namespace(name)
            _ = try fixture.commit { .invalidate([.everything], in: namespace, then: $0) }.result.get()
        }
        // When, then
        let store = fixture.store
        #expect(try store.namespaces(withPrefix: "shop", limit: 9).map(\.name) == ["shop", "shop-1", "shop-z", "shop.a", "shop_b"])
        #expect(try store.namespaces(withPrefix: "shop-", limit: 1).map(\.name) == ["shop-1"])
        #expect(try store.namespaces(withPrefix: "shop-z", limit: 9).map(\.name) == ["shop-z"])
        #expect(try store.namespaces(withPrefix: "b", limit: 9).isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func theStatesOfManyNamespacesAreThoseOfEach(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        let names = try ["unmade", "b", "a", "shop", "b"].map { try Namespace($0) }
        for (place, namespace) in names.dropFirst().enumerated() {
            for _ in 0...place { _ = try fixture.commit { .invalidate([.everything], in: namespace, then: $0) }.result.get() }
        }
        // When
        let states = try fixture.store.states(of: names)
        // Then
        #expect(try states == names.map { try fixture.store.state(of: $0) })
        #expect(states.map(\.head.number) == [0, 5, 2, 3, 5])
        #expect(try fixture.store.states(of: []).isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func rotationGivesEveryNamespaceANewEpochAndLeavesTheRest(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        let unmade = try Namespace("unmade")
        try fixture.put("a/1", "1")
        _ = try fixture.batch([Write(1, "a/2", .put(json: "2"))])
        let before = try [fixture.store.state(of: fixture.namespace), fixture.store.state(of: unmade)]
        // When
        try fixture.commit { .rotateEpochs(seed: 43, then: $0) }.result.get()
        // Then
        let after = try [fixture.store.state(of: fixture.namespace), fixture.store.state(of: unmade)]
        #expect(after[0].epoch != before[0].epoch && after[1].epoch != before[1].epoch)
        #expect(after[0].head == before[0].head && after[0].records == 2)
        #expect(try fixture.store.lastWrite(of: ClientIdentifier("phone"), in: fixture.namespace).value == 1)
        #expect(try fixture.refusal(since: .after(before[0].cursor)) == .epochChanged)
    }
}
