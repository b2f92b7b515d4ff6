import CFreshetLinux
import Glibc

/// A bound, listening, non-blocking socket.
package struct ListeningSocket: Sendable {
    package let descriptor: Int32
    package let address: BoundAddress
    /// The file of a Unix socket.
    private var file: SocketFile?

    init(_ place: HTTPListener.Address, backlog: Int) throws(SocketHTTPError) {
        switch place {
        case .address(let host, let port): self = try ListeningSocket(host: host, port: port, backlog: backlog)
        case .socket(let path): self = try ListeningSocket(path: path, backlog: backlog)
        }
    }

    private init(path: String, backlog: Int) throws(SocketHTTPError) {
        let socket = try SocketFile.listen(path, backlog: backlog)
        (descriptor, file) = (socket.descriptor, socket.file)
        address = BoundAddress(host: path, port: 0, isVersion6: false, isSocket: true)
    }

    /// Closes the socket, and removes its file; the kernel resets the connections in its backlog.
    func close() {
        file?.remove()
        SystemCall.close(descriptor)
    }

    /// Resolves `host`, and listens on the first of its addresses that can be bound, IPv4 before IPv6, so that
    /// `localhost` is where most clients look for it.
    package init(host: String, port: Int, backlog: Int) throws(SocketHTTPError) {
        guard let number = UInt16(exactly: port) else { throw .invalidPort(port) }
        var failure = SocketHTTPError.unknownHost(host, reason: "it has no address")
        for var candidate in try ListeningSocket.resolve(host) {
            do throws(SocketHTTPError) {
                self = try ListeningSocket(&candidate, host: host, port: number, backlog: backlog)
                return
            } catch {
                failure = error
            }
        }
        throw failure
    }

    private init(_ storage: inout sockaddr_storage, host: String, port: UInt16, backlog: Int) throws(SocketHTTPError) {
        let isVersion6 = Int32(storage.ss_family) == AF_INET6
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = socket(Int32(storage.ss_family), kind, 0)
        guard descriptor >= 0 else { throw SocketHTTPError(errno: errno, during: "socket") }
        var one: Int32 = 1
        // A restart must not wait for the last run's connections to leave TIME_WAIT.
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))

        // The port lies at the same place in both families' addresses.
        withUnsafeMutableBytes(of: &storage) { $0.storeBytes(of: port.bigEndian, toByteOffset: 2, as: UInt16.self) }
        var length = socklen_t(isVersion6 ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size)
        let bound = withUnsafePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
        }
        guard bound == 0, listen(descriptor, Int32(clamping: backlog)) == 0 else {
            let code = errno
            SystemCall.close(descriptor)
            throw SocketHTTPError(errno: code, binding: host, port: Int(port))
        }
        length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        withUnsafeMutablePointer(to: &storage) { pointer in
            _ = pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        let chosen = withUnsafeBytes(of: &storage) { UInt16(bigEndian: $0.load(fromByteOffset: 2, as: UInt16.self)) }
        self.descriptor = descriptor
        address = BoundAddress(host: PeerAddress(&storage).text, port: Int(chosen), isVersion6: isVersion6)
    }

    private static func resolve(_ host: String) throws(SocketHTTPError) -> [sockaddr_storage] {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_PASSIVE
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, nil, &hints, &list)
        guard code == 0, let first = list else {
            throw .unknownHost(host, reason: gai_strerror(code).map { String(cString: $0) } ?? "error \(code)")
        }
        defer { freeaddrinfo(first) }
        var version4: [sockaddr_storage] = []
        var version6: [sockaddr_storage] = []
        var next: UnsafeMutablePointer<addrinfo>? = first
        while let entry = next?.pointee {
            var storage = sockaddr_storage()
            if let source = entry.ai_addr {
                withUnsafeMutableBytes(of: &storage) {
                    $0.copyMemory(from: UnsafeRawBufferPointer(start: source, count: min($0.count, Int(entry.ai_addrlen))))
                }
            }
            if entry.ai_family == AF_INET { version4.append(storage) }
            if entry.ai_family == AF_INET6 { version6.append(storage) }
            next = entry.ai_next
        }
        return version4 + version6
    }
}

extension ListeningSocket {
    /// The result of an attempt to accept.
    enum AcceptResult {
        case accepted(Int32, PeerAddress)
        case failed(Int32)
    }

    /// Takes one connection from the backlog: non-blocking, closed on exec, and without Nagle's delay, which would hold
    /// a small answer for the peer's delayed acknowledgement (40 ms).
    static func accept(_ listener: Int32) -> AcceptResult {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let flags = Int32(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { accept4(listener, $0, &length, flags) }
        }
        guard descriptor >= 0 else { return .failed(errno) }
        var one: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
        return .accepted(descriptor, PeerAddress(&storage))
    }

    /// Takes one connection as above. Without one, the process may be out of descriptors; the connection then waits.
    package func accept() -> (descriptor: Int32?, isStarved: Bool) {
        switch Self.accept(descriptor) {
        case .accepted(let connection, _): (connection, false)
        case .failed(let code): (nil, [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(code))
        }
    }
}
