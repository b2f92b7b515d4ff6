import FreshetTestSupport
import Glibc

/// A TLS client over a socket that blocks, for threads of tests.
final class SocketClient {
    let client: MemoryClient
    private let descriptor: Int32

    init(port: Int, trusting authority: String, _ options: MemoryClient.Options = .init()) throws {
        client = try MemoryClient(trusting: authority, options)
        guard let descriptor = Sockets.connect(port: UInt16(port)) else { throw MemoryClient.SetupFailure() }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// Whether the handshake succeeds, before the server closes.
    func connect() -> Bool {
        var bytes = client.receive()
        while !client.isConnected || !bytes.isEmpty {
            guard Sockets.write(descriptor, bytes) else { return false }
            guard !client.isConnected else { break }
            let input = Sockets.read(descriptor)
            guard !input.isEmpty else { return false }
            bytes = client.receive(input)
        }
        return client.failure == nil
    }

    /// Sends the first bytes of a handshake, and waits until the server closes.
    func stall() -> Bool {
        let hello = client.receive()
        return Sockets.write(descriptor, hello.dropLast()) && Sockets.read(descriptor).isEmpty
    }

    /// Sends bytes that are encrypted already.
    func sendRaw(_ bytes: some Collection<UInt8>) { Sockets.write(descriptor, bytes) }

    /// Ends the sending side of the socket, as TCP does, without a notice of TLS.
    func finish() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Receives until the server closes, and returns the decrypted text.
    func readToEnd() -> String {
        while true {
            let input = Sockets.read(descriptor)
            guard !input.isEmpty else { return String(decoding: client.received, as: UTF8.self) }
            _ = client.receive(input)
        }
    }

    /// The status line of the answer to a `GET`; empty if the server closes.
    func get(_ path: String) -> String { status(of: "GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n") }

    /// The status line of the answer to a request, which has a body; empty if the server closes.
    func status(of request: String) -> String {
        let before = client.received.count
        Sockets.write(descriptor, client.send(Array(request.utf8)))
        while true {
            let text = String(decoding: client.received[before...], as: UTF8.self)
            if let head = text.firstRange(of: "\r\n\r\n"), let end = text.firstRange(of: "\r\n"), text.endIndex > head.upperBound {
                return String(text[..<end.lowerBound])
            }
            let input = Sockets.read(descriptor)
            guard !input.isEmpty else { return "" }
            _ = client.receive(input)
        }
    }
}
