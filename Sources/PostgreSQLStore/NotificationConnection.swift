#if PostgreSQL
internal import FreshetPlatform
internal import FreshetPostgreSQL
package import FreshetServer
package import Logging
internal import Synchronization

/// Announces commits by `NOTIFY`, and listens to those of the other servers, over a connection for this alone.
///
/// Never within the transactions that write: `NOTIFY` makes all commits of a cluster wait for each other. Thread-safe.
package final class NotificationConnection: CommitAnnouncements {
    private struct State {
        var listener: Listener?
        /// Whether the log says that the connection is down.
        var isDown = false
    }

    private let database: StoreDatabase
    private let logger: Logger
    private let state = Mutex(State())

    /// - Parameter store: the store whose commits are announced.
    package init(_ store: PostgreSQLRecordStore, logger: Logger) {
        database = store.database
        self.logger = logger
    }

    deinit { disconnect() }

    package func connect(_ deliver: @escaping @Sendable (HeadFollower.Event) -> Void) {
        let listener: Listener
        do throws(SystemFailure) {
            listener = try Listener(database, deliver) { [weak self] failure in self?.note(failure) }
        } catch {
            // The follower tries again.
            return note("no descriptor: error \(error.code)")
        }
        let former = state.withLock { state in
            defer { state.listener = listener }
            return state.listener
        }
        former?.stop()
        listener.start()
    }

    package func send(_ message: HeadMessage) { state.withLock { $0.listener }?.send(message) }

    package func disconnect() {
        let listener = state.withLock { $0.listener.take() }
        listener?.stop()
    }

    /// Logs the first failure, and the end of failures.
    private func note(_ failure: String?) {
        let isNews = state.withLock { state in
            defer { state.isDown = failure != nil }
            return state.isDown != (failure != nil)
        }
        guard isNews else { return }
        if let failure {
            logger.warning(
                "notifications of other servers do not arrive; the store is compared every 500 ms", metadata: ["reason": "\(failure)"])
        } else {
            logger.info("notifications of other servers arrive")
        }
    }
}

/// One connection with its thread, until it fails or is stopped.
private final class Listener: Sendable {
    private struct State {
        var waiting: [HeadMessage] = []
        var isStopped = false
    }

    /// How long a notification may take that the connection sends to itself, before it is used.
    private static let probePatience = Duration.seconds(2)
    /// How long an announcement may take. ``HeadFollower`` gives up later.
    private static let patience = Duration.seconds(2)
    private static let channel = "freshet"

    private let database: StoreDatabase
    private let deliver: @Sendable (HeadFollower.Event) -> Void
    /// Gets the failure that ends the connection, and `nil` once it works.
    private let note: @Sendable (String?) -> Void
    private let wakeup: WakeupEvent
    private let state = Mutex(State())

    init(
        _ database: StoreDatabase, _ deliver: @escaping @Sendable (HeadFollower.Event) -> Void, note: @escaping @Sendable (String?) -> Void
    ) throws(SystemFailure) {
        wakeup = try WakeupEvent()
        self.database = database
        self.deliver = deliver
        self.note = note
    }

    deinit { wakeup.close() }

    func start() {
        let failure = DetachedThread.start { self.run() }
        if failure != 0 { note("no thread: error \(failure)") }
    }

    func send(_ message: HeadMessage) {
        state.withLock { $0.waiting.append(message) }
        wakeup.signal()
    }

    func stop() {
        state.withLock { $0.isStopped = true }
        wakeup.signal()
    }

    private var isStopped: Bool { state.withLock { $0.isStopped } }

    private func run() {
        do {
            let opened = try database.openConnection()
            let connection = opened.connection
            try checkDirect(connection)
            try connection.execute("LISTEN freshet", by: .patient)
            try probe(connection)
            guard !isStopped else { return }
            note(nil)
            deliver(.established)
            while !isStopped {
                // The former primary may live on, and would deliver no message of servers that have left it.
                guard opened.place == database.history?.place else {
                    throw PostgreSQLError(.connectionLost, "another server of PostgreSQL has taken over")
                }
                if let message = state.withLock({ $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() }) {
                    try announce(AnnouncementText.texts(of: message), over: connection)
                    deliver(.sent)
                }
                try receive(connection)
                guard state.withLock({ $0.waiting.isEmpty && !$0.isStopped }) else { continue }
                connection.wait(or: wakeup.descriptor, until: Deadline(after: .seconds(10)))
                wakeup.reset()
            }
        } catch {
            guard !isStopped else { return }
            note(String(describing: error))
            deliver(.lost)
        }
    }

    private func announce(_ texts: [String], over connection: Connection) throws(PostgreSQLError) {
        let requests = texts.map { text in
            var parameters = Parameters()
            parameters.add(text)
            return Request(.notify, parameters)
        }
        _ = try connection.exchange(requests, by: Deadline(after: Self.patience))
    }

    private func receive(_ connection: Connection) throws(PostgreSQLError) {
        for notification in try connection.takeNotifications() where notification.channel == Self.channel {
            if let message = AnnouncementText.message(notification.text) { deliver(.received(message)) }
        }
    }

    /// Throws if the connection leads through a pooler, which makes up the number of the process. It may lend another connection for each
    /// transaction: then notifications arrive now and then, and also at connections that have not asked for any.
    private func checkDirect(_ connection: Connection) throws(PostgreSQLError) {
        guard try connection.run(.backend, by: .patient).int64(0, 0) == Int64(connection.process) else {
            throw PostgreSQLError(
                .pooled,
                "the connection leads through a pooler, which may deliver notifications elsewhere; --postgres-notify off does without")
        }
    }

    /// Checks that notifications arrive.
    private func probe(_ connection: Connection) throws(PostgreSQLError) {
        let text = "probe \(connection.process) \(UInt64.random(in: .min ... .max))"
        let deadline = Deadline(after: Self.probePatience)
        try announce([text], over: connection)
        while !deadline.hasPassed, !isStopped {
            if try connection.takeNotifications().contains(where: { $0.text == text }) { return }
            connection.wait(or: wakeup.descriptor, until: deadline)
            wakeup.reset()
        }
        throw PostgreSQLError(
            .pooled, "a notification to this connection did not arrive; --postgres-notify off does without")
    }
}
#endif
