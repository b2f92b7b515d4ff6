#if PostgreSQL
internal import FreshetPostgreSQL
internal import FreshetServer
internal import Glibc

/// A step of a write transaction, for tests that end connections.
package enum TransactionStep: Hashable, Sendable {
    /// The rows are locked and read. The number is that of PostgreSQL's process for the connection.
    case loaded(process: Int)
    /// The changes and the commit are about to be sent.
    case committing(process: Int)
    /// The answer to the commit is lost; its outcome is about to be asked for.
    case asking
}

/// Runs write transactions, each over a connection that nothing else uses meanwhile.
///
/// Locking and reading take one round trip, writing and committing another.
struct TransactionRunner: Sendable {
    private let database: StoreDatabase
    private let held: HeldNamespaces
    private let onStep: @Sendable (TransactionStep) -> Void
    /// The number of a transaction, and the state of the database within which the number is the transaction's alone.
    private struct Identity {
        let number: String
        let history: StoreHistory
        /// `nil` if the database has lost the row.
        let incarnation: String?
        /// Whether the commit waits for the disk, and the server says so if no standby has confirmed it.
        let isDurable: Bool
    }

    /// How often a transaction runs that collides with others. Locks are taken in one order, so this is rare.
    private static let attempts = 4
    /// How long the outcome of a commit is asked for.
    private static let outcomePatience = Duration.seconds(30)
    /// How long to wait before asking again, in microseconds: at first and at most.
    private static let askingPauses: ClosedRange<useconds_t> = 50_000...1_000_000

    init(_ database: StoreDatabase, onStep: @escaping @Sendable (TransactionStep) -> Void) {
        self.database = database
        self.onStep = onStep
        held = HeldNamespaces()
    }

    /// Runs a transaction over the slot's connection, or a new one if it has ended.
    func run<Result: Sendable>(
        _ scope: TransactionScope, over slot: ConnectionSlot, _ body: @Sendable (any RecordTransaction) throws -> Result
    ) throws -> Result {
        var attempt = 1
        var leavesHeld = held.has(anyOf: scope.namespaces)
        while true {
            let current = try slot.kept(by: database) ?? slot.open(database)
            defer { slot.closeUnusable() }
            do {
                return try runOnce(scope, leavesHeld, over: current, body)
            } catch let error as PostgreSQLError {
                // It may be usable, and lead to another server than before.
                if error.category == .connectionLost { slot.close() }
                if error.category == .lockTimeout, error.statement == Statement.lockNamespaces.name {
                    // One of the namespaces is held for long, and the others do not wait for it.
                    if scope.namespaces.count > 1, !leavesHeld {
                        leavesHeld = true
                        continue
                    }
                    held.note(scope.namespaces)
                }
                // Nothing was committed. A connection that ended while nobody used it is no reason to refuse.
                let isWorthwhile = error.category == .collision || error.category == .connectionLost
                guard isWorthwhile, attempt < Self.attempts else { throw error }
                attempt += 1
            }
        }
    }

    /// Runs the transaction. After a ``PostgreSQLError`` nothing of it is stored.
    ///
    /// - Parameter leavesHeld: whether namespaces that another transaction holds are left out, instead of waited for.
    private func runOnce<Result>(
        _ scope: TransactionScope, _ leavesHeld: Bool, over opened: ConnectionSlot.Opened, _ body: (any RecordTransaction) throws -> Result
    ) throws -> Result {
        let connection = opened.connection
        let transaction = PostgreSQLRecordTransaction(connection)
        let result: Result
        let identity: Identity
        let requests: [Request]
        do {
            identity = try begin(transaction, scope, leavesHeld, openedAt: opened.place)
            held.note(scope.namespaces, held: transaction.heldElsewhere)
            onStep(.loaded(process: connection.process))
            result = try body(transaction)
            requests = try transaction.finish() + transaction.raisingAccess()
        } catch {
            // The error to report is the first. If this fails too, the connection is not used again.
            if connection.isUsable { _ = try? connection.run(.rollback, by: .patient) }
            throw error
        }
        onStep(.committing(process: connection.process))
        let settings: [Statement] = transaction.isProbe ? [.waitForLocalDisk] : identity.isDurable ? [] : [.waitForDisk]
        try commit(requests + settings.map { Request($0) }, identity, over: connection)
        return result
    }

    /// Locks and reads what the scope names.
    ///
    /// - Parameter opened: where the connection led when it was opened. A pooler may have led it to another server since, whose epochs
    ///   only a new connection renews. The latest history does not show that: another connection may have renewed them after this
    ///   transaction read the old ones.
    private func begin(
        _ transaction: PostgreSQLRecordTransaction, _ scope: TransactionScope, _ leavesHeld: Bool, openedAt opened: ServerPlace
    ) throws -> Identity {
        let loading = scope.namespaces.isEmpty ? [] : PostgreSQLRecordTransaction.loading(scope.namespaces, leavingHeld: leavesHeld)
        let requests =
            [Request(.begin), transaction.lockingAccess(scope)] + loading.prefix(1) + [Request(.transaction)] + loading.dropFirst()
            + PostgreSQLRecordTransaction.fetching(scope)
        let results = try transaction.connection.exchange(requests, by: .patient)
        let first = loading.isEmpty ? 2 : 3
        let row = results[first]
        guard row.count == 1, let place = ServerPlace(system: try row.int64(0, 1), logFile: row.text(0, 3)) else {
            throw StoreError.corrupt(path: database.label, reason: "the table freshet.store is empty")
        }
        let history = StoreHistory(place: place, ordinal: try row.int64(0, 2))
        guard place == opened else { throw PostgreSQLError(.connectionLost, "the server has begun another timeline") }
        if let latest = database.history, latest.place.continues(place) { throw Self.takenOver }
        if history != database.history { try database.see(history) }
        transaction.version = AccessVersion(history: history.ordinal, number: try row.int64(0, 4))
        if !loading.isEmpty {
            try transaction.take(results[first + 1], scope.namespaces, locked: results[first - 1], leavingHeld: leavesHeld)
            try transaction.take(results[(first + 2)...], of: scope)
        }
        return Identity(
            number: row.text(0, 0), history: history, incarnation: row.optionalText(0, 5), isDurable: try row.bool(0, 6))
    }

    private func commit(_ requests: [Request], _ identity: Identity, over connection: Connection) throws {
        let outcome: [QueryResult]
        do { outcome = try connection.exchange(requests + [Request(.commit)], by: .patient) } catch {
            guard !connection.isUsable else {
                // The server has refused a statement, or the commit, and undone everything.
                _ = try? connection.run(.rollback, by: .patient)
                throw error
            }
            onStep(.asking)
            return try ask(identity, error)
        }
        // The server says so if it has undone a transaction that had failed.
        guard outcome.last?.command == "COMMIT" else {
            throw PostgreSQLError(.collision, "PostgreSQL has undone the transaction instead of committing it")
        }
        try connection.checkStandby(database.label)
        // A standby that has been promoted since may lack it.
        guard database.history?.place == identity.history.place else { throw unknown("another server of PostgreSQL has taken over") }
    }

    /// Finds out whether a transaction was committed whose answer is lost. Returns if it was.
    ///
    /// The transaction's number means something only within its history and incarnation: after a failover or a crash another
    /// transaction may have it.
    private func ask(_ identity: Identity, _ failure: PostgreSQLError) throws {
        let deadline = Deadline(after: Self.outcomePatience)
        var parameters = Parameters()
        parameters.add(identity.number)
        parameters.add(identity.incarnation)
        let slot = ConnectionSlot()
        var pause = Self.askingPauses.lowerBound
        while !deadline.hasPassed {
            if let (connection, row) = try status(parameters, over: slot) {
                guard try row.count == 1 && isWithin(identity.history, row) else { throw unknown("another history has begun") }
                switch row.optionalText(0, 0) {
                case "committed":
                    guard let incarnation = identity.incarnation, row.optionalText(0, 1) == incarnation else {
                        throw unknown("PostgreSQL has recovered from a crash since")
                    }
                    return try confirm(over: connection)
                case "aborted": throw PostgreSQLError(.connectionLost, state: failure.state, failure.message)
                case "in progress": break
                default: throw unknown("PostgreSQL no longer knows the transaction")
                }
            }
            // The thread is a lane's, and has nothing else to do.
            usleep(pause)
            pause = min(pause * 2, Self.askingPauses.upperBound)
        }
        throw unknown(failure.description)
    }

    /// The row of ``Statement/transactionStatus``, and the connection that has it; `nil` if no server answers, as while one starts.
    private func status(_ parameters: Parameters, over slot: ConnectionSlot) throws -> (Connection, QueryResult)? {
        do {
            let connection = try (slot.kept(by: database) ?? slot.open(database)).connection
            return (connection, try connection.run(.transactionStatus, parameters, by: .patient))
        } catch let error as PostgreSQLError where error.state == "22023" && error.statement == Statement.transactionStatus.name {
            // PostgreSQL has not given the number yet, and no crash explains that.
            throw unknown(error.description)
        } catch { return nil }
    }

    /// Whether a row of ``Statement/transactionStatus`` is of the history, and no connection has seen a later one.
    private func isWithin(_ history: StoreHistory, _ row: QueryResult) throws -> Bool {
        guard let place = ServerPlace(system: try row.int64(0, 2), logFile: row.text(0, 4)) else { return false }
        return StoreHistory(place: place, ordinal: try row.int64(0, 3)) == history && database.history == history
    }

    /// Waits for the standby as the lost answer would have: a later commit is confirmed after the earlier one.
    private func confirm(over connection: Connection) throws {
        do { _ = try connection.exchange([Request(.waitForDisk), Request(.touch)], by: .patient) } catch {
            throw unknown("it is committed, and no standby has confirmed it: \(error)")
        }
        try connection.checkStandby(database.label)
    }

    /// Nothing was committed: another connection is opened.
    private static let takenOver = PostgreSQLError(.connectionLost, "another server of PostgreSQL has taken over")

    private func unknown(_ reason: String) -> StoreError { .outcomeUnknown(path: database.label, reason: reason) }
}

extension Connection {
    /// Throws if the wait of the last commit for a standby was ended by force: the changes are visible, and a failover may lose them.
    func checkStandby(_ label: String) throws(StoreError) {
        guard !wasStandbyWaitEnded else {
            throw .outcomeUnknown(path: label, reason: "the standby has not confirmed the commit")
        }
    }
}
#endif
