import CFreshetLinux
import FreshetSocketHTTP
import FreshetWire
import HTTPTypes

/// A client's connection through the proxy, and that to the server. Requests are passed on one after another.
///
/// Its proxy's lock guards it. Each event ends with ``advanceAndFlush()``.
final class ProxiedConnection {
    /// The fate of the current request's response.
    enum Treatment {
        case pass
        /// The connection ends in place of the response.
        case lose
        /// Its head and half of its body pass, of a stream the head, and half of a head without a body.
        case cut
        /// It waits so long, unless it is a stream, or until the faults are cleared.
        case delay(milliseconds: Int, FaultInjector.Match)
        /// It waits for ``release()``.
        case hold
    }

    /// The request that was read last.
    struct Current {
        var bytes: [UInt8]
        var head: RequestHead
        var port: Int
        var treatment = Treatment.pass
    }

    enum Phase {
        /// The next request is being read.
        case reading
        /// The request waits until it is resumed: to be sent, or to end its connection.
        case heldRequest(isLost: Bool)
        /// A copy of the request is being handled first.
        case copying
        /// The response's head is awaited.
        case awaiting
        /// The response waits until it is resumed.
        case heldResponse
        /// The response's body is being passed on; its first `remaining` bytes alone if it is cut.
        case passing(ResponseScanner.Body, remaining: Int?)
        /// All bytes pass in both directions, whatever they mean.
        case tunnel
        /// The server has ended the connection. The client's input is discarded until it does the same, since closing with
        /// unread input would make the kernel reset the connection and destroy bytes that the client has not read.
        case finishing
        case closed
    }

    let identifier: UInt32
    let rules: ProxyRules
    let epoll: Epoll
    let client: BufferedSocket
    private(set) var server: (socket: BufferedSocket, port: Int)?
    var copy: BufferedSocket?
    var phase = Phase.reading
    var current: Current?

    private var reader: RequestReader
    /// Bytes of the request that is being read, and bytes behind it.
    private var request: [UInt8] = []
    private var input: [UInt8] = []
    private var isInputEnded = false
    private var hasContinued = false
    /// The response's bytes until its head is complete, or while it is held back.
    var response: [UInt8] = []
    var copyResponse: [UInt8] = []
    private var closesWhenFlushed = false
    /// The current hold on the board, and how many there were.
    var hold: Int?
    var holds = 0

    init(_ identifier: UInt32, client descriptor: Int32, _ rules: ProxyRules, _ epoll: Epoll) {
        self.identifier = identifier
        self.rules = rules
        self.epoll = epoll
        client = BufferedSocket(descriptor, token: Role.client.token(identifier), epoll)
        reader = RequestReader(rules.limits)
        // At once, so that the server's own limits on connections and idle clients apply.
        connect(to: rules.target)
    }

    /// Whether nothing of it is left to pass on.
    var isDone: Bool {
        switch phase {
        case .closed: true
        case .finishing: client.isFlushed
        default: false
        }
    }

    // MARK: Events

    func clientIsReady(_ event: epoll_event) {
        if event.isBroken { return close() }
        if event.isReadable { read(client) { $0.map { input += $0 } ?? (isInputEnded = true) } }
    }

    func serverIsReady(_ event: epoll_event) {
        guard let socket = server?.socket, event.isReadable || event.isBroken else { return }
        read(socket) { bytes in if let bytes { received(bytes) } else { serverEnded() } }
    }

    /// Reads once; hands over the bytes, `nil` for the end of the input or a failure.
    func read(_ socket: BufferedSocket, _ take: ([UInt8]?) -> Void) {
        let (bytes, result) = rules.buffer.read(socket.descriptor)
        switch result {
        case .wouldBlock: break
        case .bytes: take(bytes)
        case .endOfStream: take(nil)
        case .failed:
            if socket === client { close() } else { take(nil) }
        }
    }

    /// Does what the last event has made possible, and watches for the next ones.
    func advanceAndFlush() {
        advance()
        if !client.flush() { close() }
        if let server = server?.socket, !server.flush() { server.discardOutput() }
        if let copy, !copy.flush() { copy.discardOutput() }
        if client.isFlushed, closesWhenFlushed { close() }
        if case .finishing = phase, client.isFlushed, isInputEnded { close() }
        if case .closed = phase { return }
        client.watch(input: wantsInput, reportsEnd: true)
        server?.socket.watch(input: wantsResponse, reportsEnd: false)
        copy?.watch(input: true, reportsEnd: false)
    }

    private var wantsInput: Bool {
        guard !isInputEnded, !closesWhenFlushed else { return false }
        return switch phase {
        // A client that does not read its responses is read no further.
        case .reading: !client.isFull
        case .finishing: true
        case .tunnel: !(server?.socket.isFull ?? false)
        default: input.count < BufferedSocket.limit
        }
    }

    private var wantsResponse: Bool {
        if case .heldResponse = phase { false } else { !client.isFull }
    }

    // MARK: From the client

    private func advance() {
        while true {
            switch phase {
            case .reading:
                guard !input.isEmpty else {
                    guard isInputEnded else { return }
                    if request.isEmpty, server == nil { return close() }
                    tunnel()
                    continue
                }
                readRequest()
            case .tunnel:
                server?.socket.send(input)
                input = []
                return passEnd()
            case .finishing:
                return input = []
            case .heldRequest(isLost: true) where isInputEnded:
                // The client has given up: the connection may close.
                return close()
            case .awaiting, .heldResponse, .passing:
                return passEnd()
            case .heldRequest, .copying, .closed:
                return
            }
        }
    }

    /// Ends the input of the server too once all of it is passed on: the server decides what that means.
    private func passEnd() {
        if isInputEnded, input.isEmpty { server?.socket.endOutput() }
    }

    private func readRequest() {
        var position = 0
        let outcome = reader.read(input, from: &position)
        request += input[..<position]
        input.removeFirst(position)
        switch outcome {
        case .incomplete: break
        case .expectsContinue:
            hasContinued = true
            client.send("HTTP/1.1 100 Continue\r\n\r\n".utf8)
        case .request(let head):
            let bytes = request
            request = []
            begin(Current(bytes: bytes, head: head, port: rules.port(for: head)))
        case .failure: tunnel()
        }
    }

    /// Passes everything on from here, since the next request cannot be told from the bytes: the server answers, and ends
    /// the connection.
    private func tunnel() {
        phase = .tunnel
        connect(to: rules.target)
        server?.socket.send(request)
        request = []
    }

    /// Sends the current request to its server.
    func forward() {
        guard let current else { return }
        phase = .awaiting
        connect(to: current.port)
        server?.socket.send(current.bytes)
    }

    /// Answers the current request in place of the server.
    func answer(_ response: Response) {
        guard let current else { return }
        let closes = !current.head.keepsAlive || current.head.isHTTP10
        client.send(EncodedResponse(response).message(isHeadOnly: current.head.methodName == .head, closes: closes))
        if closes { finish() } else { complete() }
    }

    /// Keeps the connection to the port, or makes one.
    private func connect(to port: Int) {
        if let server, server.port == port { return }
        server?.socket.close()
        server = BufferedSocket(connectingTo: port, token: Role.server.token(identifier), epoll).map { ($0, port) }
        if server == nil, case .reading = phase { return }
        if server == nil { finish() }
    }

    // MARK: From the server

    private func received(_ bytes: [UInt8]) {
        switch phase {
        case .awaiting:
            response += bytes
            readHead()
            if response.count > BufferedSocket.limit, case .awaiting = phase { finish() }
        case .passing(var body, let remaining): pass(bytes, of: &body, remaining)
        // What a server sends without a request, it sends before it closes the connection.
        case .reading, .tunnel, .finishing: client.send(bytes)
        case .heldRequest, .copying, .heldResponse, .closed: break
        }
    }

    /// Reads heads up to the final one, and treats that one as the fault wants.
    func readHead() {
        guard let current else { return }
        let scanner = ResponseScanner(isHeadOnly: current.head.methodName == .head)
        while let head = scanner.head(response) {
            if head.status < 200 {
                if head.status != 100 || !hasContinued { client.send(response[..<head.count]) }
                response.removeFirst(head.count)
                continue
            }
            let bytes = response
            switch current.treatment {
            case .lose: return close()
            case .hold:
                rules.heldRequests.yield(String(String(decoding: current.head.bytes, as: UTF8.self).prefix { $0 != "\r\n" }))
                return phase = .heldResponse
            case .delay(let milliseconds, let match) where !head.body.isStream:
                phase = .heldResponse
                return wait(match, milliseconds)
            case .pass, .cut, .delay: break
            }
            response = []
            var body = head.body
            var remaining: Int?
            if case .cut = current.treatment {
                let length = if case .length(let length) = body { length } else { 0 }
                remaining = length == 0 && !body.isStream ? head.count / 2 : head.count + length / 2
            }
            send(bytes[..<head.count], &remaining)
            return pass(Array(bytes[head.count...]), of: &body, remaining)
        }
    }

    private func pass(_ bytes: [UInt8], of body: inout ResponseScanner.Body, _ remaining: Int?) {
        var remaining = remaining
        let (count, isComplete) = body.read(bytes)
        send(bytes[..<count], &remaining)
        if remaining == 0 {
            closeServer()
            closesWhenFlushed = true
        }
        phase = .passing(body, remaining: remaining)
        guard isComplete else { return }
        complete()
        if remaining == nil { client.send(bytes[count...]) }
    }

    private func send(_ bytes: ArraySlice<UInt8>, _ remaining: inout Int?) {
        client.send(bytes.prefix(remaining ?? bytes.count))
        remaining = remaining.map { max(0, $0 - bytes.count) }
    }

    private func serverEnded() {
        closeServer()
        switch phase {
        // Between requests the client has to learn of it. Within one, a new connection is made when it is complete.
        case .reading: if request.isEmpty { finish() }
        case .heldRequest, .copying, .closed: break
        case .awaiting, .heldResponse, .passing, .tunnel, .finishing: finish()
        }
    }

    // MARK: Endings

    private func complete() {
        (current, hasContinued) = (nil, false)
        copy?.close()
        copy = nil
        if !closesWhenFlushed { phase = .reading }
    }

    private func finish() {
        closeServer()
        phase = .finishing
        client.endOutput()
    }

    func closeServer() {
        server?.socket.close()
        server = nil
    }

    /// Ends the connection at once, without the bytes that wait.
    func close() {
        if case .closed = phase { return }
        phase = .closed
        client.close()
        closeServer()
        copy?.close()
        copy = nil
        if let hold { rules.injector?.drop(hold) }
    }
}
