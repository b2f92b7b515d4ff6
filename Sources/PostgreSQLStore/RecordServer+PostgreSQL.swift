#if PostgreSQL
public import FreshetServer
public import Logging

extension RecordServer {
    /// Creates a server that keeps its records in a PostgreSQL database, which several servers may share. Connects, and makes
    /// the schema `freshet` or brings it up to date.
    ///
    /// The configuration's `storage` has no effect. Blocks on the network.
    ///
    /// - Parameters:
    ///   - uri: `postgres://USER@HOST:PORT/DATABASE`. What it leaves out comes from `PGHOST`, `PGUSER`, `PGPASSWORD` and so on,
    ///     and from `~/.pgpass`.
    ///   - listens: whether the servers notify each other of their commits, by `LISTEN` and `NOTIFY` over a connection for this
    ///     alone. Without it, and through poolers, a change that another server wrote arrives within half a second.
    public convenience init(
        _ configuration: RecordServerConfiguration = RecordServerConfiguration(), postgreSQL uri: String, listens: Bool = true,
        logger: Logger = Logger(label: "freshet.server")
    ) throws(RecordServerError) {
        let store: PostgreSQLRecordStore
        do throws(StoreError) { store = try PostgreSQLRecordStore(uri: uri) } catch { throw RecordServerError(error) }
        self.init(configuration, sharing: store.shared(listens: listens, logger: logger), logger: logger)
    }
}

extension PostgreSQLRecordStore {
    /// The store with the connection to the other servers that use it.
    ///
    /// - Parameter listens: as of a server's initialiser.
    package func shared(listens: Bool, logger: Logger) -> SharedStore {
        SharedStore(self, listens ? NotificationConnection(self, logger: logger) : NoAnnouncements())
    }
}
#endif
