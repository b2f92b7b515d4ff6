import Glibc
import Synchronization

/// A TCP proxy in front of a server that can refuse and cut connections and hold back answers, so that a test controls
/// the network.
package final class FaultProxy: Sendable {
    private struct State {
        var target: UInt16
        var refuses = false
        /// Answers to requests whose head contains one of these are held back until ``release()``.
        var held: [String] = []
        var connections: [Int: ProxiedConnection] = [:]
        var lastConnection = 0
        var accepted = 0
        var isGone = false
    }

    package let port: UInt16
    package var url: String { "http://127.0.0.1:\(port)" }
    private let descriptor: Int32
    private let state: Mutex<State>
    private let holds = AsyncStream.makeStream(of: String.self)

    /// The first line of each request whose answer is being held back.
    package var heldRequests: AsyncStream<String> { holds.stream }

    /// The number of connections accepted so far.
    package var connections: Int { state.withLock { $0.accepted } }

    package init(to target: Int) {
        (descriptor, port) = Sockets.listen()
        state = Mutex(State(target: UInt16(target)))
        Sockets.thread { [descriptor, weak self] in
            while true {
                let client = accept(descriptor, nil, nil)
                guard client >= 0 else { return }
                guard let self else {
                    close(client)
                    return
                }
                serve(client)
            }
        }
    }

    deinit {
        shutdown(descriptor, Int32(SHUT_RDWR))
        close(descriptor)
        for connection in state.withLock({ $0.connections.values.map(\.self) }) { connection.cut() }
    }

    /// Sends new connections to another port, as after a restart of the server.
    package func retarget(to port: Int) { state.withLock { $0.target = UInt16(port) } }

    /// Resets all connections; new ones are accepted.
    package func cut() {
        for connection in state.withLock({ $0.connections.values.map(\.self) }) { connection.cut() }
    }

    /// Resets all connections and every new one, until ``acceptAgain()``.
    package func refuse() {
        state.withLock { $0.refuses = true }
        cut()
    }

    package func acceptAgain() { state.withLock { $0.refuses = false } }

    /// Holds back the answer to every request whose head contains one of the texts. The request itself reaches the server.
    package func hold(answersTo texts: String...) { state.withLock { $0.held = texts } }

    /// Passes on the answers held back, and holds back no more.
    package func release() {
        let connections = state.withLock { state in
            state.held = []
            return state.connections.values.map(\.self)
        }
        for connection in connections { connection.release() }
    }

    private func serve(_ client: Int32) {
        let (target, refuses) = state.withLock { state in
            state.accepted += 1
            return (state.target, state.refuses)
        }
        guard !refuses, let server = Sockets.connect(port: target) else { return Sockets.reset(client) }
        Sockets.noDelay(client)
        let connection = ProxiedConnection(client: client, server: server)
        let id = state.withLock { state in
            state.lastConnection += 1
            state.connections[state.lastConnection] = connection
            return state.lastConnection
        }
        Sockets.thread { [weak self] in
            connection.pumpRequests { head in self?.shouldHold(head) ?? false }
            connection.finish()
        }
        Sockets.thread { [weak self] in
            connection.pumpAnswers()
            connection.finish()
            self?.state.withLock { $0.connections[id] = nil }
        }
    }

    private func shouldHold(_ head: String) -> Bool {
        guard state.withLock({ $0.held }).contains(where: head.contains) else { return false }
        holds.continuation.yield(String(head.prefix { $0 != "\r\n" }))
        return true
    }
}

/// One connection through the proxy; two threads pump its two directions.
private final class ProxiedConnection: Sendable {
    private struct State {
        var isHeld = false
        var heldBytes: [UInt8] = []
        var pumpsLeft = 2
    }

    private let client: Int32
    private let server: Int32
    private let state = Mutex(State())

    init(client: Int32, server: Int32) {
        self.client = client
        self.server = server
    }

    func pumpRequests(_ shouldHold: (String) -> Bool) {
        while true {
            let bytes = Sockets.read(client)
            guard !bytes.isEmpty else { break }
            // A request begins with its line in one segment: clients write the head at once.
            if shouldHold(String(decoding: bytes, as: UTF8.self)) { state.withLock { $0.isHeld = true } }
            guard Sockets.write(server, bytes) else { break }
        }
        shutdown(server, Int32(SHUT_WR))
    }

    func pumpAnswers() {
        while true {
            let bytes = Sockets.read(server)
            guard !bytes.isEmpty else { break }
            let isHeld = state.withLock { state in
                if state.isHeld { state.heldBytes += bytes }
                return state.isHeld
            }
            if !isHeld, !Sockets.write(client, bytes) { break }
        }
        if !state.withLock({ $0.isHeld }) { shutdown(client, Int32(SHUT_RDWR)) }
    }

    func release() {
        // Written under the lock, so that the bytes that the other thread reads meanwhile follow.
        state.withLock { state in
            state.isHeld = false
            Sockets.write(client, state.heldBytes)
            state.heldBytes = []
        }
    }

    /// Ends both directions; the pumps then notice it and finish.
    func cut() {
        state.withLock { state in
            guard state.pumpsLeft > 0 else { return }
            shutdown(client, Int32(SHUT_RDWR))
            shutdown(server, Int32(SHUT_RDWR))
        }
    }

    /// The last pump to end closes both descriptors, so that neither is closed while the other thread uses it.
    func finish() {
        state.withLock { state in
            state.pumpsLeft -= 1
            guard state.pumpsLeft == 0 else { return }
            close(client)
            close(server)
        }
    }
}
