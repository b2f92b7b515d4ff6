import FreshetServer
import FreshetWire

/// An event that reaches a server from the others, or from the store for its feed.
enum PeerEvent {
    case tick
    /// An event of the connection of this number.
    case link(connection: Int, HeadFollower.Event)
    case reconcile
    case read(after: Cursor)
    case readDone(FeedRead)
    /// The feed must have reached what the store had when the connection was made.
    case check(connection: Int, Cursor, deadline: Int64)
}

/// A server's connection to the others, with the value that decides about it.
struct PeerConnection {
    var follower: HeadFollower
    /// Counts the connections. Events of an earlier one have no effect.
    var connection = 0
    var isEstablished = false
}

/// The shell around ``HeadFollower`` of each of several servers, and the network between them.
extension SimulatedSystem {
    /// How soon after its connection a feed must have what the store had then, in milliseconds: two
    /// reconciliations and two reads, each with the longest delays.
    private var catchUpLimit: Int64 { hasWideDelays ? 2_000 : 400 }
    /// The longest that a late message is late, in milliseconds.
    private static var lateness: Int64 { 3_000 }

    /// The server's process begins to follow the others, if there are any.
    func connectPeers(_ server: SimulatedServer) {
        guard servers.count > 1 else { return }
        let sender = UInt64(server.run) << 8 | UInt64(server.number)
        server.peers = PeerConnection(follower: HeadFollower(sender: sender, now: now))
        push(.peer(server.process, .tick))
    }

    func take(_ event: PeerEvent, _ server: SimulatedServer) throws(Violation) {
        switch event {
        case .tick:
            if let after = server.feed?.retryRead() { push(.peer(server.process, .read(after: after)), after: delay(2)) }
            handle(.tick, server)
            push(.peer(server.process, .tick), after: HeadFollower.tick)
        case .link(let connection, let event):
            guard server.peers?.connection == connection, !isLost(event, server) else { return }
            if event == .established {
                server.peers?.isEstablished = true
                check(shared.state.cursor, connection, deadline: now + catchUpLimit, server)
            }
            handle(event, server)
        case .reconcile:
            follow(shared.state.cursor, server)
            handle(.reconciled(isComplete: true), server)
        case .read(let after):
            do throws(StoreError) {
                let read = try shared.store.feedRead(after: after, in: shared.namespace, shared.limits)
                push(.peer(server.process, .readDone(read)), after: delay(1))
            } catch { server.feed?.failRead() }
        case .readDone(let read): update(server) { $0.finish(read) }
        case .check(let connection, let position, let deadline):
            guard let peers = server.peers, peers.connection == connection, let feed = server.feed, case let head = feed.head,
                shared.state.epoch == position.epoch,
                head.epoch != position.epoch || head.revision < position.revision
            else { return }
            if now < deadline, peers.follower.isReconciling || feed.isBehind {
                return check(position, connection, deadline: deadline, server)
            }
            throw fail(
                .serversFollow, nil,
                "\(name(of: server)) is at \(head) \(now + catchUpLimit - deadline) ms after it was connected, when the store was at \(position)"
            )
        }
    }

    /// Checks a little later that the feed has what the store had when the connection was made, unless it is still
    /// about to read it.
    private func check(_ position: Cursor, _ connection: Int, deadline: Int64, _ server: SimulatedServer) {
        push(.peer(server.process, .check(connection: connection, position, deadline: deadline)), after: 10)
    }

    /// Lets the feed take an event, if the process has one, hands over its deliveries, and begins the read that it needs.
    func update(_ server: SimulatedServer, _ event: (inout ChangeFeed<Int>) -> FeedUpdate<Int>) {
        guard var feed = server.feed.take() else { return }
        let update = event(&feed)
        server.feed = feed
        deliver(update.deliveries)
        if let after = update.read { push(.peer(server.process, .read(after: after)), after: delay(2)) }
    }

    private func follow(_ position: Cursor, _ server: SimulatedServer) {
        update(server) { FeedUpdate(deliveries: [], read: $0.note(announced: position)) }
    }

    /// Announces commits that were published.
    func announce(_ commits: [NamespaceCommit], _ server: SimulatedServer) {
        guard server.peers != nil, !commits.isEmpty else { return }
        handle(.committed(commits.map { HeadMessage.Head($0.namespace, $0.cursor) }), server)
    }

    private func handle(_ event: HeadFollower.Event, _ server: SimulatedServer) {
        for action in server.peers?.follower.handle(event, now: now) ?? [] {
            switch action {
            case .connect: connect(server)
            case .send(let message): send(message, server)
            // The simulated servers have one configuration, and no keys.
            case .followAccess: break
            case .follow(let head): if head.namespace == shared.namespace { follow(head.position, server) }
            case .reconcile where bug == .skipReconciliation && event == .established: handle(.reconciled(isComplete: true), server)
            case .reconcile: push(.peer(server.process, .reconcile), after: delay(3))
            }
        }
    }

    // MARK: The network between servers

    private func connect(_ server: SimulatedServer) {
        server.peers?.connection += 1
        server.peers?.isEstablished = false
        guard let connection = server.peers?.connection else { return }
        let event: HeadFollower.Event = server.peerTrouble?.present(at: now) == .cut ? .lost : .established
        push(.peer(server.process, .link(connection: connection, event)), after: delay(5) + 1)
    }

    private func send(_ message: HeadMessage, _ server: SimulatedServer) {
        guard let own = server.peers, own.isEstablished else { return }
        push(.peer(server.process, .link(connection: own.connection, .sent)), after: delay(1) + 1)
        for receiver in servers {
            guard let peers = receiver.peers, peers.isEstablished else { continue }
            let fault = receiver.peerTrouble?.present(at: now)
            let event = Event.peer(receiver.process, .link(connection: peers.connection, .received(message)))
            let lateness = fault == .late ? Int64(random() % UInt64(Self.lateness)) : 0
            push(event, after: delay(2) + 1 + lateness)
            if fault == .doubled { push(event, after: delay(20) + Int64(random() % UInt64(Self.lateness))) }
        }
    }

    /// Whether the network loses an event on its way to the server.
    private func isLost(_ event: HeadFollower.Event, _ server: SimulatedServer) -> Bool {
        guard case .received(let message) = event else { return false }
        switch server.peerTrouble?.present(at: now) {
        case .silent: return true
        case .lost: return !message.heads.isEmpty
        case .doubled, .late, .cut, nil: return false
        }
    }

    func disturbPeers(of server: SimulatedServer, _ fault: ScenarioEvent.PeerFault, _ duration: Int64) {
        guard server.peers != nil else { return }
        server.peerTrouble = TimedCondition(fault, until: now + duration)
        guard fault == .cut, let connection = server.peers?.connection else { return }
        push(.peer(server.process, .link(connection: connection, .lost)), after: 1)
    }

    /// The device's connections go to another server from now on.
    func roam(_ device: SimulatedDevice, to server: Int) {
        guard device.server != server else { return }
        cutActiveRequests(of: device)
        device.server = server
    }
}
