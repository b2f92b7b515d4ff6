/// The rows of a CSV file (RFC 4180): fields with commas between them, a row a line; a quoted field may hold commas, line breaks and, twice
/// each, quotes. Lines end with LF or CRLF. Empty lines are passed over.
struct CSVRows {
    /// One row.
    struct Row {
        /// The line that the row begins on, counted from 1.
        var line = 0
        /// The fields' bytes without quotes around them.
        fileprivate(set) var bytes: [UInt8] = []
        fileprivate(set) var fields: [Field] = []

        subscript(field: Field) -> ArraySlice<UInt8> { bytes[field.range] }
    }

    /// Where a field stands in its row's bytes, and whether quotes stood around it.
    struct Field: Hashable {
        var range: Range<Int>
        var isQuoted: Bool
    }

    private enum State {
        case start, plain, quoted, afterQuote
    }

    /// The most fields of a row.
    static let fieldLimit = 4_096

    private let input: ImportInput
    /// The number of the line that the next byte stands on.
    private var line = 1

    init(_ input: ImportInput) { self.input = input }

    /// Reads the next row into `row`, whose memory is reused.
    /// - Returns: `false` after the last.
    /// - Throws: ``CommandFailure`` that names the line.
    mutating func next(_ row: inout Row) throws(CommandFailure) -> Bool {
        row.bytes.removeAll(keepingCapacity: true)
        row.fields.removeAll(keepingCapacity: true)
        row.line = line
        var state = State.start
        var first = 0
        func endField(_ row: inout Row, isQuoted: Bool) throws(CommandFailure) {
            guard row.fields.count < Self.fieldLimit else {
                throw CommandFailure(.data, "line \(row.line): the row has more than \(grouped(Self.fieldLimit)) fields")
            }
            row.fields.append(Field(range: first..<row.bytes.count, isQuoted: isQuoted))
            first = row.bytes.count
        }
        while let byte = try input.byte() {
            switch (state, byte) {
            case (.quoted, UInt8(ascii: "\"")): state = .afterQuote
            case (.quoted, _):
                if byte == UInt8(ascii: "\n") { line += 1 }
                try append(byte, to: &row)
            case (.afterQuote, UInt8(ascii: "\"")):
                try append(byte, to: &row)
                state = .quoted
            case (.start, UInt8(ascii: "\"")): state = .quoted
            case (_, UInt8(ascii: ",")):
                try endField(&row, isQuoted: state == .afterQuote)
                state = .start
            case (_, UInt8(ascii: "\n")), (_, UInt8(ascii: "\r")):
                if byte == UInt8(ascii: "\r") {
                    guard try input.byte() == UInt8(ascii: "\n") else {
                        throw failure("a carriage return has no line feed after it: put the field in quotes")
                    }
                }
                line += 1
                let isEmpty = state == .start && row.fields.isEmpty
                guard isEmpty else {
                    try endField(&row, isQuoted: state == .afterQuote)
                    return true
                }
                row.line = line
            case (.afterQuote, _): throw failure("a quoted field goes on after its closing quote: write a quote within it twice")
            case (_, UInt8(ascii: "\"")):
                throw failure("a quote stands within a field without quotes: put the field in quotes, and write this one twice")
            default:
                try append(byte, to: &row)
                state = .plain
            }
        }
        switch state {
        case .start where row.fields.isEmpty: return false
        case .quoted: throw CommandFailure(.data, "line \(row.line): the row has a quote that is never closed")
        default:
            try endField(&row, isQuoted: state == .afterQuote)
            return true
        }
    }

    @inline(__always)
    private func append(_ byte: UInt8, to row: inout Row) throws(CommandFailure) {
        guard row.bytes.count < ImportInput.lineLimit else {
            throw CommandFailure(
                .data, "line \(row.line): the row has more than \(grouped(ImportInput.lineLimit)) bytes: is a quote never closed?")
        }
        row.bytes.append(byte)
    }

    private func failure(_ text: String) -> CommandFailure { CommandFailure(.data, "line \(line): \(text)") }
}
