import Glibc
import Synchronization

/// The bearer token of a command's requests, and the file that a newer one comes from.
final class BearerToken: Sendable {
    /// The most bytes that a token's file may have; proxies and servers take less in one field.
    static let maximumFileSize = 8 << 10

    /// The file that is read again when the server refuses the token; `nil` if the token was given as text.
    private let path: String?
    private let current: Mutex<String>

    /// The token as it is sent.
    var text: String { current.withLock { $0 } }

    /// - Parameter origin: the source of the token, for error messages.
    init(_ text: String, from origin: String) throws(CommandFailure) {
        try Self.check(text.utf8, from: origin)
        path = nil
        current = Mutex(text)
    }

    init(file path: String) throws(CommandFailure) {
        self.path = try ValueArgument.absolute(path)
        current = Mutex(try Self.read(path))
    }

    /// Reads the file again after the server refused a token.
    /// - Returns: the token that is there now, or `nil` if there is no file or it has the same token still.
    func renewed(after refused: String) throws(CommandFailure) -> String? {
        guard let path else { return nil }
        let text: String
        do throws(CommandFailure) {
            text = try Self.read(path)
        } catch {
            throw CommandFailure(.noPermission, "the server refused the token, and there is no newer one: \(error.message)")
        }
        current.withLock { $0 = text }
        return text == refused ? nil : text
    }

    private static func read(_ path: String) throws(CommandFailure) -> String {
        var bytes = try ValueArgument.file(path, limit: maximumFileSize)
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        try check(bytes, from: path == "-" ? "standard input" : path)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The error never repeats the token.
    private static func check(_ bytes: some Collection<UInt8>, from origin: String) throws(CommandFailure) {
        guard !bytes.isEmpty else { throw CommandFailure(.data, "\(origin) holds no token: it is empty") }
        guard let index = bytes.firstIndex(where: { !(0x21...0x7E).contains($0) }) else { return }
        let place = bytes.distance(from: bytes.startIndex, to: index) + 1
        throw CommandFailure(
            .data, "\(origin) holds no token: byte \(place) is no visible ASCII character; a token is one line without spaces")
    }
}
