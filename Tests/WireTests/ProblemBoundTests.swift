import FreshetWire
import Testing

@Suite("Texts of a problem that are longer than those of a server") struct ProblemBoundTests {
    private static func problem(_ members: String) throws(WireError) -> Problem {
        try Problem(json: Array("{\"status\":412,\(members)}".utf8))
    }

    private static func text(_ count: Int) -> String { String(repeating: "x", count: count) }

    @Test("a detail is shortened to 4 KiB of JSON, a code to 64 bytes, and both are the same when they are read again")
    func shortens() throws {
        for character in ["x", "\\u0001", "\\\"", "😀"] {
            // Given
            let long = String(repeating: character, count: 20_000)
            // When
            let problem = try Self.problem("\"type\":\"urn:freshet:problem:\(long)\",\"detail\":\"\(long)\"")
            // Then
            #expect(problem.detail.utf8.count <= 4_096 && problem.detail.hasSuffix("…") && problem.detail.utf8.count > 600)
            #expect(problem.code.text.utf8.count <= 64 && problem.code.title.utf8.count <= 64)
            #expect(try Problem(json: problem.json) == problem)
        }
    }

    @Test("a type of another program is shortened like a code")
    func otherTypes() throws {
        let problem = try Self.problem("\"type\":\"https://\(Self.text(10_000))\"")
        #expect(problem.code.text.utf8.count == 64 && problem.code.text.hasPrefix("https://"))
    }

    @Test("a right of more than 1 KiB is left out, and texts within their bounds stay as they are")
    func needs() throws {
        for (count, isKept) in [(1_020, true), (1_021, false)] {
            // Given
            let detail = Self.text(4_096)
            let type = "urn:freshet:problem:\(Self.text(64))"
            // When
            let problem = try Self.problem(
                "\"type\":\"\(type)\",\"detail\":\"\(detail)\",\"needs\":{\"may\":\"read\",\"of\":\"\(Self.text(count))\"}")
            // Then
            #expect((problem.needs == Problem.Need(may: "read", of: Self.text(count))) == isKept && (problem.needs == nil) == !isKept)
            #expect(problem.detail == detail && problem.code.text == Self.text(64))
        }
    }

    @Test("a media type that no value has is left out of a record without its value", arguments: [text(256), "a\\u001b/b", "a/b\\n", ""])
    func mediaTypes(type: String) throws {
        // Given a rejection with such a record, When it is read
        let outcome = try WriteOutcome(
            json: Array(
                """
                {"number":1,"status":"rejected","problem":{"status":412,\
                "current":{"key":"c/1","revision":5,"contentType":"\(type)","size":9}}}
                """.utf8))
        // Then
        guard case .rejected(let problem) = outcome.verdict else {
            Issue.record("\(outcome)")
            return
        }
        #expect(problem.current?.contentType == Content.json && problem.current?.size == 9 && problem.current?.content == nil)
    }

    @Test("the outcome of a write is shortened too")
    func outcomes() throws {
        let json = "{\"number\":1,\"status\":\"rejected\",\"problem\":{\"status\":400,\"detail\":\"\(Self.text(1 << 20))\"}}"
        guard case .rejected(let problem) = try WriteOutcome(json: Array(json.utf8)).verdict else {
            Issue.record("no rejection")
            return
        }
        #expect(problem.detail.utf8.count == 4_096)
    }
}
