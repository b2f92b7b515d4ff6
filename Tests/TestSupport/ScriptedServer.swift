import Glibc
import Synchronization

/// A server that runs a test's script on each connection, on a separate thread.
package final class ScriptedServer: Sendable {
    package let port: UInt16
    package var url: String { "http://127.0.0.1:\(port)" }
    private let descriptor: Int32
    private let accepted = Mutex(0)

    /// How many connections have come so far.
    package var connections: Int { accepted.withLock { $0 } }

    package init(_ script: @escaping @Sendable (ScriptedConnection) -> Void) {
        (descriptor, port) = Sockets.listen()
        Sockets.thread { [descriptor, weak self] in
            while true {
                let connection = Sockets.accept(descriptor)
                guard connection >= 0 else {
                    if [EINTR, ECONNABORTED, EMFILE, ENFILE].contains(errno) { continue }
                    // Closed here only: after a close elsewhere another test's socket could have this number.
                    close(descriptor)
                    return
                }
                Sockets.noDelay(connection)
                self?.accepted.withLock { $0 += 1 }
                Sockets.thread { script(ScriptedConnection(connection)) }
            }
        }
    }

    deinit { shutdown(descriptor, Int32(SHUT_RDWR)) }
}

/// One connection to a ``ScriptedServer``; used by its own thread alone. Closed when the script releases it.
package final class ScriptedConnection {
    private var descriptor: Int32
    private var buffer: [UInt8] = []

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// The next request's head and body, or `nil` when the client has gone.
    package func request() -> (head: String, body: [UInt8])? {
        let mark = Array("\r\n\r\n".utf8)
        while true {
            if let end = buffer.indices.first(where: { buffer[$0...].starts(with: mark) }) {
                // Each byte is one scalar (ISO 8859-1), so that a test sees bytes that are no UTF-8.
                let head = String(String.UnicodeScalarView(buffer[..<end].map { Unicode.Scalar($0) }))
                let length =
                    head.lowercased().split(separator: "\r\n").first { $0.hasPrefix("content-length:") }
                    .flatMap { Int($0.dropFirst("content-length:".count).drop { $0 == " " }) } ?? 0
                while buffer.count < end + 4 + length { guard more() else { return nil } }
                let body = Array(buffer[(end + 4)..<(end + 4 + length)])
                buffer.removeFirst(end + 4 + length)
                return (head, body)
            }
            guard more() else { return nil }
        }
    }

    package func send(_ text: String) { Sockets.write(descriptor, Array(text.utf8)) }
    package func send(_ bytes: [UInt8]) -> Bool { Sockets.write(descriptor, bytes) }

    /// A complete response.
    package func respond(_ body: String, status: String = "200 OK", fields: String = "") {
        send("HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n\(fields)\r\n\(body)")
    }

    package func reset() {
        Sockets.reset(descriptor)
        descriptor = -1
    }

    /// Waits until the client has closed.
    package func waitUntilClosed() { while more() {} }

    private func more() -> Bool {
        let bytes = Sockets.read(descriptor)
        buffer += bytes
        return !bytes.isEmpty
    }
}
