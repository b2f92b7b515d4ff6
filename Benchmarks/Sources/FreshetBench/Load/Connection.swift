import CEpoll
import Glibc

/// One keep-alive connection of a closed-loop load: sends a request when the previous one has been answered.
struct Connection {
    let descriptor: Int32
    private(set) var status = 0
    /// The last whole answer, for callers that need its content.
    private(set) var answer: [UInt8] = []
    private var buffer: [UInt8] = []
    private var sent: ContinuousClock.Instant = .now
    private let keepsAnswer: Bool

    /// Connects to 127.0.0.1, so that no load ever leaves the machine.
    ///
    /// - Parameter source: which of this machine's loopback addresses to connect from, 127.0.0.1 and upward: each has
    ///   separate ports.
    init(port: UInt16, keepsAnswer: Bool = true, source: Int = 0) throws {
        self.keepsAnswer = keepsAnswer
        // No child may inherit it: a program that counts its own descriptors would fail, and the server would never see it closed.
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw LoadError.system("socket", errno) }
        var one: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
        if source > 0 {
            // The port is chosen when it connects, so that it need be free for this one peer only.
            setsockopt(descriptor, Int32(IPPROTO_IP), IP_BIND_ADDRESS_NO_PORT, &one, socklen_t(MemoryLayout<Int32>.size))
            guard Self.call(bind, descriptor, UInt32(0x7F00_0001) + UInt32(source), 0) else { throw LoadError.system("bind", errno) }
        }
        guard Self.call(connect, descriptor, 0x7F00_0001, port) else { throw LoadError.system("connect to 127.0.0.1:\(port)", errno) }
    }

    private static func call(
        _ function: (Int32, UnsafePointer<sockaddr>?, socklen_t) -> Int32, _ descriptor: Int32, _ host: UInt32, _ port: UInt16
    ) -> Bool {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = host.bigEndian
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                function(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }

    /// Sends a request, waits for its answer, and returns the answer.
    ///
    /// - Throws: `LoadError.status` unless it was a success.
    @discardableResult
    mutating func ask(_ request: [UInt8]) throws -> String {
        try send(request)
        var scratch = [UInt8](repeating: 0, count: 1 << 16)
        while try receive(into: &scratch) == nil {}
        guard (200..<300).contains(status) else { throw LoadError.status(status) }
        return String(decoding: answer, as: UTF8.self)
    }

    /// A field of the last answer.
    func field(_ name: StaticString) -> String? {
        answer.withUnsafeBytes { bytes in
            guard let start = Self.position(of: name, in: bytes) else { return nil }
            let rest = bytes[(start + name.utf8CodeUnitCount)...].drop { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: " ") }
            return String(decoding: rest.prefix { $0 != 13 }, as: UTF8.self)
        }
    }

    /// The numbers that follow the text at each of its places in the last answer.
    func numbers(after text: StaticString) -> [Int] {
        answer.withUnsafeBytes { bytes in
            var numbers: [Int] = []
            var rest = bytes[...]
            while let found = Self.position(of: text, in: UnsafeRawBufferPointer(rebasing: rest)) {
                rest = rest.dropFirst(found + text.utf8CodeUnitCount)
                numbers.append(Self.number(rest))
            }
            return numbers
        }
    }

    mutating func send(_ request: [UInt8]) throws {
        sent = .now
        var rest = request[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { throw LoadError.system("write", errno) }
            rest = rest.dropFirst(count)
        }
    }

    /// Reads the available bytes; returns the time since the request once the answer is complete, otherwise `nil`.
    mutating func receive(into scratch: inout [UInt8]) throws -> Duration? {
        let count = scratch.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
        guard count > 0 else { throw LoadError.closed }
        buffer.append(contentsOf: scratch[..<count])
        guard let length = answerLength(), buffer.count >= length else { return nil }
        if buffer.count == length {
            if keepsAnswer { swap(&answer, &buffer) }
            buffer.removeAll(keepingCapacity: true)
        } else {
            if keepsAnswer { answer = Array(buffer[..<length]) }
            buffer.removeFirst(length)
        }
        return .now - sent
    }

    /// Head and body together, by `Content-Length`; `nil` until the head is there. The load must cost less than the
    /// server that it measures, hence no intermediate text.
    private mutating func answerLength() -> Int? {
        buffer.withUnsafeBytes { bytes -> (status: Int, length: Int)? in
            guard let end = Self.position(of: "\r\n\r\n", in: bytes) else { return nil }
            let head = UnsafeRawBufferPointer(rebasing: bytes[..<end])
            let body = Self.position(of: "\r\nContent-Length: ", in: head).map { Self.number(bytes[($0 + 18)...]) } ?? 0
            return (Self.number(bytes[9...]), end + 4 + body)
        }.map {
            status = $0.status
            return $0.length
        }
    }

    private static func position(of text: StaticString, in bytes: UnsafeRawBufferPointer) -> Int? {
        guard let found = memmem(bytes.baseAddress, bytes.count, text.utf8Start, text.utf8CodeUnitCount) else { return nil }
        return bytes.baseAddress.map { UnsafeRawPointer(found) - $0 }
    }

    private static func number(_ bytes: Slice<UnsafeRawBufferPointer>) -> Int {
        var number = 0
        for byte in bytes {
            guard (0x30...0x39).contains(byte) else { break }
            number = number * 10 + Int(byte - 0x30)
        }
        return number
    }
}

enum LoadError: Error, CustomStringConvertible {
    /// A system call failed: the server may not be running.
    case system(String, Int32)
    /// The server closed a connection in the middle of the load.
    case closed
    /// The server's answer was not a success.
    case status(Int)
    /// The server left out the position that every answer must carry.
    case noCursor
    /// The server did not hold all waiting clients within 20 seconds.
    case notWaiting
    /// No answer arrived for 30 seconds.
    case silent
    /// A test's server has lost or doubled a write.
    case wrongSum

    var description: String {
        switch self {
        case .system(let call, let code): "\(call): \(String(cString: strerror(code)))"
        case .closed: "the server closed a connection"
        case .status(let status): "the server answered \(status)"
        case .noCursor: "an answer came without Freshet-Cursor"
        case .silent: "nothing was answered for 30 seconds"
        case .wrongSum: "a write was lost or doubled"
        case .notWaiting: "not all clients came to wait within 20 seconds"
        }
    }
}
