import FreshetSocketHTTP
import Glibc

/// A non-blocking socket in an epoll set, with the bytes that wait to be sent.
final class BufferedSocket {
    /// The bytes that may wait before their source is read no further.
    static let limit = 256 << 10

    let descriptor: Int32
    private let token: UInt64
    private let epoll: Epoll
    private var output: [UInt8] = []
    /// How many bytes of the output are sent already.
    private var sent = 0
    private var interest: Epoll.Interest?
    private var endsOutput = false

    var isFlushed: Bool { output.isEmpty }
    var isFull: Bool { output.count - sent > Self.limit }

    init(_ descriptor: Int32, token: UInt64, _ epoll: Epoll) {
        self.descriptor = descriptor
        self.token = token
        self.epoll = epoll
    }

    /// Begins to connect to a port of the loopback; `nil` without a descriptor, or if the port is known to be closed.
    convenience init?(connectingTo port: Int, token: UInt64, _ epoll: Epoll) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        var one: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(truncatingIfNeeded: port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
        guard result == 0 || errno == EINPROGRESS else {
            SystemCall.close(descriptor)
            return nil
        }
        self.init(descriptor, token: token, epoll)
    }

    /// Sends the bytes, or keeps those that the kernel does not take yet.
    func send(_ bytes: some Collection<UInt8>) { output.append(contentsOf: bytes) }

    /// Sends no more after the bytes so far, and says so to the peer.
    func endOutput() { endsOutput = true }

    /// Drops the bytes that wait, since the peer takes no more.
    func discardOutput() { (output, sent) = ([], 0) }

    /// Sends what the kernel takes. Returns false if the peer takes no more.
    func flush() -> Bool {
        while sent < output.count {
            switch output.withUnsafeBytes({ SystemCall.send(descriptor, UnsafeRawBufferPointer(rebasing: $0[sent...])) }) {
            case .bytes(let count): sent += count
            case .wouldBlock:
                // Moving the rest costs as much as sending it, so it is done once for each part that was sent.
                if sent > Self.limit, sent > output.count / 2 {
                    output.removeFirst(sent)
                    sent = 0
                }
                return true
            case .failed: return false
            }
        }
        output.removeAll(keepingCapacity: output.count <= Self.limit)
        sent = 0
        if endsOutput {
            SystemCall.shutdownWriting(descriptor)
            endsOutput = false
        }
        return true
    }

    /// Asks epoll for input if wanted, and for room if bytes wait.
    ///
    /// - Parameter reportsEnd: whether a reset and the end of both directions are reported even if nothing else is asked for.
    func watch(input: Bool, reportsEnd: Bool) {
        var wanted: Epoll.Interest = input ? .reading : []
        if !output.isEmpty { wanted.insert(.writing) }
        let next = wanted.isEmpty && !reportsEnd ? nil : Optional(wanted)
        guard next != interest else { return }
        switch (interest, next) {
        case (nil, let next?): _ = epoll.add(descriptor, next, token: token)
        case (_, let next?): epoll.modify(descriptor, next, token: token)
        default: epoll.remove(descriptor)
        }
        interest = next
    }

    func close() { SystemCall.close(descriptor) }
}
