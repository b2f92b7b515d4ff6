import FreshetWire

/// The answers of `GET /admin/keys` and `GET /admin/revocations`, as lines for a person.
struct KeyLines: Sendable {
    let isTerminal: Bool
    /// Milliseconds since 1970: a key that has expired by then is shown so.
    let now: Int64

    /// A heading, and a line for each key: its id, its state, the days of its last use and of its end, its name and its grants.
    ///
    ///     ID          STATE     USED        EXPIRES     NAME  MAY
    ///     k3jx7q2m4a  active    2026-11-27  2027-02-25  till  shop:articles:read
    func keys(_ json: [UInt8]) throws(WireError) -> [String] {
        var rows: [[String]] = []
        try Self.forEach("keys", json) { reader throws(WireError) in rows.append(try row(of: Key(&reader))) }
        return Self.aligned([["ID", "STATE", "USED", "EXPIRES", "NAME", "MAY"]] + rows)
    }

    private func row(of key: Key) -> [String] {
        let state = key.isDisabled ? "disabled" : key.expires.map { $0 <= now } == true ? "expired" : key.isAdmin ? "admin" : "active"
        return [
            visible(key.id), state, Self.day(key.lastUsed) ?? "never", Self.day(key.expires) ?? "never", visible(key.name),
            key.grants.isEmpty ? "-" : key.grants.map(visible).joined(separator: " "),
        ]
    }

    /// A heading, and a line for each revocation, the newest first: when it was made, and what it is about.
    ///
    ///     MADE                      REVOKED
    ///     2026-11-27T12:00:00.000Z  issuer https://id.example subject u7, issued before 2026-11-27T12:00:00.000Z
    func revocations(_ json: [UInt8]) throws(WireError) -> [String] {
        var rows: [[String]] = []
        try Self.forEach("revocations", json) { reader throws(WireError) in
            let revocation = try Revocation(&reader)
            // A single token is revoked whenever it was issued.
            let end = revocation.isOfOne ? nil : Self.time(revocation.issuedBefore).map { "issued before \($0)" }
            let margin = revocation.margin.map { "waits end after \($0) s" }
            let about = revocation.target.map { "\($0) \(visible($1))" }.joined(separator: " ")
            rows.append([Self.time(revocation.created) ?? "-", ([about, end, margin].compactMap(\.self)).joined(separator: ", ")])
        }
        return Self.aligned([["MADE", "REVOKED"]] + rows)
    }

    // MARK: Reading

    private struct Key {
        private(set) var id = ""
        private(set) var name = ""
        private(set) var isAdmin = false
        private(set) var isDisabled = false
        private(set) var expires: Int64?
        private(set) var lastUsed: Int64?
        /// As `--allow` takes them, one for each range.
        private(set) var grants: [String] = []

        init(_ reader: inout JSONReader) throws(WireError) {
            try reader.beginObject()
            while let member = try reader.nextMember() {
                switch member {
                case "id": id = try reader.string()
                case "name": name = try reader.string()
                case "admin": isAdmin = try reader.boolean()
                case "disabled": isDisabled = try reader.boolean()
                case "expires": expires = try reader.takeNull() ? nil : try reader.integer()
                case "lastUsed": lastUsed = try reader.takeNull() ? nil : try reader.integer()
                case "allow":
                    try reader.beginArray()
                    while try reader.nextElement() { grants += try Self.grants(&reader) }
                default: try reader.skip()
                }
            }
        }

        private static func grants(_ reader: inout JSONReader) throws(WireError) -> [String] {
            var (namespace, ranges, verbs): (String, [String], [String]) = ("", [], [])
            try reader.beginObject()
            while let member = try reader.nextMember() {
                switch member {
                case "ns": namespace = try reader.string()
                case "in": ranges = try strings(&reader)
                case "may": verbs = try strings(&reader)
                default: try reader.skip()
                }
            }
            return ranges.map { "\(namespace):\($0):\(verbs.joined(separator: ","))" }
        }

        private static func strings(_ reader: inout JSONReader) throws(WireError) -> [String] {
            var texts: [String] = []
            try reader.beginArray()
            while try reader.nextElement() { texts.append(try reader.string()) }
            return texts
        }
    }

    private struct Revocation {
        /// Names and values, in the order of the answer.
        private(set) var target: [(name: String, value: String)] = []
        private(set) var issuedBefore: Int64?
        private(set) var created: Int64?
        /// Seconds.
        private(set) var margin: Int64?
        var isOfOne: Bool { target.contains { $0.name == "jti" || $0.name == "key" } }

        init(_ reader: inout JSONReader) throws(WireError) {
            try reader.beginObject()
            while let member = try reader.nextMember() {
                switch member {
                case "key", "jti", "issuer", "subject", "certificate": target.append((member.text, try reader.string()))
                case "issuedBefore": issuedBefore = try reader.integer()
                case "created": created = try reader.integer()
                case "margin": margin = try reader.integer()
                default: try reader.skip()
                }
            }
        }
    }

    /// Reads each element of the array that is the named member.
    private static func forEach(_ name: String, _ json: [UInt8], _ body: (inout JSONReader) throws(WireError) -> Void) throws(WireError) {
        var reader = JSONReader(json)
        try reader.beginObject()
        while let member = try reader.nextMember() {
            guard member.text == name else {
                try reader.skip()
                continue
            }
            try reader.beginArray()
            while try reader.nextElement() { try body(&reader) }
        }
        try reader.end()
    }

    // MARK: Writing

    private static func time(_ milliseconds: Int64?) -> String? { milliseconds.map { Timestamp(milliseconds: $0).description } }

    private static func day(_ milliseconds: Int64?) -> String? { time(milliseconds).map { String($0.prefix(10)) } }

    /// Rows as lines, whose columns begin at the same places.
    private static func aligned(_ rows: [[String]]) -> [String] {
        guard let first = rows.first else { return [] }
        let widths = first.indices.map { column in rows.reduce(0) { max($0, $1[column].count) } }
        return rows.map { row in
            let cells = row.enumerated().map { column, text in
                column == row.count - 1 ? text : text + String(repeating: " ", count: widths[column] - text.count)
            }
            return cells.joined(separator: "  ")
        }
    }

    /// Names may hold anything that JSON can.
    private func visible(_ text: String) -> String { TerminalText.inLine(text, isTerminal: isTerminal) }
}

extension KeyLines {
    /// Prints the answer of a server as its JSON, or as lines.
    static func show(
        _ json: [UInt8], now: Int64 = 0, as output: OutputOptions, by lines: (KeyLines) -> ([UInt8]) throws(WireError) -> [String]
    ) throws(CommandFailure) {
        guard !output.json else { return StandardStream.output.printJSON(json) }
        do throws(WireError) {
            let shown = try lines(KeyLines(isTerminal: StandardStream.output.isTerminal, now: now))(json)
            for line in shown { StandardStream.output.printLine(line) }
        } catch {
            throw CommandFailure(unreadable: error)
        }
    }
}
