import FreshetWire
import Testing

@Suite struct ProblemTypeTests {
    @Test("a code that begins with a combining character is read as it was written", arguments: ["\u{357}", "urn:freshet:problem:\u{357}"])
    func isTheSameAgain(type: String) throws {
        // Given a problem of such a type
        let problem = try Problem(json: Array("{\"type\":\"\(type)\",\"status\":502}".utf8))
        // When it is written and read again, Then it is the same
        #expect(try Problem(json: problem.json) == problem)
    }
}
