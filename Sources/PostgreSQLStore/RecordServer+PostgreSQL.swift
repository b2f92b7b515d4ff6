#if PostgreSQL
internal import FreshetPlatform
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
    ///   - failover: whether the epochs stay after a failover of the database.
    ///   - hostCheckInterval: how often each host of the URI is asked, over a new connection, whether it has taken over, from 0.1
    ///     to 60 seconds. After a failover that the server's connections have not noticed, the former primary acknowledges writes for
    ///     that long, which are lost.
    public convenience init(
        _ configuration: RecordServerConfiguration = RecordServerConfiguration(), postgreSQL uri: String, listens: Bool = true,
        failover: FailoverPolicy = .renew, hostCheckInterval: Duration = .seconds(2), logger: Logger = Logger(label: "freshet.server")
    ) throws(RecordServerError) {
        do throws(StoreError) {
            let store = try PostgreSQLRecordStore.shared(
                uri: uri, listens: listens, failover: failover, hostCheckInterval: hostCheckInterval, logger: logger)
            self.init(configuration, sharing: store, logger: logger)
        } catch { throw RecordServerError(error) }
    }
}

extension PostgreSQLRecordStore {
    /// Opens a store with the connection to the other servers that use it.
    ///
    /// - Parameters: as of a server's initialiser.
    package static func shared(
        uri: String, listens: Bool, failover: FailoverPolicy, hostCheckInterval: Duration, logger: Logger
    ) throws(StoreError) -> SharedStore {
        let interval = hostCheckInterval.clampedMilliseconds
        guard (100...60_000).contains(interval) else {
            throw StoreError.failed(path: "the store", reason: "hostCheckInterval is \(hostCheckInterval): it takes 0.1 to 60 seconds")
        }
        var configuration = Configuration()
        configuration.failover = failover
        configuration.hostCheckInterval = interval
        configuration.onTakeover = {
            logger.warning("another server of PostgreSQL has taken over: no connection to the former one is used any more")
        }
        let store = try PostgreSQLRecordStore(uri: uri, configuration: configuration)
        if let warning = try store.failoverWarning() { logger.warning("\(warning)") }
        return store.shared(listens: listens, logger: logger)
    }

    /// The store with the connection to the other servers that use it.
    ///
    /// - Parameter listens: as of a server's initialiser.
    package func shared(listens: Bool, logger: Logger) -> SharedStore {
        SharedStore(self, listens ? NotificationConnection(self, logger: logger) : NoAnnouncements())
    }

    private func failoverWarning() throws(StoreError) -> String? {
        do { return try database.failoverWarning() } catch { throw StoreError.from(error, label: database.label) }
    }
}
#endif
