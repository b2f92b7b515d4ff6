internal import FreshetSQLite
internal import FreshetWire

/// The connection that writes, and its cached state of the namespaces between transactions: it alone changes them.
final class StoreWriter {
    let connection: Connection
    private let rowCache: RowCache
    private let timer: LookupTimer
    let access: AccessCounter
    private var checkpoints: CheckpointSchedule
    private let clients = ClientCache(limit: 4 << 20)
    private var namespaces: [Namespace: SQLiteNamespaceTransaction] = [:]
    /// The namespaces that the open transaction has used.
    private var touched: [SQLiteNamespaceTransaction] = []

    init(
        _ connection: sending Connection, _ rowCache: sending RowCache, _ timer: LookupTimer, _ access: AccessCounter,
        _ checkpoints: CheckpointSchedule
    ) {
        self.connection = connection
        self.rowCache = rowCache
        self.timer = timer
        self.access = access
        self.checkpoints = checkpoints
    }

    /// Returns how the log's pages are to be moved into the file after the last commit.
    func nextCheckpoint() -> CheckpointSchedule.Step { checkpoints.step(logPages: connection.logPages) }

    /// Moves pages from the log into the file, as far as readers allow. After a failure the log is longer, no commit is lost, and the
    /// next step tries again; SQLite's own checkpoints ignore a failure too.
    func checkpoint() { _ = try? connection.checkpoint() }

    func transaction<Result>(_ body: (any RecordTransaction) throws -> Result) throws -> Result {
        if namespaces.count > 1_000 { namespaces.removeAll() }
        do {
            let transaction = SQLiteRecordTransaction(self)
            let result = try connection.transaction {
                let result = try body(transaction)
                try flush()
                return result
            }
            if transaction.changesAccess { access.raise() }
            return result
        } catch {
            forget()
            rowCache.forgetAll()
            clients.forgetAll()
            throw error
        }
    }

    func namespace(_ name: Namespace) throws -> SQLiteNamespaceTransaction {
        if let last = touched.last, last.name == name { return last }
        let namespace = try namespaces[name] ?? SQLiteNamespaceTransaction(name, connection, rowCache, clients, timer)
        namespaces[name] = namespace
        touched.append(namespace)
        return namespace
    }

    /// Writes the changed states of namespaces into their rows.
    func flush() throws {
        for namespace in touched { try namespace.flush() }
        touched.removeAll(keepingCapacity: true)
    }

    /// Forgets the cached rows of clients, since other statements have changed the rows.
    func forgetClients() { clients.forgetAll() }

    /// Forgets the cached state of namespaces, since other statements change, or have changed, the rows.
    func forget() {
        touched.removeAll(keepingCapacity: true)
        namespaces.removeAll(keepingCapacity: true)
    }
}
