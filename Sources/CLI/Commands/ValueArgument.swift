import FreshetPlatform
import Glibc

/// A value as given on the command line: the text itself, `-` for standard input, or `@FILE`.
enum ValueArgument {
    /// The most bytes of a value that is read: more than any server takes (docs/limits.md).
    static let maximumSize = 64 << 20

    /// - Parameter argument: `nil` means standard input too.
    static func bytes(_ argument: String?) throws(CommandFailure) -> [UInt8] {
        switch argument {
        case nil, "-"?: try read(0, named: "standard input", limit: maximumSize)
        case let text? where text.hasPrefix("@"): try file(String(text.dropFirst()), limit: maximumSize)
        case let text?: Array(text.utf8)
        }
    }

    /// The content of a file of at most `limit` bytes; `-` is standard input.
    ///
    /// - Parameter name: names the file in an error; `nil` for its path.
    static func file(_ path: String, named name: String? = nil, limit: Int = .max) throws(CommandFailure) -> [UInt8] {
        guard path != "-" else { return try read(0, named: "standard input", limit: limit) }
        let descriptor = open(try AbsolutePath(argument: path, named: name).text, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw CommandFailure(.noInput, "cannot read \(name ?? path): \(systemReason())") }
        defer { close(descriptor) }
        return try read(descriptor, named: name ?? path, limit: limit)
    }

    /// A path that is used again later, absolute; `-` stays, which is standard input.
    static func absolute(_ path: String) throws(CommandFailure) -> String { path == "-" ? path : try AbsolutePath(argument: path).text }

    private static func read(_ descriptor: Int32, named name: String, limit: Int = .max) throws(CommandFailure) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count > 0 {
                bytes.append(contentsOf: buffer[..<count])
                guard bytes.count <= limit else { throw CommandFailure(.data, "\(name) has more than \(grouped(limit)) bytes") }
            } else if count == 0 {
                return bytes
            } else if errno != EINTR {
                throw CommandFailure(.noInput, "cannot read \(name): \(systemReason())")
            }
        }
    }
}
