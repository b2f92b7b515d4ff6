import Glibc

/// Plain blocking IPv4 sockets on loopback, for servers and proxies that misbehave on purpose.
package enum Sockets {
    /// A listening socket on a port of the system's choice.
    package static func listen() -> (descriptor: Int32, port: UInt16) {
        let socket = bound()
        precondition(Glibc.listen(socket.descriptor, 128) == 0, "no listening socket: errno \(errno)")
        return socket
    }

    /// A socket on a port of the system's choice that refuses connections. No other socket gets the port as long as it
    /// is open.
    package static func bound() -> (descriptor: Int32, port: UInt16) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        var address = loopback(0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                let bound = bind(descriptor, pointer, length)
                getsockname(descriptor, pointer, &length)
                return bound
            }
        }
        precondition(descriptor >= 0 && bound == 0, "no bound socket: errno \(errno)")
        return (descriptor, UInt16(bigEndian: address.sin_port))
    }

    /// A connection to loopback, or `nil` if refused.
    package static func connect(port: UInt16) -> Int32? {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = loopback(port)
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else {
            close(descriptor)
            return nil
        }
        noDelay(descriptor)
        return descriptor
    }

    package static func noDelay(_ descriptor: Int32) {
        var yes: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Sends all bytes; false once the other side is gone.
    @discardableResult
    package static func write(_ descriptor: Int32, _ bytes: some Collection<UInt8>) -> Bool {
        var rest = Array(bytes)[...]
        while !rest.isEmpty {
            let sent = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard sent > 0 else { return false }
            rest = rest.dropFirst(sent)
        }
        return true
    }

    /// The next connection; negative, with `errno`, if there is none. A process that another test starts does not keep it open.
    package static func accept(_ descriptor: Int32) -> Int32 {
        let connection = Glibc.accept(descriptor, nil, nil)
        if connection >= 0 { _ = fcntl(connection, F_SETFD, FD_CLOEXEC) }
        return connection
    }

    /// The next bytes; empty when the other side has closed or reset.
    package static func read(_ descriptor: Int32) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        return count > 0 ? Array(buffer[..<count]) : []
    }

    /// Closes with a reset instead of an orderly end.
    package static func reset(_ descriptor: Int32) {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        close(descriptor)
    }

    /// The result of blocking work on a separate thread.
    package static func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            thread { continuation.resume(with: Result { try body() }) }
        }
    }

    /// Runs the closure on a separate thread, so that it does not block the cooperative pool.
    package static func thread(_ body: @escaping @Sendable () -> Void) {
        final class Box: Sendable {
            let body: @Sendable () -> Void
            init(_ body: @escaping @Sendable () -> Void) { self.body = body }
        }
        var thread = pthread_t()
        let box = Unmanaged.passRetained(Box(body))
        let failure = pthread_create(
            &thread, nil,
            { context in
                if let context { Unmanaged<Box>.fromOpaque(context).takeRetainedValue().body() }
                return nil
            }, box.toOpaque())
        precondition(failure == 0, "no thread")
        pthread_detach(thread)
    }

    private static func loopback(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr = in_addr(s_addr: in_addr_t(0x7F00_0001).bigEndian)
        return address
    }

    /// Starts a server that gives one answer to each connection, in this order, and closes it; an empty answer closes the connection without
    /// one. Requests must come in one piece, as small ones without a body do. Returns its URL.
    package static func serve(_ answers: [String]) -> String {
        let (descriptor, port) = listen()
        thread {
            for answer in answers {
                let connection = accept(descriptor)
                _ = read(connection)
                write(connection, Array(answer.utf8))
                close(connection)
            }
            close(descriptor)
        }
        return "http://127.0.0.1:\(port)"
    }
}
