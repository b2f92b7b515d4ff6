import FreshetTrust
import FreshetWire
import Testing

@testable import FreshetServer

/// The kept outcome of a decided write is small, whatever the request was.
@Suite("Kept outcomes") struct StoredOutcomeTests {
    private static let codes: [ProblemCode] = [
        .notFound, .preconditionFailed, .invalidJSON, .invalidKey, .invalidRequest, .batchRejected, .tooLarge, .unsupportedMediaType,
        .storageFailed, .storageFull,
    ]

    @Test(arguments: codes, ["a", "\u{1}", "\"", "é", "😀"])
    func anOutcomeTakesAtMostOneKibibyte(_ code: ProblemCode, _ character: String) throws {
        // Given
        let detail = String(repeating: character, count: 5_000).shortened(toJSONBytes: StoredOutcome.detailLimit)
        let problem = Problem(code, detail, expected: 9_007_199_254_740_991)
        // When
        let bytes = StoredOutcome.encode([StoredOutcome(number: 1, verdict: .rejected(problem), showsRecord: true)])
        // Then
        #expect(bytes.count <= 1_024 && detail.hasSuffix("…") && detail.utf8.count > 100)
        let read = try #require(StoredOutcome.decode(bytes, last: 1).first)
        #expect(read.verdict == .rejected(problem) && read.showsRecord)
    }

    @Test(arguments: StoreKind.allCases)
    func aRepeatAnswersTheSameShortenedTexts(_ kind: StoreKind) throws {
        // Given: keys and pointers that JSON writes six times as long
        let fixture = try StoreFixture(kind)
        let id = String(repeating: "\u{1}", count: 512)
        let path = "/" + String(repeating: "\u{2}", count: 3_000)
        try fixture.put("a/\(id)", #"{"a":1}"#)
        try fixture.write("b/\(id)", .put(Content(bytes: [1], type: "image/png")))
        let writes = try [
            Write(1, "c/\(id)", .patch(json: "{}")), Write(2, "a/\(id)", .increment("/a\(path)")), Write(3, "b/\(id)", .patch(json: "{}")),
            Write(4, "a/\(id)", .increment("/a/0\(path)")), Write(5, "a/\(id)", .delete, ifRevision: 9),
            Write(6, "a/\(id)", .patch(json: #"{"b":"\#(String(repeating: "x", count: 2_000))"}"#)),
        ]
        let batch = WriteBatch(client: try ClientIdentifier("phone"), writes: writes)
        // When
        let first = try fixture.commit { .batch(batch, in: fixture.namespace, then: $0) }.result.get()
        let again = try fixture.commit { .batch(batch, in: fixture.namespace, then: $0) }.result.get()
        // Then
        #expect(first == again)
        #expect(first.allSatisfy { $0.brief.contains("rejected") }, "\(first.map(\.brief))")
        for outcome in first {
            guard case .rejected(var problem) = outcome.verdict else { continue }
            problem.current = nil
            #expect(StoredOutcome.encode([StoredOutcome(number: 1, verdict: .rejected(problem), showsRecord: true)]).count <= 1_024)
        }
        let counts = try fixture.store.counts(of: fixture.namespace).value
        #expect(counts.outcomes == 6 && counts.outcomeBytes <= 6 * 1_024)
    }

    @Test func aRefusalWithTheLongestTextAndRightTakesAtMostOneKibibyte() {
        // Given
        var problem = Problem(.forbidden, String(repeating: "x", count: StoredOutcome.detailLimit))
        let room = StoredOutcome.needsLimit - Problem.Need(may: "write", of: "").json.count
        problem.needs = Problem.Need(may: "write", of: String(repeating: "x", count: room))
        let outcome = StoredOutcome(number: 1, verdict: .rejected(problem), nonce: 9_007_199_254_740_991)
        // When, then
        #expect(StoredOutcome.encode([outcome]).count <= 1_024)
    }

    @Test(arguments: StoreKind.allCases)
    func aRefusalHasItsRightOnlyIfThatIsShort(_ kind: StoreKind) throws {
        // Given a writer without rights, and rights that are short, as long as may be, a byte longer, and six times as long in JSON
        let fixture = try StoreFixture(kind)
        try fixture.put("a/1", "1")
        let access = WriteAccess(Rights.none, in: fixture.namespace, owner: ClientOwner(text: "user"), end: nil)
        let room = StoredOutcome.needsLimit - Problem.Need(may: "write", of: "shop:b/").json.count
        let long = [("x", room), ("x", room + 1), ("\u{1}", 512)]
        let ids = ["1"] + long.map { String(repeating: $0.0, count: $0.1) }
        let writes = try ids.indices.map { index in
            var write = try Write(Int64(index) + 1, "b/\(ids[index])", .delete)
            write.nonce = 9_007_199_254_740_991
            return write
        }
        let batch = WriteBatch(client: try ClientIdentifier("phone"), writes: writes)
        // When
        let first = try fixture.commit { .batch(batch, in: fixture.namespace, by: access, then: $0) }.result.get()
        let again = try fixture.commit { .batch(batch, in: fixture.namespace, by: access, then: $0) }.result.get()
        // Then
        #expect(first == again)
        #expect(first.map(\.brief) == (1...4).map { "\($0) rejected forbidden" })
        let needs = first.map { outcome -> Problem.Need? in
            guard case .rejected(let problem) = outcome.verdict else { return nil }
            return problem.needs
        }
        #expect(needs == [Problem.Need(may: "write", of: "shop:b/1"), Problem.Need(may: "write", of: "shop:b/\(ids[1])"), nil, nil])
        for (outcome, write) in zip(first, writes) {
            let kept = StoredOutcome(number: outcome.number, verdict: outcome.verdict, nonce: write.nonce)
            #expect(StoredOutcome.encode([kept]).count <= 1_024)
        }
    }

    @Test func outcomesOfAnEarlierVersionAreRead() throws {
        // Given
        let text =
            #"[4,null,{"problem":{"type":"urn:freshet:problem:precondition-failed","title":"t","status":412,"detail":"d"},"key":"a/1"}]"#
        // When
        let outcomes = try StoredOutcome.decode(Array(text.utf8), last: 9)
        // Then
        #expect(outcomes.map(\.number) == [7, 8, 9] && outcomes.map(\.showsRecord) == [false, false, true])
    }
}
