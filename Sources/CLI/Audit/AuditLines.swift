import FreshetWire

/// Lines of an audit log for a person.
struct AuditLines: Sendable {
    let style: Style
    let isTerminal: Bool

    /// The members of a line that are shown, `nil` for a line that is no event.
    private struct Event {
        private(set) var texts: [String: String] = [:]
        private(set) var count: Int64?

        init?(_ line: [UInt8]) {
            do throws(WireError) {
                var reader = JSONReader(line)
                try reader.beginObject()
                while let member = try reader.nextMember() {
                    switch member {
                    case "time", "event", "principal", "key", "address", "ns", "detail", "request": texts[member.text] = try reader.string()
                    case "count": count = try reader.integer()
                    default: try reader.skip()
                    }
                }
                try reader.end()
            } catch { return nil }
            guard texts["time"] != nil, texts["event"] != nil else { return nil }
        }
    }

    /// `2026-11-25T12:00:00.000Z  right-denied  by key:abc from 10.0.0.7 in shop: needs read of c/1 (3 more)  GET /v1/…`
    ///
    /// - Parameter line: without its line feed. One that is no event is shown as it is.
    func text(for line: [UInt8]) -> String {
        guard let event = Event(line) else { return visible(String(decoding: line, as: UTF8.self)) }
        func part(_ name: String, _ word: String) -> String { event.texts[name].map { " \(word) \(visible($0))" } ?? "" }
        let name = visible(event.texts["event"] ?? "")
        let padding = String(repeating: " ", count: max(0, Self.nameWidth - name.count))
        let parts = part("key", "key") + part("principal", "by") + part("address", "from") + part("ns", "in")
        let detail = event.texts["detail"].map { (parts.isEmpty ? " " : ": ") + visible($0) } ?? ""
        let isSummary = event.texts["event"] != "lines-lost"
        let count = event.count.map { " (\($0)\(isSummary ? " more" : ""))" } ?? ""
        let request = event.texts["request"].map { "  " + style.dim(visible($0)) } ?? ""
        let rest = parts + detail + count + request
        return "\(style.dim(visible(event.texts["time"] ?? "")))  \(colour(name))\(rest.isEmpty ? "" : padding + rest)"
    }

    /// The longest name of an event.
    private static let nameWidth = 22

    private func colour(_ name: String) -> String {
        switch name {
        case "token-refused", "right-denied", "quota-reached": style.yellow(name)
        case "lines-lost", "key-revoked", "tokens-revoked", "namespace-dropped", "everything-invalidated": style.red(name)
        default: style.green(name)
        }
    }

    /// Members hold texts of clients, and the file may hold anything.
    private func visible(_ text: String) -> String { TerminalText.inLine(text, isTerminal: isTerminal) }
}
