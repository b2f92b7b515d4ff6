import CFreshetLinux
import Dispatch
import Glibc

/// A blocking TCP client that sends exactly the bytes it is given. Every read gives up after five seconds, so that a hang is
/// a failure and not a stall.
final class RawClient {
    struct Reply: Equatable {
        var status = 0
        var fields: [(name: String, value: String)] = []
        var body: [UInt8] = []

        var text: String { String(decoding: body, as: UTF8.self) }

        subscript(name: String) -> String? {
            fields.first { $0.name.lowercased() == name.lowercased() }?.value
        }

        static func == (left: Reply, right: Reply) -> Bool {
            left.status == right.status && left.body == right.body && left.fields.map(\.name) == right.fields.map(\.name)
        }
    }

    enum Failure: Error, Equatable {
        case connect(Int32)
        case timedOut
        case reset
        case ended
        case malformed(String)
    }

    private var descriptor: Int32
    private var received: [UInt8] = []
    private var buffer = [UInt8](repeating: 0, count: 64 << 10)

    /// - Parameter source: the last number of the client's address, in 127.0.0.0/24.
    init(port: Int, receiveBuffer: Int32? = nil, source: UInt32 = 1) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var one: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
        if var size = receiveBuffer {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        }
        var patience = timeval(tv_sec: 120, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = (UInt32(0x7F00_0000) + source).bigEndian
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, size) }
        }
        guard bound == 0 else { throw Failure.connect(errno) }
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, size) }
        }
        guard result == 0 else { throw Failure.connect(errno) }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Sends everything, or stops if the peer has closed: its answer can still be read.
    func send(_ bytes: some Collection<UInt8>) {
        var rest = Array(bytes)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    func send(_ text: String) { send(Array(text.utf8)) }

    /// Ends the sending side.
    func finish() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Closes with a reset instead of an orderly end.
    func reset() {
        var value = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &value, socklen_t(MemoryLayout<linger>.size))
        close(descriptor)
        descriptor = -1
    }

    /// Whether the peer has closed in order, without sending more.
    func isAtEnd() throws -> Bool {
        if !received.isEmpty { return false }
        do {
            try fill()
            return false
        } catch Failure.ended {
            return true
        }
    }

    /// Waits until one of the clients has something to read, and returns the first that has; `nil` after two minutes.
    static func firstWithInput(of clients: [RawClient]) -> RawClient? {
        var sockets = clients.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        guard poll(&sockets, nfds_t(sockets.count), 120_000) > 0 else { return nil }
        return sockets.firstIndex { $0.revents & Int16(POLLIN) != 0 }.map { clients[$0] }
    }

    /// The next response, its body decoded.
    func reply(toHead: Bool = false) throws -> Reply {
        var reply = Reply()
        let statusLine = try line().split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        guard statusLine.count == 3, statusLine[0] == "HTTP/1.1", let status = Int(statusLine[1]) else {
            throw Failure.malformed("status line \(statusLine)")
        }
        reply.status = status
        while case let line = try line(), !line.isEmpty {
            guard let colon = line.firstIndex(of: ":") else { throw Failure.malformed(line) }
            reply.fields.append((String(line[..<colon]), String(line[line.index(colon, offsetBy: 2)...])))
        }
        if toHead || status == 204 || status == 304 || status < 200 { return reply }
        if reply["Transfer-Encoding"] == "chunked" {
            while let chunk = try chunk() { reply.body += chunk }
        } else if let length = reply["Content-Length"].flatMap(Int.init) {
            reply.body = try bytes(length)
        } else {
            reply.body = try rest()
        }
        return reply
    }

    /// The next chunk of a chunked body, nil at its end.
    func chunk() throws -> [UInt8]? {
        guard let size = Int(try line(), radix: 16) else { throw Failure.malformed("chunk size") }
        let data = try bytes(size)
        guard try line().isEmpty else { throw Failure.malformed("chunk end") }
        return size == 0 ? nil : data
    }

    /// Everything up to the peer's close.
    func rest() throws -> [UInt8] {
        while true {
            do { try fill() } catch Failure.ended {
                defer { received = [] }
                return received
            }
        }
    }

    /// The head of a response, through its empty line.
    func head() throws -> String {
        var head = ""
        while case let line = try line(), !line.isEmpty { head += line + "\n" }
        return head
    }

    func bytes(_ count: Int) throws -> [UInt8] {
        while received.count < count { try fill() }
        defer { received.removeFirst(count) }
        return Array(received[..<count])
    }

    private func line() throws -> String {
        while true {
            if let feed = received.firstIndex(of: 10) {
                guard feed > 0, received[feed - 1] == 13 else { throw Failure.malformed("bare line feed") }
                defer { received.removeFirst(feed + 1) }
                return String(decoding: received[..<(feed - 1)], as: UTF8.self)
            }
            try fill()
        }
    }

    private func fill() throws {
        // Linux interrupts a wait that has a time limit when the process is stopped and goes on: signal(7).
        var count = -1
        repeat { count = recv(descriptor, &buffer, buffer.count, 0) } while count < 0 && errno == EINTR
        if count == 0 { throw Failure.ended }
        guard count > 0 else { throw errno == EAGAIN ? Failure.timedOut : Failure.reset }
        received += buffer[..<count]
    }
}

/// Runs blocking work on a separate thread, so that it never holds one of the cooperative pool.
func blocking<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        DispatchQueue(label: "blocking test client").async { continuation.resume(with: Result(catching: body)) }
    }
}

/// A `RawClient` that asynchronous tests use step by step. One step at a time: each is awaited before the next.
struct Client: @unchecked Sendable {
    private let client: RawClient

    init(_ client: RawClient) {
        self.client = client
    }

    func run<Value: Sendable>(_ body: @escaping @Sendable (RawClient) throws -> Value) async throws -> Value {
        try await blocking { try body(client) }
    }
}
