import FreshetTestSupport
import FreshetWire
import Glibc

/// A blocking HTTP/1.1 connection to the loopback, for threads of tests.
final class HTTPConnection {
    struct Closed: Error {}

    private let descriptor: Int32
    private var buffer: [UInt8] = []

    init(port: Int) throws {
        guard let descriptor = Sockets.connect(port: UInt16(port)) else { throw Closed() }
        self.descriptor = descriptor
        // A test that waits for bytes that never come fails instead of blocking.
        var limit = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(descriptor) }

    func send(_ text: String) { Sockets.write(descriptor, Array(text.utf8)) }

    func send(_ bytes: [UInt8]) { Sockets.write(descriptor, bytes) }

    /// Sends all bytes; false if the other side takes none for so many seconds.
    func sends(_ bytes: [UInt8], within seconds: Int) -> Bool {
        var limit = timeval(tv_sec: seconds, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        return Sockets.write(descriptor, bytes)
    }

    /// Ends the sending side.
    func finish() { shutdown(descriptor, Int32(SHUT_WR)) }

    func send(_ method: String, _ target: String, _ fields: [(String, String)] = [], _ body: String? = nil) {
        var text = "\(method) \(target) HTTP/1.1\r\nHost: localhost\r\n"
        for (name, value) in fields { text += "\(name): \(value)\r\n" }
        if let body { text += "Content-Length: \(body.utf8.count)\r\n" }
        send(text + "\r\n" + (body ?? ""))
    }

    /// The bytes through the mark.
    func read(through mark: String) throws -> String {
        let mark = Array(mark.utf8)
        while true {
            for end in buffer.indices where buffer[...end].suffix(mark.count).elementsEqual(mark) { return take(end + 1) }
            try fill()
        }
    }

    func read(count: Int) throws -> String {
        while buffer.count < count { try fill() }
        return take(count)
    }

    /// Everything until the other side ends.
    func rest() -> String {
        do { while true { try fill() } } catch { return take(buffer.count) }
    }

    /// A response whose body has a length, or none.
    func reply(isHead: Bool = false) throws -> Reply {
        let head = try read(through: "\r\n\r\n")
        var reply = Reply(head: head, body: "")
        if !isHead, let length = reply["content-length"].flatMap({ Int($0) }) { reply.body = try read(count: length) }
        return reply
    }

    private func take(_ count: Int) -> String {
        defer { buffer.removeFirst(count) }
        return String(decoding: buffer.prefix(count), as: UTF8.self)
    }

    private func fill() throws {
        let bytes = Sockets.read(descriptor)
        guard !bytes.isEmpty else { throw Closed() }
        buffer += bytes
    }
}

/// A response as it was received.
struct Reply: Sendable {
    var head: String
    var body: String

    var status: Int { head.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0 }

    subscript(name: String) -> String? {
        let line = head.split(separator: "\r\n").first { $0.lowercased().hasPrefix(name.lowercased() + ": ") }
        return line.map { String($0.dropFirst(name.count + 2)) }
    }

    var cursor: Cursor? { self["Freshet-Cursor"].flatMap { try? Cursor($0) } }
    var problem: Problem? { try? Problem(json: Array(body.utf8)) }

    func message<Message: WireMessage>(_ type: Message.Type = Message.self) throws -> Message { try Message(json: Array(body.utf8)) }
}

/// Runs blocking work with a connection on a separate thread.
func connected<Result: Sendable>(to port: Int, _ body: @escaping @Sendable (HTTPConnection) throws -> Result) async throws -> Result {
    try await Sockets.onThread { try body(try HTTPConnection(port: port)) }
}
