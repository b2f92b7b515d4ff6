import FreshetServer
import FreshetTrust

/// A server's `freshet.json`.
struct ConfigurationFile: Sendable {
    /// As the user gave it, for messages.
    let path: String
    /// Where it is read, and read again; `-` for standard input.
    private let place: String

    init(path: String) throws(CommandFailure) {
        self.path = path
        place = try ValueArgument.absolute(path)
    }

    /// Reads and checks the file alone. Blocks on the disk.
    func configuration() throws(CommandFailure) -> Configuration {
        let bytes = try ValueArgument.file(place, named: path, limit: Configuration.maximumBytes)
        do throws(TrustError) { return try Configuration(json: bytes, rules: RecordServerConfiguration.fileRules) } catch {
            throw CommandFailure(.data, "\(path), line \(Self.line(of: error.offset, in: bytes)), \(error.description)")
        }
    }

    /// Reads and checks the file, and the settings that it makes of `base`. Blocks on the disk.
    func settings(_ base: RecordServerConfiguration) throws(CommandFailure) -> RecordServerConfiguration {
        let file = try configuration()
        var settings = base
        let sources = try file.issuers.map { entry throws(CommandFailure) in try keys(of: entry) }
        do throws(RecordServerError) {
            try settings.take(file, sources, resolve: resolved)
            try settings.check()
        } catch { throw CommandFailure(.data, "\(path): \(error.description)") }
        return settings
    }

    /// The path of the audit log; `nil` if there is none. Blocks on the disk.
    func auditLog() throws(CommandFailure) -> String? { try configuration().audit.map(resolved) }

    /// The keys of an issuer, with the content of their file. A relative path begins at the folder of this file.
    func keys(of entry: Configuration.IssuerEntry) throws(CommandFailure) -> AccessPolicy.KeySource {
        let file: String
        switch entry.keys {
        case .url(let url): return .url(url)
        case .file(let path), .secret(let path): file = resolved(path)
        }
        let isSecret = if case .secret = entry.keys { true } else { false }
        // The text may be the secret itself, by mistake.
        let name = isSecret ? "the file that 'secret' of the issuer '\(entry.issuer.name)' has to name" : file
        let bytes = try ValueArgument.file(file, named: name, limit: KeySet.maximumBytes)
        let keys: KeySet
        do {
            keys = try isSecret ? KeySet(secretFile: bytes) : KeySet(jwks: bytes, allowsSecrets: true)
        } catch { throw CommandFailure(.data, "\(name): \(error)") }
        guard !keys.keys.isEmpty else {
            throw CommandFailure(.data, "\(file) has no usable keys: \(keys.skipped.first ?? "add one")")
        }
        return .fixed(keys)
    }

    /// A path with ~ stays, and is refused where it is used.
    private func resolved(_ file: String) -> String {
        guard !file.hasPrefix("/"), !file.hasPrefix("~"), let slash = place.lastIndex(of: "/") else { return file }
        return place[...slash] + file
    }

    /// The number of the line with this byte, from 1.
    static func line(of offset: Int, in bytes: [UInt8]) -> Int { 1 + bytes.prefix(offset).count { $0 == UInt8(ascii: "\n") } }
}
