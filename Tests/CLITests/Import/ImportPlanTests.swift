import FreshetWire
import Testing

@testable import freshet

struct ImportPlanTests {
    private func plan(_ text: String, attempt: String = "") throws -> ImportPlan {
        let file = try ImportText(text)
        return try ImportPlan(
            ImportLines(input: file.input, rules: ImportRules()), content: { file.input.hash }, attempt: attempt)
    }

    private let one = #"{"key":"c/1","value":1}"# + "\n"

    @Test func theSameFileIsTheSameClient() throws {
        #expect(try plan(one) == plan(one))
        #expect(try plan(one).client != plan(one, attempt: "1").client)
    }

    @Test func anotherKeyValueOrCountIsAnotherClient() throws {
        for other in [#"{"key":"c/2","value":1}"# + "\n", #"{"key":"c/1","value":2}"# + "\n", one + one] {
            #expect(try plan(one).client != plan(other).client)
        }
    }

    @Test func theRecordsAreCountedAndChecked() throws {
        #expect(try plan(one + one + one).count == 3)
        #expect(try plan("").count == 0)
        let failure = #expect(throws: CommandFailure.self) { try plan(one + one + "{") }
        #expect(failure?.message.hasPrefix("line 3: invalid JSON") == true)
    }
}
