#if PostgreSQL
public import FreshetServer
public import Logging

extension RecordServer {
    /// Creates a server that keeps its records in a PostgreSQL database, which several servers may share. Connects, and makes
    /// the schema `freshet` or brings it up to date.
    ///
    /// The configuration's `storage` and `isRestored` have no effect. Blocks on the network.
    ///
    /// - Parameter uri: `postgres://USER@HOST:PORT/DATABASE`. What it leaves out comes from `PGHOST`, `PGUSER`, `PGPASSWORD`
    ///   and so on, and from `~/.pgpass`.
    public convenience init(
        _ configuration: RecordServerConfiguration = RecordServerConfiguration(), postgreSQL uri: String,
        logger: Logger = Logger(label: "freshet.server")
    ) throws(RecordServerError) {
        let store: PostgreSQLRecordStore
        do throws(StoreError) { store = try PostgreSQLRecordStore(uri: uri) } catch {
            guard case .newerSchema(let path, let found, let known) = error else { throw .failed(error.description) }
            throw .newerSchema(path: path, found: Int(found), known: Int(known))
        }
        self.init(configuration, sharing: SharedStore(store, NoAnnouncements()), logger: logger)
    }
}
#endif
