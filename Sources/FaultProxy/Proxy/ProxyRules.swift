import FreshetSocketHTTP

/// What the connections of one proxy share. Its proxy's lock guards it.
final class ProxyRules {
    /// The server's port, of new connections.
    var target: Int
    /// The port that answers for faults, if any does.
    let endpoints: Int?
    let injector: FaultInjector?
    let limits: Limits
    let buffer = ReadBuffer()
    /// Continues a connection after a hold, by its identifier and the number of the hold. From any thread.
    let resume: @Sendable (UInt32, Int) -> Void
    /// The response to a request whose head contains one of these is held back.
    var heldTexts: [String] = []
    /// Receives the first line of each such request.
    let heldRequests: AsyncStream<String>.Continuation

    init(
        target: Int, endpoints: Int?, _ injector: FaultInjector?, _ limits: Limits, heldRequests: AsyncStream<String>.Continuation,
        resume: @escaping @Sendable (UInt32, Int) -> Void
    ) {
        self.target = target
        self.endpoints = endpoints
        self.injector = injector
        self.limits = limits
        self.heldRequests = heldRequests
        self.resume = resume
    }

    /// The port that a request is for: `/v1/{ns}/faults` and the paths below it have their own.
    func port(for head: RequestHead) -> Int {
        guard let endpoints, EndpointPath(head.path)?.endpoint == "faults" else { return target }
        return endpoints
    }

    func holdsAnswer(to head: RequestHead) -> Bool {
        guard !heldTexts.isEmpty else { return false }
        let text = String(decoding: head.bytes, as: UTF8.self)
        return heldTexts.contains(where: text.contains)
    }
}

/// Where input is read into before it is copied, at its exact size.
final class ReadBuffer {
    private let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)

    deinit { bytes.deallocate() }

    func read(_ descriptor: Int32) -> (bytes: [UInt8], result: SystemCall.ReadResult) {
        let result = SystemCall.read(descriptor, into: bytes)
        guard case .bytes(let count) = result else { return ([], result) }
        return (Array(bytes[..<count]), result)
    }
}

/// The part that a socket has in its connection.
enum Role: UInt64 {
    case client, server, copy

    /// The token of the socket in the epoll set.
    func token(_ connection: UInt32) -> UInt64 { UInt64(connection) << 2 | rawValue }

    /// The connection and the part that a token names.
    static func parts(of token: UInt64) -> (connection: UInt32, role: Role)? {
        Role(rawValue: token & 3).map { (UInt32(truncatingIfNeeded: token >> 2), $0) }
    }
}
