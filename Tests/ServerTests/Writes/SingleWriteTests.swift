import FreshetServer
import FreshetWire
import Testing

@Suite struct SingleWriteTests {
    private func problem(
        _ fixture: StoreFixture, _ key: String, _ operation: WriteOperation, if preconditions: [Precondition] = []
    ) throws -> Problem? {
        let write = SingleWrite(key: try RecordKey(key), operation: operation, preconditions: preconditions)
        let committed = try fixture.commit { .single(write, in: fixture.namespace, then: $0) }
        #expect(try committed.cursor == fixture.store.state(of: fixture.namespace).cursor)
        guard case .failure(let problem) = committed.result else { return nil }
        #expect(problem.current?.content == nil, "the transaction reads no value for an answer")
        return try RejectionRecords.read(problem, at: committed.cursor, in: fixture.namespace, from: fixture.store).problem
    }

    @Test(arguments: StoreKind.allCases)
    func aPutTellsWhetherItMadeTheRecord(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        let write = SingleWrite(key: try RecordKey("a/1"), operation: .put(json: "1"))
        func created() throws -> Bool { try fixture.commit { .single(write, in: fixture.namespace, then: $0) }.result.get().created }
        // When, then
        #expect(try created())
        #expect(try !created())
        try fixture.write("a/1", .delete)
        #expect(try created())
    }

    @Test(arguments: StoreKind.allCases)
    func preconditionsCompareTheRecordAsItIs(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        try fixture.put("a/1", "1")
        try fixture.put("a/2", "2")
        try fixture.write("a/2", .delete)
        let cursor = try fixture.cursor(1)
        let foreign = Cursor(epoch: try #require(Epoch("foreign")), revision: cursor.revision)
        func holds(_ key: String, _ preconditions: Precondition...) throws -> Bool {
            // A delete of another record afterwards is not needed: a put with a precondition changes only what it names.
            guard let problem = try problem(fixture, key, .put(json: "3"), if: preconditions) else { return true }
            #expect(problem.code == .preconditionFailed)
            #expect(try problem.current == fixture.store.record(RecordKey(key), in: fixture.namespace).value)
            return false
        }
        // When, then: all that fail first, since they change nothing
        #expect(try !holds("a/1", .absent))
        #expect(try !holds("a/1", .revision(.zero)))
        #expect(try !holds("a/1", .revision(fixture.cursor(2).revision)))
        #expect(try !holds("a/1", .matches([foreign])))
        #expect(try !holds("a/1", .matches([])))
        #expect(try !holds("a/1", .matchesNone([foreign, cursor])))
        #expect(try !holds("a/1", .exists, .absent))
        #expect(try !holds("a/2", .exists))
        #expect(try !holds("a/2", .matches([fixture.cursor(2), fixture.cursor(3)])))
        #expect(try !holds("a/2", .revision(fixture.cursor(3).revision)))
        #expect(try !holds("a/3", .exists))
        #expect(try fixture.store.state(of: fixture.namespace).head.number == 3)
        #expect(try holds("a/1", .matches([foreign, cursor]), .exists))
        #expect(try holds("a/1", .revision(fixture.cursor(4).revision)))
        #expect(try holds("a/1", .matchesNone([cursor])))
        #expect(try holds("a/2", .absent))
        #expect(try holds("a/3", .revision(.zero)))
    }

    @Test(arguments: StoreKind.allCases)
    func whatIsMissingIsNotFound(_ kind: StoreKind) throws {
        let fixture = try StoreFixture(kind)
        #expect(try problem(fixture, "a/1", .delete)?.code == .notFound)
        #expect(try problem(fixture, "a/1", .delete)?.detail.contains("nothing to delete") == true)
        #expect(try problem(fixture, "a/1", .delete, if: [.exists])?.code == .notFound)
        #expect(try problem(fixture, "a/1", .patch(json: "{}"))?.code == .notFound)
        #expect(try problem(fixture, "a/1", .increment("/n")) == nil)
        #expect(try fixture.value("a/1") == "{\"n\":1}")
    }

    @Test(arguments: StoreKind.allCases)
    func whatIsNoJSONIsRejected(_ kind: StoreKind) throws {
        let fixture = try StoreFixture(kind)
        try fixture.put("a/1", "{}")
        #expect(try problem(fixture, "a/1", .put(json: "{"))?.code == .invalidJSON)
        #expect(try problem(fixture, "a/1", .put(json: ""))?.code == .invalidJSON)
        #expect(try problem(fixture, "a/1", .patch(json: "{\"a\":}"))?.code == .invalidJSON)
        #expect(try problem(fixture, "a/1", .put(Content(bytes: [0xFF], type: "text/plain"))) == nil)
        #expect(try problem(fixture, "a/1", .patch(json: "{}"))?.code == .unsupportedMediaType)
        #expect(try problem(fixture, "a/1", .increment("/n"))?.code == .unsupportedMediaType)
    }

    @Test(arguments: StoreKind.allCases)
    func aValueMayNotGrowBeyondTheLimit(_ kind: StoreKind) throws {
        let fixture = try StoreFixture(kind)
        try fixture.put("a/1", "{\"a\":1}")
        let long = String(repeating: "x", count: 1_000)
        #expect(try problem(fixture, "a/1", .patch(json: "{\"b\":\"\(long)\"}"))?.code == .tooLarge)
        #expect(try fixture.value("a/1") == "{\"a\":1}")
    }

    @Test(arguments: StoreKind.allCases)
    func incrementsCountFromZero(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        try fixture.put("a/1", "{\"name\": \"Ada\", \"list\": [1, 2]}")
        // When
        try fixture.write("a/1", .increment("/visits"))
        try fixture.write("a/1", .increment("/visits", by: 41))
        try fixture.write("a/1", .increment("/list/1", by: -5))
        try fixture.write("a/2", .increment("", by: 3))
        try fixture.write("a/2", .increment("", by: 4))
        // Then
        #expect(try fixture.value("a/1") == "{\"name\":\"Ada\",\"list\":[1,-3],\"visits\":42}")
        #expect(try fixture.value("a/2") == "7")
        let refused = try problem(fixture, "a/1", .increment("/name"))
        #expect(refused?.code == .invalidRequest)
        #expect(try refused?.current == fixture.store.record(RecordKey("a/1"), in: fixture.namespace).value)
    }

    @Test(
        arguments: [
            ("{\"a\":1}", "{\"b\":2}", "{\"a\":1,\"b\":2}"),
            ("{\"a\":1,\"b\":2}", "{\"a\":null}", "{\"b\":2}"),
            ("{\"a\":{\"b\":1}}", "{\"a\":{\"b\":null,\"c\":{\"d\":null,\"e\":1}}}", "{\"a\":{\"c\":{\"e\":1}}}"),
            ("{\"a\":[1,2]}", "{\"a\":{\"b\":1}}", "{\"a\":{\"b\":1}}"),
            ("[1, 2]", "{\"a\":1,\"b\":null}", "{\"a\":1}"),
            ("5", "{}", "{}"),
            ("{\"a\":1}", "[null]", "[null]"),
            ("{\"a\":1}", "null", "null"),
            ("{\"a\":1}", "\"text\"", "\"text\""),
            ("{\"big\": 12345678901234567890.10, \"e\": 1E5}", "{\"x\":1.0}", "{\"big\":12345678901234567890.10,\"e\":1E5,\"x\":1.0}"),
            ("{\"\\u0061\":1}", "{\"a\":2}", "{\"a\":2}"),
            ("{\"a\":1}", "{\"\\u0061\":2}", "{\"a\":2}"),
            ("{\"a\":\"line\\n\"}", "{\"b\":\"\u{E9}\"}", "{\"a\":\"line\\n\",\"b\":\"\u{E9}\"}"),
            ("{\"\":1,\"a b\":2}", "{\"\":null,\"a b\":3}", "{\"a b\":3}"),
            ("{\"a\":null}", "{\"b\":1}", "{\"a\":null,\"b\":1}"),
        ], StoreKind.allCases)
    func mergePatchesFollowTheStandardInEveryStore(_ example: (value: String, patch: String, result: String), _ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        try fixture.put("a/1", example.value)
        // When
        try fixture.write("a/1", .patch(json: example.patch))
        // Then
        #expect(try fixture.value("a/1") == example.result)
    }

    @Test(arguments: StoreKind.allCases)
    func valuesThatAreNoJSONAfterAllRejectThePatchAlone(_ kind: StoreKind) throws {
        // Given a batch that was made in the program, so that nobody checked its values
        let fixture = try StoreFixture(kind)
        // When
        let verdicts = try fixture.batch([
            Write(1, "a/1", .put(json: "{\"a\":")), Write(2, "a/1", .patch(json: "{}")), Write(3, "a/1", .increment("/a")),
            Write(4, "a/2", .put(json: "{}")), Write(5, "a/2", .patch(json: "{")),
        ])
        // Then
        #expect(
            verdicts == [
                "1 applied 1", "2 rejected invalid-request", "3 rejected invalid-request", "4 applied 2", "5 rejected invalid-request",
            ])
    }
}
