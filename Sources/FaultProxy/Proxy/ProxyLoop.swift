import CFreshetLinux
import Dispatch
import FreshetPlatform
import FreshetSocketHTTP
import Glibc
import Synchronization

/// The sockets of a proxy, and the thread that waits for them. One lock guards all of it: what another thread does, it
/// does at once.
final class ProxyLoop: Sendable {
    struct State {
        let rules: ProxyRules
        let epoll: Epoll
        var connections: [UInt32: ProxiedConnection] = [:]
        var refuses = false
        fileprivate var listener: ListeningSocket?
        fileprivate var lastIdentifier: UInt32 = 0
        fileprivate var isClosed = false
        fileprivate var isStarved = false
        fileprivate var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>
    private let epoll: Epoll
    private let wakeup: WakeupEvent

    private static let listenerToken = UInt64.max
    private static let wakeupToken = UInt64.max - 1

    init(_ listener: ListeningSocket, _ rules: (@escaping @Sendable (UInt32, Int) -> Void) -> sending ProxyRules) throws(SocketHTTPError) {
        let epoll = try Epoll()
        do throws(SystemFailure) { wakeup = try WakeupEvent() } catch {
            SystemCall.close(epoll.descriptor)
            throw SocketHTTPError.system(call: "eventfd", errno: error.code)
        }
        self.epoll = epoll
        let link = Link()
        state = Mutex(
            State(
                rules: rules { identifier, hold in link.loop?.change { $0.connections[identifier]?.resume(hold) } }, epoll: epoll,
                listener: listener))
        link.set(self)
        let isWatched =
            epoll.add(wakeup.descriptor, .reading, token: Self.wakeupToken)
            && epoll.add(listener.descriptor, .reading, token: Self.listenerToken)
        let failure = isWatched ? DetachedThread.start { [self] in run() } : errno
        guard failure == 0 else {
            SystemCall.close(epoll.descriptor)
            SystemCall.close(wakeup.descriptor)
            throw SocketHTTPError.system(call: "pthread_create", errno: failure)
        }
    }

    /// The loop, for closures that were made before it.
    private final class Link: Sendable {
        struct Reference { weak var loop: ProxyLoop? }
        private let reference = Mutex(Reference())
        var loop: ProxyLoop? { reference.withLock { $0.loop } }
        func set(_ loop: ProxyLoop) { reference.withLock { $0.loop = loop } }
    }

    /// Changes the state, and does what the change has made possible.
    func change(_ body: (inout State) -> Void) {
        state.withLock { state in
            guard !state.isClosed else { return }
            body(&state)
            for identifier in Array(state.connections.keys) { state.advanceAndFlush(identifier) }
        }
    }

    func waitUntilDone(within limit: Duration) async {
        let deadline = DispatchTime.now() + .nanoseconds(Int(clamping: limit.clampedNanoseconds))
        DispatchQueue.global().asyncAfter(deadline: deadline) { [weak self] in self?.close() }
        await withCheckedContinuation { continuation in
            let isDone = state.withLock { state in
                if state.isDone { return true }
                state.waiting.append(continuation)
                return false
            }
            if isDone { continuation.resume() }
        }
    }

    /// Closes everything, and ends the thread.
    func close() {
        state.withLock { state in
            guard !state.isClosed else { return }
            state.isClosed = true
            state.closeAll()
            state.stopAccepting()
            state.rules.heldRequests.finish()
            state.wakeWaiting()
            wakeup.signal()
        }
    }

    // MARK: On its thread

    private func run() {
        let events = UnsafeMutableBufferPointer<epoll_event>.allocate(capacity: 256)
        defer { events.deallocate() }
        var isClosed = false
        while !isClosed {
            let count = epoll.wait(events, milliseconds: -1)
            var isStarved = false
            isClosed = state.withLock { state in
                state.isStarved = false
                for index in 0..<count where !state.isClosed { state.handle(events[index]) }
                state.wakeWaiting()
                isStarved = state.isStarved
                return state.isClosed
            }
            // Without a descriptor epoll would report the same connection again at once.
            if isStarved { usleep(10_000) }
        }
        SystemCall.close(epoll.descriptor)
        SystemCall.close(wakeup.descriptor)
    }
}

extension ProxyLoop.State {
    fileprivate var isDone: Bool { isClosed || connections.values.allSatisfy(\.isDone) }

    fileprivate mutating func wakeWaiting() {
        guard !waiting.isEmpty, isDone else { return }
        for continuation in waiting { continuation.resume() }
        waiting = []
    }

    mutating func closeAll() {
        for connection in connections.values { connection.close() }
        connections = [:]
    }

    mutating func stopAccepting() {
        guard let listener else { return }
        SystemCall.close(listener.descriptor)
        self.listener = nil
    }

    fileprivate mutating func handle(_ event: epoll_event) {
        let token = event.data.u64
        if token == ProxyLoop.listenerToken { return accept() }
        guard let (identifier, role) = Role.parts(of: token), let connection = connections[identifier] else { return }
        switch role {
        case .client: connection.clientIsReady(event)
        case .server: connection.serverIsReady(event)
        case .copy: connection.copyIsReady(event)
        }
        advanceAndFlush(identifier)
    }

    fileprivate mutating func advanceAndFlush(_ identifier: UInt32) {
        guard let connection = connections[identifier] else { return }
        connection.advanceAndFlush()
        if case .closed = connection.phase { connections[identifier] = nil }
    }

    private mutating func accept() {
        guard let listener else { return }
        let (descriptor, isStarved) = listener.accept()
        self.isStarved = isStarved
        guard let descriptor else { return }
        guard !refuses else { return SystemCall.close(descriptor) }
        lastIdentifier &+= 1
        connections[lastIdentifier] = ProxiedConnection(lastIdentifier, client: descriptor, rules, epoll)
        advanceAndFlush(lastIdentifier)
    }
}
