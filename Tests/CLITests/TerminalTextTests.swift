import FreshetWire
import Testing

@testable import freshet

struct TerminalTextTests {
    /// The replacement of a character in a value, in a line and in JSON; `nil` if it is kept.
    struct Row: Sendable {
        let character: String
        let value: String?
        let line: String?
        let json: String?

        init(_ character: String, _ value: String?, _ line: String?, _ json: String?) {
            (self.character, self.value, self.line, self.json) = (character, value, line, json)
        }
    }

    private static let rows: [Row] = [
        // C0, DEL and C1
        Row("\0", #"\u{0}"#, #"\u{0}"#, #"\u0000"#), Row("\u{7}", #"\u{7}"#, #"\u{7}"#, #"\u0007"#),
        Row("\t", nil, #"\u{9}"#, nil), Row("\n", nil, #"\u{a}"#, nil), Row("\r", #"\u{d}"#, #"\u{d}"#, " "),
        Row("\u{1B}", #"\u{1b}"#, #"\u{1b}"#, #"\u001b"#), Row("\u{1F}", #"\u{1f}"#, #"\u{1f}"#, #"\u001f"#),
        Row("\u{7F}", #"\u{7f}"#, #"\u{7f}"#, #"\u007f"#), Row("\u{80}", #"\u{80}"#, #"\u{80}"#, #"\u0080"#),
        Row("\u{9B}", #"\u{9b}"#, #"\u{9b}"#, #"\u009b"#), Row("\u{9F}", #"\u{9f}"#, #"\u{9f}"#, #"\u009f"#),
        // Bidirectional controls and separators
        Row("\u{61C}", #"\u{61c}"#, #"\u{61c}"#, #"\u061c"#), Row("\u{200E}", #"\u{200e}"#, #"\u{200e}"#, #"\u200e"#),
        Row("\u{200F}", #"\u{200f}"#, #"\u{200f}"#, #"\u200f"#), Row("\u{2028}", #"\u{2028}"#, #"\u{2028}"#, #"\u2028"#),
        Row("\u{2029}", #"\u{2029}"#, #"\u{2029}"#, #"\u2029"#), Row("\u{202A}", #"\u{202a}"#, #"\u{202a}"#, #"\u202a"#),
        Row("\u{202E}", #"\u{202e}"#, #"\u{202e}"#, #"\u202e"#), Row("\u{2066}", #"\u{2066}"#, #"\u{2066}"#, #"\u2066"#),
        Row("\u{2069}", #"\u{2069}"#, #"\u{2069}"#, #"\u2069"#),
        // Characters that are kept, among them the neighbours of those that are not
        Row(" ", nil, nil, nil), Row("~", nil, nil, nil), Row("\\", nil, nil, nil), Row("\u{A0}", nil, nil, nil), Row("é", nil, nil, nil),
        Row("\u{61B}", nil, nil, nil), Row("\u{200D}", nil, nil, nil), Row("\u{2010}", nil, nil, nil), Row("\u{2027}", nil, nil, nil),
        Row("\u{202F}", nil, nil, nil), Row("\u{2065}", nil, nil, nil), Row("\u{206A}", nil, nil, nil), Row("שלום", nil, nil, nil),
        Row("👩‍👩‍👧", nil, nil, nil),
    ]

    @Test(arguments: rows)
    func charactersThatCommandATerminalBecomeVisible(_ row: Row) {
        // Combining characters would merge with their neighbours, so bytes are compared.
        for (form, expected) in [(TerminalText.Form.value, row.value), (.line, row.line), (.json, row.json)] {
            let escaped = TerminalText.escaped(Array("a\(row.character)b".utf8), as: form)
            #expect(escaped == Array("a\(expected ?? row.character)b".utf8), "\(form)")
        }
    }

    @Test(
        arguments: [
            ([0x9B], #"\x9b"#, #"\ufffd"#), ([0x61, 0xFF, 0x62], #"a\xffb"#, #"a\ufffdb"#),
            // A sequence that is cut off, one that is too long, a surrogate, and a control spelt in two bytes
            ([0xE2, 0x80], #"\xe2\x80"#, #"\ufffd\ufffd"#), ([0xC1, 0x9B], #"\xc1\x9b"#, #"\ufffd\ufffd"#),
            ([0xED, 0xA0, 0x80, 0x61], #"\xed\xa0\x80a"#, #"\ufffd\ufffd\ufffda"#), ([0xE2, 0x1B], #"\xe2\u{1b}"#, #"\ufffd\u001b"#),
            ([], "", ""),
        ] as [([UInt8], String, String)])
    func bytesThatAreNoUTF8BecomeVisible(bytes: [UInt8], text: String, json: String) {
        #expect(TerminalText.escaped(bytes, as: .value) == Array(text.utf8))
        #expect(TerminalText.escaped(bytes, as: .line) == Array(text.utf8))
        #expect(TerminalText.escaped(bytes, as: .json) == Array(json.utf8))
    }

    @Test func jsonStaysTheSameJSON() throws {
        // Given JSON with all kinds of white space between its tokens, and characters to escape in its strings
        let json = "{\r\n\t\"a\u{7F}\u{9B}\" :\r\"\u{202E}x\u{2028}\\u001b\\\\\"\n}"
        // When
        let escaped = TerminalText.escaped(Array(json.utf8), as: .json)
        // Then a reader finds the same member, and a terminal no command
        var reader = JSONReader(escaped)
        try reader.beginObject()
        #expect(try reader.nextMember()?.text == "a\u{7F}\u{9B}")
        #expect(try reader.string() == "\u{202E}x\u{2028}\u{1B}\\")
        #expect(escaped.allSatisfy { $0 == 0x0A || $0 == 0x09 || (0x20...0x7E).contains($0) })
    }

    @Test func elsewhereALinePartHasSpacesForControls() {
        #expect(TerminalText.inLine("a\n\u{9B}\u{202E}b", isTerminal: false) == "a  \u{202E}b")
        #expect(TerminalText.inLine("a\n\u{9B}\u{202E}b", isTerminal: true) == #"a\u{a}\u{9b}\u{202e}b"#)
    }
}
