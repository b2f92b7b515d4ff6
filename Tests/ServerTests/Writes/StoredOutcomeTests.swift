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
