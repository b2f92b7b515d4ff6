#if PostgreSQL
internal import FreshetPostgreSQL
internal import Synchronization

/// A place for a connection. Behind a `Mutex`.
final class ConnectionSlot {
    /// A connection, and where it led when it was opened.
    typealias Opened = (connection: Connection, place: ServerPlace)

    private var opened: Opened?

    /// The connection, unless it has ended, or leads to another server than the latest: one that was the primary may live on.
    func kept(by database: StoreDatabase) -> Opened? {
        if let opened, opened.connection.isUsable, opened.place == database.history?.place { return opened }
        opened = nil
        return nil
    }

    func open(_ database: StoreDatabase) throws -> Opened {
        let opened = try database.openConnection()
        self.opened = opened
        return opened
    }

    /// Closes the connection.
    func close() { opened = nil }

    /// Closes the connection if nobody can use it again, since it may hold locks and a snapshot for as long as it is open.
    func closeUnusable() {
        if let opened, !opened.connection.isUsable { self.opened = nil }
    }
}

/// A few places for connections, each used by one thread at a time.
final class ConnectionSlots: Sendable {
    private final class Slot: Sendable {
        let slot = Mutex(ConnectionSlot())
    }

    private let places: [Slot]
    private let next = Atomic(0)
    /// How many callers have a place, or wait for one.
    private let callers = Atomic(0)

    /// How many places are used now.
    var inUse: Int { min(callers.load(ordering: .relaxed), places.count) }

    init(_ count: Int) { places = (0..<max(count, 1)).map { _ in Slot() } }

    /// Closes the connections that lead to another server than the latest, except for those in use: their users find out.
    func closeFormer(_ database: StoreDatabase) {
        for place in places { place.slot.withLockIfAvailable { _ = $0.kept(by: database) } }
    }

    /// Lends a place that is free, or waits for one, each in turn, if none is.
    func withSlot<Result: Sendable>(_ body: (ConnectionSlot) throws -> Result) throws -> Result {
        callers.add(1, ordering: .relaxed)
        defer { callers.subtract(1, ordering: .relaxed) }
        for place in places {
            if let result = try place.slot.withLockIfAvailable({ try body($0) }) { return result }
        }
        let turn = next.wrappingAdd(1, ordering: .relaxed).oldValue
        return try places[Int(UInt(bitPattern: turn) % UInt(places.count))].slot.withLock { try body($0) }
    }
}

/// A few connections that read, each used by one thread at a time, and opened when it is first used.
final class ConnectionPool: Sendable {
    private let database: StoreDatabase
    private let slots: ConnectionSlots

    /// How many connections are used now.
    var inUse: Int { slots.inUse }

    init(_ database: StoreDatabase, count: Int) {
        self.database = database
        slots = ConnectionSlots(count)
    }

    /// As ``ConnectionSlots/closeFormer(_:)``.
    func closeFormer() { slots.closeFormer(database) }

    /// Lends a connection that is free, or waits for one if none is. Runs the closure a second time, over a new connection, if
    /// the first one had ended while nobody used it.
    func withConnection<Result: Sendable>(_ body: @Sendable (Connection) throws -> Result) throws -> Result {
        try slots.withSlot { try run($0, body) }
    }

    private func run<Result: Sendable>(_ slot: ConnectionSlot, _ body: (Connection) throws -> Result) throws -> Result {
        defer { slot.closeUnusable() }
        if let kept = slot.kept(by: database) {
            do { return try attempt(kept.connection, body) } catch let error as PostgreSQLError where error.category == .connectionLost {}
        }
        return try attempt(try slot.open(database).connection, body)
    }

    /// Runs the closure, after which no transaction is open.
    private func attempt<Result: Sendable>(_ connection: Connection, _ body: (Connection) throws -> Result) throws -> Result {
        do { return try body(connection) } catch {
            // The closure's error is the one to report. If this fails too, the connection is unusable and the next call replaces it.
            if connection.isUsable, connection.isInTransaction {
                _ = try? connection.run(.rollback, by: Deadline(after: StoreDatabase.patience))
            }
            throw error
        }
    }
}
#endif
