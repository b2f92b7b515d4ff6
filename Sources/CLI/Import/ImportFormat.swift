import ArgumentParser
import FreshetWire

/// How a file holds the records that are imported.
enum ImportFormat: String, CaseIterable, ExpressibleByArgument, Sendable {
    /// One JSON document: an array of objects, or an object that holds one such array.
    case json
    /// An object a line, as `export` and `list --json` print it.
    case ndjson
    /// A table with a header line (RFC 4180).
    case csv

    /// The name of the parts of such a file in errors.
    var unit: String {
        switch self {
        case .json: "element"
        case .ndjson, .csv: "line"
        }
    }

    /// The format that a file's extension names; `nil` if the content has to decide.
    init?(path: String) {
        switch path.split(separator: ".").last?.lowercased() {
        case "ndjson"?, "jsonl"?: self = .ndjson
        case "csv"?: self = .csv
        default: return nil
        }
    }

    /// Distinguishes JSON from NDJSON: the first line of NDJSON is a complete object.
    /// - Throws: ``CommandFailure`` where the content is neither.
    init(contentOf input: ImportInput) throws(CommandFailure) {
        defer { input.rewind() }
        while let line = try input.line() {
            guard let first = line.first(where: { ![0x20, 0x09, 0x0D].contains($0) }) else { continue }
            switch first {
            case UInt8(ascii: "["): self = .json
            case UInt8(ascii: "{"): self = (try? JSONReader.validate(line, profile: .json)) == nil ? .json : .ndjson
            default:
                throw CommandFailure(.data, "\(input.name) is no JSON: say what it is with --format, for example --format csv")
            }
            return
        }
        // An empty file: any format will do.
        self = .ndjson
    }
}
