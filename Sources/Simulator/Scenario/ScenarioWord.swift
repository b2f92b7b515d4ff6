import FreshetWire

/// How a scenario's text spells keys and values.
enum ScenarioWord {
    /// The word as it is, or in quotes where its characters would end it.
    static func of(_ text: String) -> String { isBare(text) ? text : quoted(text) }

    /// The word as a JSON string.
    static func quoted(_ text: String) -> String {
        var writer = JSONWriter()
        writer.string(text)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// A JSON value as it is where it fits into a line, and anything else as `bytes BASE64 as TYPE`.
    static func value(_ bytes: [UInt8], _ type: String = Content.json) -> String {
        if type == Content.json, isLine(bytes) { return String(decoding: bytes, as: UTF8.self) }
        return "bytes \(of(Base64.encode(bytes)))" + (type == Content.json ? "" : " as \(of(type))")
    }

    private static func isBare(_ text: String) -> Bool {
        guard let first = text.utf8.first, first != UInt8(ascii: "\""), first != UInt8(ascii: "#") else { return false }
        return text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }
    }

    /// JSON that begins and ends with no white space and has no line break.
    private static func isLine(_ bytes: [UInt8]) -> Bool {
        guard let first = bytes.first, let last = bytes.last, first > 0x20, last > 0x20 else { return false }
        return !bytes.contains { $0 == 0x0A || $0 == 0x0D } && (try? JSONReader.validate(bytes)) != nil
    }
}
