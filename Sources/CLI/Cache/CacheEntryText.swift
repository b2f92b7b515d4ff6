import FoundationEssentials
import FreshetCache
import FreshetWire

/// An entry of a cache as a line for a person, or as an object for a program.
struct CacheEntryText {
    private let entry: DiskEntry

    init(_ entry: DiskEntry) { self.entry = entry }

    /// `      1,024  2026-01-02T03:04:05Z  2026-01-02T15:04:05Z  user/7  [users]`
    func line(_ style: Style, isTerminal: Bool) -> String {
        let escaped = { TerminalText.inLine($0, isTerminal: isTerminal) }
        let bytes = grouped(entry.byteCount)
        var line = String(repeating: " ", count: max(0, 11 - bytes.count)) + bytes
        line += "  " + style.dim(Self.time(entry.recorded)) + "  "
        line += style.dim(entry.expires.map(Self.time) ?? "never               ") + "  " + escaped(entry.key)
        if !entry.tags.isEmpty { line += "  [" + entry.tags.map { escaped($0.text) }.joined(separator: ", ") + "]" }
        if entry.isEncrypted { line += "  encrypted" }
        if entry.file != nil { line += "  in a file" }
        return line
    }

    func json(in directory: String) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("directory", directory)
        writer.member("key", entry.key)
        // A key that is not valid UTF-8 is printed as bytes too.
        if Array(entry.key.utf8) != entry.keyBytes {
            writer.member("keyBytes", entry.keyBytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined())
        }
        writer.member("bytes", Int64(entry.byteCount))
        writer.member("recorded", Self.time(entry.recorded))
        writer.member("verified", Self.time(entry.verified))
        writer.member("expires")
        if let expires = entry.expires { writer.string(Self.time(expires)) } else { writer.null() }
        writer.member("used", Self.time(entry.used))
        writer.member("tags")
        writer.beginArray()
        for tag in entry.tags { writer.string(tag.text) }
        writer.endArray()
        writer.member("encrypted", entry.isEncrypted)
        writer.member("file")
        if let file = entry.file { writer.string(file) } else { writer.null() }
        writer.endObject()
        return writer.bytes
    }

    static func count(_ entries: Int?) -> String {
        switch entries {
        case nil: "all entries"
        case 1?: "1 entry"
        case let count?: "\(grouped(count)) entries"
        }
    }

    private static func time(_ date: Date) -> String { date.formatted(.iso8601) }
}

extension CommandFailure {
    /// Describes an operation that a cache refused or failed.
    init(_ error: CacheError) {
        let status: ExitStatus =
            switch error {
            case .noSuchDirectory, .cannotRead: .noInput
            case .notACache, .notACacheDirectory, .unreadable, .schemaChanged: .data
            case .readOnly, .cannotWrite: .cannotCreate
            case .diskFull, .storageFailed: .inputOutput
            case .invalidPath: .usage
            case .cannotEncode, .noCost, .tooLarge, .noCipher, .cannotSeal, .closed: .software
            }
        let message =
            switch error {
            // The description is for a program that opens a cache, and gives advice that these commands refuse.
            case .notACacheDirectory(let path):
                "\(path) is no directory of a cache: name one that a DiskCache uses; 'freshet cache clear' also takes that of a client"
            case .unreadable(let path, let reason):
                "the cache in \(path) cannot be read (\(reason)): 'freshet cache clear' empties it"
            default: error.description
            }
        self.init(status, message)
    }
}
