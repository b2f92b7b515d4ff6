import FreshetWire
import Testing

@testable import freshet

struct TerminalTests {
    @Test(arguments: [
        (true, [:], true),
        (false, [:], false),
        (true, ["NO_COLOR": "1"], false),
        (true, ["NO_COLOR": ""], true),
        (true, ["TERM": "dumb"], false),
    ])
    func coloursAreForTerminalsThatWantThem(isTerminal: Bool, variables: [String: String], isOn: Bool) {
        #expect(Style(isTerminal: isTerminal, environment: Environment(variables)).isOn == isOn)
    }

    @Test(arguments: [(0, "0"), (999, "999"), (1_000, "1,000"), (7_910, "7,910"), (1_234_567, "1,234,567"), (-1_000, "-1,000")])
    func thousandsAreGrouped(number: Int, text: String) {
        #expect(grouped(number) == text)
    }

    @Test func aRecordIsOneLineAsWideAsTheTerminal() throws {
        // Given a record whose value holds terminal commands
        let content = Content(bytes: Array("{\"a\":\"\u{1B}[31m\",\n\"b\":1}".utf8), type: Content.json)
        let record = Record(
            key: try RecordKey("c/x\u{7}"), revision: try #require(Revision(42)), content: content, modified: Timestamp(milliseconds: 0))
        // When it is printed without colours, 30 characters wide
        let line = RecordLines(style: Style(isTerminal: false, environment: Environment([:])), width: 30).line(for: record)
        // Then it is harmless and no wider
        #expect(line == "      42  x\\u{7}  {\"a\":\"\\u{1b}")
        #expect(line.count == 30)
    }

    @Test func aChangeSaysWhatItReaches() throws {
        let lines = RecordLines(style: Style(isTerminal: false, environment: Environment([:])), width: nil)
        let revision = try #require(Revision(7))
        let changes: [Change] = [
            Change(revision: revision, effect: .delete(try RecordKey("c/1"))),
            Change(revision: revision, effect: .invalidate(.collection("c", prefix: "eu-"))),
            Change(revision: revision, effect: .invalidate(.everything)),
            Change(revision: revision, effect: .put(try RecordKey("c/1"), content: nil, contentType: "image/png", size: 70_000)),
        ]
        #expect(
            changes.map(lines.line(for:)) == [
                "       7  delete      c/1", "       7  invalidate  c/eu-*", "       7  invalidate  *",
                "       7  put         c/1  (image/png, 70,000 bytes)",
            ])
    }
}
