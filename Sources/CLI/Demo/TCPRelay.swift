import Dispatch
import Glibc
import Synchronization

/// A TCP relay on the loopback between a device and its server, which can be disconnected.
final class TCPRelay: Sendable {
    private struct State {
        var isPulled = false
        var isClosed = false
        var lines: [ObjectIdentifier: Line] = [:]
    }

    /// A connection of the device and the matching one to the server.
    private final class Line: Sendable {
        let device: Int32
        let server: Int32
        /// The directions that still flow; the last one to end closes both sockets.
        let flowing = Atomic(2)

        init(device: Int32, server: Int32) {
            self.device = device
            self.server = server
        }

        func shutDown() {
            shutdown(device, Int32(SHUT_RDWR))
            shutdown(server, Int32(SHUT_RDWR))
        }
    }

    /// Where the device connects to.
    let port: Int
    private let listener: Int32
    private let serverPort: Int
    private let state = Mutex(State())

    init(toPort serverPort: Int) throws(CommandFailure) {
        self.serverPort = serverPort
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        self.listener = listener
        var address = Self.loopback(port: 0)
        let length = socklen_t(MemoryLayout<sockaddr_in>.size)
        guard listener >= 0, Self.withSocketAddress(&address, { bind(listener, $0, length) }) == 0, listen(listener, 64) == 0 else {
            throw CommandFailure(.software, "cannot listen on the loopback: \(systemReason())")
        }
        _ = fcntl(listener, F_SETFD, FD_CLOEXEC)
        var bound = length
        _ = Self.withSocketAddress(&address) { getsockname(listener, $0, &bound) }
        port = Int(UInt16(bigEndian: address.sin_port))
        // Threads of Dispatch's, since all here waits for sockets.
        DispatchQueue(label: "freshet.cable").async { @Sendable [self] in accept() }
    }

    /// Breaks all connections, and every new one, until ``plugIn()``.
    func disconnect() {
        let lines = state.withLock { state in
            state.isPulled = true
            return Array(state.lines.values)
        }
        for line in lines { line.shutDown() }
    }

    func reconnect() { state.withLock { $0.isPulled = false } }

    /// Breaks all connections for good.
    func close() {
        disconnect()
        state.withLock { $0.isClosed = true }
        shutdown(listener, Int32(SHUT_RDWR))
    }

    private func accept() {
        while true {
            let device = Glibc.accept(listener, nil, nil)
            guard device >= 0 else {
                if errno == EINTR || errno == ECONNABORTED, !state.withLock({ $0.isClosed }) { continue }
                break
            }
            _ = fcntl(device, F_SETFD, FD_CLOEXEC)
            guard !state.withLock({ $0.isPulled }), let server = connect() else {
                Glibc.close(device)
                continue
            }
            begin(Line(device: device, server: server))
        }
        Glibc.close(listener)
    }

    private func begin(_ line: Line) {
        let isPulled = state.withLock { state in
            state.lines[ObjectIdentifier(line)] = line
            return state.isPulled
        }
        if isPulled { line.shutDown() }
        let queue = DispatchQueue(label: "freshet.cable.line", attributes: .concurrent)
        queue.async { @Sendable [self] in flow(line, from: line.device, to: line.server) }
        queue.async { @Sendable [self] in flow(line, from: line.server, to: line.device) }
    }

    private func flow(_ line: Line, from source: Int32, to target: Int32) {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = recv(source, &buffer, buffer.count, 0)
            if count < 0, errno == EINTR { continue }
            guard count > 0, Self.sendAll(target, buffer[..<count]) else { break }
        }
        line.shutDown()
        guard line.flowing.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 else { return }
        // Under the lock, so that no thread shuts down a descriptor that has already been reused.
        state.withLock { state in
            state.lines[ObjectIdentifier(line)] = nil
            Glibc.close(line.device)
            Glibc.close(line.server)
        }
    }

    private static func sendAll(_ descriptor: Int32, _ bytes: ArraySlice<UInt8>) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            if count > 0 { rest = rest.dropFirst(count) } else if errno != EINTR { return false }
        }
        return true
    }

    private func connect() -> Int32? {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        var address = Self.loopback(port: serverPort)
        let length = socklen_t(MemoryLayout<sockaddr_in>.size)
        guard Self.withSocketAddress(&address, { Glibc.connect(descriptor, $0, length) }) == 0 else {
            Glibc.close(descriptor)
            return nil
        }
        var on: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        return descriptor
    }

    private static func loopback(port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(truncatingIfNeeded: port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    private static func withSocketAddress<Result>(_ address: inout sockaddr_in, _ body: (UnsafeMutablePointer<sockaddr>) -> Result)
        -> Result
    {
        withUnsafeMutablePointer(to: &address) { $0.withMemoryRebound(to: sockaddr.self, capacity: 1, body) }
    }
}
