import FreshetWire

/// Records and changes as lines for a person.
struct RecordLines: Sendable {
    let style: Style
    /// The width of the terminal, at which a line is cut off; `nil` if the lines do not go to a terminal.
    let width: Int?

    /// Lines for standard output, as wide as its terminal.
    static var standard: RecordLines {
        RecordLines(style: Style(for: .output), width: StandardStream.output.isTerminal ? StandardStream.output.width : nil)
    }

    /// `    1043  NZ  {"alpha_2":"NZ",…}`, of a record that was asked for with its value. If the value is missing, this version does not
    /// understand the record, and its type and size are not known.
    func line(for record: Record) -> String {
        let value = record.content.map { preview($0, type: record.contentType, size: record.size) } ?? "(not understood by this version)"
        return line(record.revision, "", { $0 }, record.key.id, value)
    }

    /// `    1043  put         countries/NZ  {"alpha_2":"NZ",…}`
    func line(for change: Change) -> String {
        switch change.effect {
        case .put(let key, let content, let type, let size):
            line(change.revision, "put         ", style.green, key.description, preview(content, type: type, size: size))
        case .delete(let key): line(change.revision, "delete      ", style.red, key.description, "")
        case .invalidate(let scope): line(change.revision, "invalidate  ", style.yellow, Self.text(scope), "")
        }
    }

    private func line(_ revision: Revision, _ verb: String, _ colour: (String) -> String, _ name: String, _ value: String) -> String {
        let number = revision.description
        let margin = String(repeating: " ", count: max(0, 8 - number.count))
        let name = escaped(name)
        let room = width.map { max(0, $0 - margin.count - number.count - verb.count - name.count - 4) } ?? .max
        return "\(margin)\(style.dim(number))  \(colour(verb))\(name)" + (value.isEmpty || room == 0 ? "" : "  \(value.prefix(room))")
    }

    private static func text(_ scope: InvalidationScope) -> String {
        switch scope {
        case .key(let key): key.description
        case .collection(let collection, let prefix): "\(collection)/\(prefix)*"
        case .everything: "*"
        }
    }

    private func preview(_ content: Content?, type: String, size: Int) -> String {
        guard let content, content.isJSON else { return "(\(escaped(type)), \(grouped(size)) bytes)" }
        // White space between the tokens of JSON would be shown as escapes.
        let bytes = content.bytes.map { [0x09, 0x0A, 0x0D].contains($0) ? 0x20 : $0 }
        return escaped(String(decoding: bytes, as: UTF8.self))
    }

    private func escaped(_ text: String) -> String { TerminalText.inLine(text, isTerminal: width != nil) }
}
