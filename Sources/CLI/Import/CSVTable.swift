import FreshetWire

/// The records of a CSV file whose first row names the columns.
///
/// One column holds the key or the id, the others become members of a JSON object. A field without quotes that is a
/// JSON number of at most 15 digits, `true`, `false` or `null` keeps that type; an empty one is left out; all others,
/// and those in quotes, are strings.
struct CSVTable: ImportSource {
    /// The most digits of a field that becomes a number: every program reads such a number as the same one (RFC 7493 §2.2).
    static let mostDigits = 15

    private let rules: ImportRules
    /// Whether all fields are texts.
    private let isText: Bool
    private var rows: CSVRows
    private var row = CSVRows.Row()
    private let columns: [String]
    private let keyIndex: Int
    /// Whether the column holds a whole key, and not an id alone.
    private let hasKeys: Bool

    /// Reads the first row.
    /// - Throws: ``CommandFailure`` where it names no column that the keys come from.
    init(_ input: ImportInput, rules: ImportRules, isText: Bool = false) throws(CommandFailure) {
        self.rules = rules
        self.isText = isText
        rows = CSVRows(input)
        var header = CSVRows.Row()
        guard try rows.next(&header) else { throw CommandFailure(.data, "\(input.name) is empty: its first line names the columns") }
        var columns: [String] = []
        for field in header.fields { columns.append(try Self.text(header[field], ImportPosition(format: .csv, number: header.line))) }
        // By bytes, as the names of members are.
        var seen: Set<[UInt8]> = []
        if let twice = columns.first(where: { !seen.insert(Array($0.utf8)).inserted }) {
            throw CommandFailure(.data, "line \(header.line): two columns are called '\(twice)': give each another name")
        }
        self.columns = columns
        let name = rules.idField ?? (columns.contains("key") ? "key" : "id")
        guard let index = columns.firstIndex(where: { $0.utf8.elementsEqual(name.utf8) }) else {
            let names = columns.map { "'\($0)'" }.joined(separator: ", ")
            let wanted = rules.idField.map { "'\($0)'" } ?? "'key' or 'id'"
            let advice = columns.count == 1 ? "commas stand between columns" : "name another with --id-field"
            throw CommandFailure(.data, "line \(header.line): no column is called \(wanted), only \(names): \(advice)")
        }
        hasKeys = rules.idField == nil && name == "key"
        guard hasKeys || rules.collection != nil else {
            throw CommandFailure(.usage, "the column '\(name)' holds ids alone: name the collection to write to with --collection")
        }
        keyIndex = index
    }

    mutating func next() throws(CommandFailure) -> ImportRecord? {
        guard try rows.next(&row) else { return nil }
        let place = ImportPosition(format: .csv, number: row.line)
        guard row.fields.count == columns.count else {
            throw CommandFailure(.data, "\(place) has \(row.fields.count) fields, and the first line names \(columns.count) columns")
        }
        var writer = JSONWriter(capacity: row.bytes.count + 32 * columns.count)
        writer.beginObject()
        for (index, field) in row.fields.enumerated() where index != keyIndex || rules.idField != nil {
            let bytes = row[field]
            if field.isQuoted || isText || !Self.isLiteral(bytes) {
                guard field.isQuoted || !bytes.isEmpty else { continue }
                writer.member(columns[index])
                writer.string(try Self.text(bytes, place))
            } else {
                writer.member(columns[index])
                writer.raw(bytes)
            }
        }
        writer.endObject()
        let text = try Self.text(row[row.fields[keyIndex]], place)
        do throws(WireError) {
            let key = if hasKeys { try rules.key(text) } else { try RecordKey(collection: rules.collection ?? "", id: text) }
            return ImportRecord(key: key, content: Content(checkedJSON: writer.bytes), place: place)
        } catch {
            throw CommandFailure(.data, "\(place): \(error.description)")
        }
    }

    /// Whether a field without quotes is a number, `true`, `false` or `null`, as JSON spells them.
    private static func isLiteral(_ bytes: ArraySlice<UInt8>) -> Bool {
        switch bytes.first {
        case UInt8(ascii: "t")?: return bytes.elementsEqual("true".utf8)
        case UInt8(ascii: "f")?: return bytes.elementsEqual("false".utf8)
        case UInt8(ascii: "n")?: return bytes.elementsEqual("null".utf8)
        case UInt8(ascii: "-")?, (0x30...0x39)?:
            var reader = JSONReader(Array(bytes))
            guard let literal = try? reader.number(), reader.position == bytes.count else { return false }
            return bytes.count { (0x30...0x39).contains($0) } <= mostDigits && Double(literal)?.isFinite == true
        default: return false
        }
    }

    private static func text(_ bytes: ArraySlice<UInt8>, _ place: ImportPosition) throws(CommandFailure) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw CommandFailure(.data, "\(place) is not UTF-8: save the file as UTF-8")
        }
        return text
    }
}
