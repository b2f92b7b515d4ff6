internal import FreshetWire

/// Decides how one of several servers over one store learns of the commits of the others, and announces its commits:
/// when to send which message, when to compare its feeds with the store, and when to connect again.
///
/// A server shows that it receives messages by receiving its own: a connection that fails without a word is the most
/// common failure of such systems. Messages are hints. A *reconciliation* compares all feeds of the server with the
/// store; one follows each new connection, since messages sent before it are lost, and one runs now and then in any
/// case.
///
/// A pure value: its events carry the time, in monotonic milliseconds. ``CommitSequencer`` decides, for each feed,
/// which positions need a read.
package struct HeadFollower: Hashable, Sendable {
    package enum Event: Hashable, Sendable {
        /// A connection has been made: messages that are sent from now on are received.
        case established
        /// The connection has failed, or could not be made.
        case lost
        /// This server has committed and published.
        case committed([HeadMessage.Head])
        /// This server has made a version of keys and revocations.
        case changedAccess(AccessVersion)
        /// The message has been sent: another may follow.
        case sent
        /// A message has arrived, from any server.
        case received(HeadMessage)
        /// A part of a reconciliation has read the store.
        case readStore
        /// The reconciliation has ended; incomplete if the store could not be read.
        case reconciled(isComplete: Bool)
        /// Time has passed; due at least every ``tick`` milliseconds.
        case tick
    }

    package enum Action: Hashable, Sendable {
        /// Closes the connection, if there is one, and makes another.
        case connect
        case send(HeadMessage)
        /// Reads the changes of the namespace up to the position, if there is a feed that is behind it.
        case follow(HeadMessage.Head)
        /// Reads the keys and revocations, if those of the server are of an earlier version.
        case followAccess(AccessVersion)
        /// Follows all namespaces with feeds to the store's positions, and then reports `reconciled`.
        case reconcile
    }

    private enum Link: Hashable, Sendable {
        /// A connection is made when it is due.
        case down(due: Int64)
        case connecting(since: Int64)
        /// The latest of the server's messages came back at that time.
        case up(heard: Int64)
    }

    /// The most heads in one message, and the most namespaces that wait to be announced.
    package static let mostHeads = 1_000
    /// Times in milliseconds.
    package static let tick: Int64 = 250
    /// How long a server sends nothing before it sends a message without heads.
    package static let heartbeat: Int64 = 1_000
    /// How long a server receives none of its messages before it takes the connection for dead.
    package static let silence: Int64 = 3_000
    /// The longest that making a connection may take, with several hosts that do not answer. It reports its failure itself.
    package static let connectLimit: Int64 = 30_000
    /// How long a server says that nothing has changed while no reconciliation can read the store.
    package static let contactLimit: Int64 = 30_000
    /// How often a connected server reconciles.
    package static let reconcileInterval: Int64 = 10_000
    /// How often a server without a connection reconciles.
    package static let pollInterval: Int64 = 500
    /// The longest pause before another connection is tried.
    package static let longestPause: Int64 = 2_000

    private let sender: UInt64
    private var link: Link
    /// The pause before the next attempt to connect, if this one fails.
    private var pause = HeadFollower.tick
    /// The number of the last message that was sent.
    private var lastSent: Int64 = 0
    /// The highest number of the server's messages that came back.
    private var lastHeard: Int64 = 0
    private var sentAt: Int64
    /// The heads that wait to be announced, the latest of each namespace.
    private var waiting: [Namespace: Cursor] = [:]
    /// Whether more than fit have waited.
    private var isPartial = false
    /// The latest version of keys and revocations that this server has made. Each message has it, so that none has to be sent
    /// again.
    private var access: AccessVersion?
    private var announcesAccess = false
    /// The message that is being sent. If the connection is lost, its heads wait again.
    private var inFlight: HeadMessage?
    /// Whether a reconciliation is in progress.
    package private(set) var isReconciling = false
    /// Whether a reconciliation has to follow the one in progress, which may have read the store too early.
    private var mustReconcileAgain = false
    private var reconciledAt: Int64
    /// When a reconciliation read the store last.
    private var contactAt: Int64

    /// - Parameter sender: a random number, another one for each start of a server.
    package init(sender: UInt64, now: Int64) {
        self.sender = sender
        link = .down(due: now)
        (sentAt, reconciledAt, contactAt) = (now, now, now)
    }

    /// Whether the server receives messages, as far as it knows.
    package var isConnected: Bool {
        if case .up = link { true } else { false }
    }

    /// Whether the server has not seen the store for so long that its feeds may lack changes of other servers.
    package func lacksContact(at now: Int64) -> Bool { now - contactAt > Self.contactLimit }

    /// The number of namespaces that wait to be announced, for the metrics.
    package var waitingCount: Int { waiting.count }

    package mutating func handle(_ event: Event, now: Int64) -> [Action] {
        switch event {
        case .established:
            link = .up(heard: now)
            pause = Self.tick
            return reconcile(now) + send(now)
        case .lost:
            goDown(due: now + pause)
            pause = min(pause * 2, Self.longestPause)
            return []
        case .committed(let heads):
            for head in heads { wait(head) }
            return send(now)
        case .changedAccess(let version):
            (access, announcesAccess) = (max(version, access ?? version), true)
            return send(now)
        case .sent:
            inFlight = nil
            return send(now)
        case .received(let message): return receive(message, now)
        case .reconciled(let isComplete):
            isReconciling = false
            if isComplete { contactAt = now }
            return mustReconcileAgain ? reconcile(now) : []
        case .readStore:
            contactAt = now
            return []
        case .tick: return passTime(now)
        }
    }

    private mutating func receive(_ message: HeadMessage, _ now: Int64) -> [Action] {
        guard message.sender != sender else {
            // An old message that comes late or twice shows nothing.
            if message.number > lastHeard, case .up = link {
                lastHeard = message.number
                link = .up(heard: now)
            }
            return []
        }
        let follows = (message.access.map { [Action.followAccess($0)] } ?? []) + message.heads.prefix(Self.mostHeads).map(Action.follow)
        return message.isPartial || message.heads.count > Self.mostHeads ? follows + reconcile(now) : follows
    }

    private mutating func passTime(_ now: Int64) -> [Action] {
        var actions: [Action] = []
        switch link {
        case .down(let time) where time <= now, .connecting(let time) where time + Self.connectLimit <= now,
            .up(let time) where time + Self.silence <= now:
            goDown(due: now)
            link = .connecting(since: now)
            actions.append(.connect)
        case .up:
            if inFlight == nil, now - sentAt >= Self.heartbeat { actions += send(now, isHeartbeat: true) }
        case .down, .connecting: break
        }
        if !isReconciling, now - reconciledAt >= (isConnected ? Self.reconcileInterval : Self.pollInterval) { actions += reconcile(now) }
        return actions
    }

    /// The connection is gone, and perhaps the message with it.
    private mutating func goDown(due: Int64) {
        link = .down(due: due)
        guard let lost = inFlight else { return }
        inFlight = nil
        if lost.isPartial { isPartial = true }
        if lost.access != nil { announcesAccess = true }
        for head in lost.heads where waiting[head.namespace] == nil { wait(head) }
    }

    private mutating func wait(_ head: HeadMessage.Head) {
        guard !isPartial else { return }
        guard waiting.count < Self.mostHeads || waiting[head.namespace] != nil else {
            // Receivers compare all of their feeds with the store instead.
            waiting = [:]
            isPartial = true
            return
        }
        waiting[head.namespace] = head.position
    }

    /// Sends the waiting heads, if a message can be sent and there is a reason to.
    private mutating func send(_ now: Int64, isHeartbeat: Bool = false) -> [Action] {
        guard case .up = link, inFlight == nil, isHeartbeat || isPartial || announcesAccess || !waiting.isEmpty else { return [] }
        lastSent += 1
        let heads = waiting.sorted { $0.key < $1.key }.map { HeadMessage.Head($0.key, $0.value) }
        let message = HeadMessage(sender: sender, number: lastSent, heads: heads, isPartial: isPartial, access: access)
        (waiting, isPartial, announcesAccess, inFlight, sentAt) = ([:], false, false, message, now)
        return [.send(message)]
    }

    private mutating func reconcile(_ now: Int64) -> [Action] {
        guard !isReconciling else {
            mustReconcileAgain = true
            return []
        }
        (isReconciling, mustReconcileAgain, reconciledAt) = (true, false, now)
        return [.reconcile]
    }
}
