import Testing

@testable import freshet

@Suite("Lines of an audit log for a person") struct AuditLinesTests {
    private func text(_ line: String, isTerminal: Bool = false) -> String {
        AuditLines(style: Style(isTerminal: false, environment: Environment([:])), isTerminal: isTerminal).text(for: Array(line.utf8))
    }

    @Test("An event is one readable line")
    func events() {
        #expect(
            text(
                #"{"time":"T","event":"right-denied","principal":"id|u7","address":"::1","ns":"shop","detail":"needs read of a/1","request":"GET /v1","count":3}"#
            ) == "T  right-denied           by id|u7 from ::1 in shop: needs read of a/1 (3 more)  GET /v1")
        #expect(
            text(#"{"time":"T","event":"key-created","key":"k","principal":"key:o","detail":"till","other":[1]}"#)
                == "T  key-created            key k by key:o: till")
        #expect(
            text(#"{"time":"T","event":"lines-lost","detail":"lines before","count":1}"#) == "T  lines-lost             lines before (1)")
        #expect(text(#"{"time":"T","event":"server-started"}"#) == "T  server-started")
    }

    @Test("Texts of others cannot control a terminal, in an event or in a line that is none")
    func control() {
        let hostile = #"{"time":"T","event":"token-refused","detail":"\u001b[2J\u202e\u009b","address":"\r\n"}"#
        let shown = text(hostile, isTerminal: true)
        #expect(shown.contains(#"\u{1b}[2J\u{202e}\u{9b}"#) && shown.contains(#"\u{d}\u{a}"#))
        #expect(text("\u{1B}]0;a\u{07}{", isTerminal: true) == #"\u{1b}]0;a\u{7}{"#)
        #expect(text(#"{"time":1}"#) == #"{"time":1}"#)
        #expect(text("") == "")
        #expect(!text(hostile).contains("\n"))
    }
}
