#if PostgreSQL
internal import FreshetPostgreSQL
package import FreshetServer
package import FreshetWire

/// A store in a PostgreSQL database, which several servers may share.
///
/// A write transaction locks the rows of its namespaces, takes revisions from their heads, and writes the heads together with the
/// records. So the order of commits is the order of revisions, and a reader of a head finds every change below it:
/// docs/decisions/0062-postgresql-store.md.
package final class PostgreSQLRecordStore: RecordStore {
    package let identifier: StoreIdentifier
    package let lanes: Int
    /// Names the database, without user and password.
    package var label: String { database.label }
    let database: StoreDatabase
    private let readers: ConnectionPool
    private let writers: ConnectionSlots
    private let runner: TransactionRunner

    package struct Configuration: Sendable {
        /// How many transactions are in progress at once, each over a separate connection.
        package var lanes = 4
        /// How many reads are in progress at once, each over a separate connection.
        package var readers = 4
        /// What to do once another server of PostgreSQL has taken over; `nil` refuses to use the store until a Freshet server has
        /// done it, since all of them need the same policy.
        package var failover: FailoverPolicy? = .renew
        /// How often the hosts are asked whether another one has taken over, in milliseconds, 1 or more; `nil` does not ask.
        package var hostCheckInterval: Int64?
        /// Called when another host has been found to have taken over.
        package var onTakeover: @Sendable () -> Void = {}
        /// For tests: called between the two round trips of a transaction, and before its commit is sent.
        package var onStep: @Sendable (TransactionStep) -> Void = { _ in }

        package init() {}
    }

    /// Connects, and makes the schema or brings it up to date.
    ///
    /// - Parameters:
    ///   - uri: `postgres://…`; see ``ConnectionSettings``.
    ///   - random: random numbers; a new store derives its epochs from one.
    package init(
        uri: String, configuration: Configuration = Configuration(),
        random: @escaping @Sendable () -> UInt64 = PostgreSQLRecordStore.systemRandom
    ) throws(StoreError) {
        let database: StoreDatabase
        do throws(PostgreSQLError) {
            database = StoreDatabase(try ConnectionSettings(uri: uri), failover: configuration.failover, random: random)
        } catch {
            throw StoreError(error, label: "the store")
        }
        self.database = database
        do {
            let token = try database.prepare(seed: random())
            guard let identifier = StoreIdentifier(token) else {
                throw StoreError.corrupt(path: database.label, reason: "it does not say which store it is")
            }
            self.identifier = identifier
        } catch { throw StoreError.from(error, label: database.label) }
        lanes = max(configuration.lanes, 1)
        writers = ConnectionSlots(configuration.lanes)
        runner = TransactionRunner(database, onStep: configuration.onStep)
        readers = ConnectionPool(database, count: configuration.readers)
        guard let interval = configuration.hostCheckInterval else { return }
        do {
            try database.watchHosts(every: interval) { [weak self] in
                self?.closeFormerConnections()
                configuration.onTakeover()
            }
        } catch { throw StoreError.from(error, label: database.label) }
    }

    /// A number of the system's random source, which is secure.
    package static func systemRandom() -> UInt64 {
        var random = SystemRandomNumberGenerator()
        return random.next()
    }

    /// What there is at a URI. Changes nothing.
    package static func inspect(uri: String) throws(StoreError) -> Inspection { try look(at: uri) { try $0.inspect() } }

    /// What the store at a URI holds; `nil` if the database has no schema, or that of another version. Changes nothing.
    package static func totals(uri: String) throws(StoreError) -> StoreTotals? { try look(at: uri) { try $0.totals() } }

    /// Reads a database without opening a store in it.
    private static func look<Result>(at uri: String, _ read: (StoreDatabase) throws -> Result) throws(StoreError) -> Result {
        var label = "the store"
        do {
            let settings = try ConnectionSettings(uri: uri)
            label = settings.label
            return try read(StoreDatabase(settings, failover: nil) { 0 })
        } catch { throw StoreError.from(error, label: label) }
    }

    /// A database as ``inspect(uri:)`` found it.
    package struct Inspection: Hashable, Sendable {
        /// Names the database, without user and password.
        package var label: String
        /// The version of the schema; 0 if there is none.
        package var schema: Int64
        /// The version that this program makes.
        package var latestSchema: Int64
        /// PostgreSQL's version, such as 150020.
        package var serverVersion: Int
        /// Whether the connection is encrypted.
        package var isEncrypted: Bool

        /// Whether the schema is that of this program.
        package var isReady: Bool { schema == latestSchema }
    }

    /// The network is between.
    package var answersAtOnce: Bool { false }

    package func transaction<Result: Sendable>(
        touching scope: () -> TransactionScope, _ body: @Sendable (any RecordTransaction) throws -> Result
    ) throws -> Result {
        let scope = scope()
        do {
            return try writers.withSlot { try runner.run(scope, over: $0, body) }
        } catch let error as PostgreSQLError { throw StoreError(error, label: label) }
    }

    package func statistics() -> StoreStatistics? {
        let (writing, reading) = (writers.inUse, readers.inUse)
        // A database that does not answer is seen by the failures.
        let age = try? read { try $0.run(.oldestTransaction, by: .patient).optionalInt64(0, 0) }
        let (opened, failures) = database.connectionCounts
        return StoreStatistics(
            writing: writing, reading: reading, opened: opened, failures: failures, oldestTransaction: age.map { Int($0) })
    }

    /// Asks the hosts of the URI once whether another one has taken over, as the store does at ``Configuration/hostCheckInterval``.
    package func checkHosts() {
        if database.checkHosts() { closeFormerConnections() }
    }

    private func closeFormerConnections() {
        writers.closeFormer(database)
        readers.closeFormer()
    }

    /// Runs the closure with a connection that no other thread uses meanwhile.
    func read<Result: Sendable>(_ body: @Sendable (Connection) throws -> Result) throws(StoreError) -> Result {
        do { return try readers.withConnection(body) } catch { throw StoreError.from(error, label: label) }
    }
}
#endif
