import FreshetWire

/// Makes text from others harmless on a terminal.
///
/// Replaces the characters that control a terminal or reorder its output: the controls C0, DEL and C1, those of
/// bidirectional text, the line and paragraph separators, and bytes that are not UTF-8, which some terminals take for
/// C1 controls.
enum TerminalText {
    /// The characters that are kept, and the spelling of the others.
    enum Form: Hashable, Sendable {
        /// Text of several lines: line feeds and tabs stay, the others are spelt `\u{1b}` and `\x9b`.
        case value
        /// Text within one line: no control is kept.
        case line
        /// JSON, which remains the same JSON: white space stays, a carriage return becomes a space, the others are
        /// spelt `\u001b`.
        case json
    }

    /// The text with visible escapes.
    static func escaped(_ bytes: [UInt8], as form: Form) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var parser = Unicode.UTF8.ForwardParser()
        var input = bytes.makeIterator()
        var start = 0
        while true {
            switch parser.parseScalar(from: &input) {
            case .emptyInput: return result
            case .valid(let encoded):
                if let escape = escape(of: Unicode.UTF8.decode(encoded), form) { result += escape } else { result += encoded }
                start += encoded.count
            case .error(let length):
                for byte in bytes[start..<start + length] { result += escape(of: byte, form) }
                start += length
            }
        }
    }

    /// The text with visible escapes.
    static func escaped(_ text: String, as form: Form) -> String { String(decoding: escaped(Array(text.utf8), as: form), as: UTF8.self) }

    /// The text as a part of a line: with visible escapes on a terminal, elsewhere with spaces for controls, which would break the line.
    static func inLine(_ text: String, isTerminal: Bool) -> String {
        guard !isTerminal else { return escaped(text, as: .line) }
        // Most texts have no control: C0 and DEL are single bytes, and C1 begins with C2.
        guard text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F || $0 == 0xC2 }) else { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }))
    }

    /// The escape for a character; `nil` if the character may stay.
    private static func escape(of scalar: Unicode.Scalar, _ form: Form) -> [UInt8]? {
        guard scalar.commandsTerminal else { return nil }
        switch (form, scalar) {
        case (.value, "\n"), (.value, "\t"), (.json, "\n"), (.json, "\t"): return nil
        // In JSON a bare carriage return is white space between tokens; printed, it would overwrite the line.
        case (.json, "\r"): return [0x20]
        case (.json, _):
            let digits = String(scalar.value, radix: 16)
            return Array("\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".utf8)
        default: return Array("\\u{\(String(scalar.value, radix: 16))}".utf8)
        }
    }

    private static func escape(of byte: UInt8, _ form: Form) -> [UInt8] {
        // JSON has no escape for a byte, only the replacement character.
        form == .json ? Array("\\ufffd".utf8) : Array("\\x\(String(byte, radix: 16))".utf8)
    }
}
