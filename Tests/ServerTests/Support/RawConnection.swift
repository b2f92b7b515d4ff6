import Glibc

/// A TCP connection that blocks, with a time-out on every read: for threads of tests, never for the cooperative pool.
final class RawConnection {
    enum Failure: Error { case connect(Int32), send(Int32), timeout, closed }

    private let descriptor: Int32
    private var buffer: [UInt8] = []

    init(port: Int, timeout: Int = 120) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var limit = timeval(tv_sec: timeout, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
        guard result == 0 else { throw Failure.connect(errno) }
    }

    /// A connection to a Unix socket.
    init(socket path: String, timeout: Int = 120) throws {
        descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        var limit = timeval(tv_sec: timeout, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
        }
        guard result == 0 else { throw Failure.connect(errno) }
    }

    deinit { close(descriptor) }

    /// Ends the sending side.
    func finish() { shutdown(descriptor, Int32(SHUT_WR)) }

    func send(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw Failure.send(errno) }
            rest = rest.dropFirst(count)
        }
    }

    /// Reads up to and including the mark; the bytes after it stay for the next read.
    func read(through mark: String) throws -> [UInt8] {
        let mark = Array(mark.utf8)
        var searched = 0
        while true {
            if let end = buffer.firstRange(of: mark, from: max(0, searched - mark.count)) { return take(end) }
            searched = buffer.count
            try fill()
        }
    }

    func read(count: Int) throws -> [UInt8] {
        while buffer.count < count { try fill() }
        return take(count)
    }

    /// Reads everything until the peer closes.
    func readToEnd() throws -> [UInt8] {
        do { while true { try fill() } } catch Failure.closed { return take(buffer.count) }
    }

    private func take(_ count: Int) -> [UInt8] {
        defer { buffer.removeFirst(count) }
        return Array(buffer.prefix(count))
    }

    private func fill() throws {
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        // Linux interrupts a wait that has a time limit when the process is stopped and goes on: signal(7).
        var count = -1
        repeat { count = chunk.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, $0.count, 0) } } while count < 0 && errno == EINTR
        if count == 0 { throw Failure.closed }
        guard count > 0 else { throw errno == EAGAIN ? Failure.timeout : Failure.closed }
        buffer.append(contentsOf: chunk.prefix(count))
    }
}

extension [UInt8] {
    /// The end of the first occurrence of `mark`.
    fileprivate func firstRange(of mark: [UInt8], from start: Int) -> Int? {
        var place = start
        while place + mark.count <= count {
            if self[place..<place + mark.count].elementsEqual(mark) { return place + mark.count }
            place += 1
        }
        return nil
    }
}
