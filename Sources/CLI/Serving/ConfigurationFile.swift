import FreshetServer
import FreshetTrust

/// A server's `freshet.json`.
struct ConfigurationFile: Sendable {
    let path: String

    /// Reads and checks the file, and the settings that it makes of `base`. Blocks on the disk.
    func settings(_ base: RecordServerConfiguration) throws(CommandFailure) -> RecordServerConfiguration {
        let bytes = try ValueArgument.file(path, limit: Configuration.maximumBytes)
        let file: Configuration
        do throws(TrustError) { file = try Configuration(json: bytes, rules: RecordServerConfiguration.fileRules) } catch {
            throw CommandFailure(.data, "\(path), line \(Self.line(of: error.offset, in: bytes)), \(error.description)")
        }
        var settings = base
        do throws(RecordServerError) {
            try settings.take(file)
            try settings.check()
        } catch { throw CommandFailure(.data, "\(path): \(error.description)") }
        return settings
    }

    /// The number of the line with this byte, from 1.
    static func line(of offset: Int, in bytes: [UInt8]) -> Int { 1 + bytes.prefix(offset).count { $0 == UInt8(ascii: "\n") } }
}
