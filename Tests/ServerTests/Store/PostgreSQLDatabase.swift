import FreshetServer
import FreshetTestSupport

#if PostgreSQL
import FreshetPostgreSQL
import FreshetPostgreSQLStore
#endif

/// An empty database for one test. It is used again by another test once it is released.
final class PostgreSQLDatabase: Sendable {
    let cluster: PostgreSQLCluster
    let name: String

    /// Whether there is any: if not, the tests of it are left out.
    static var isAvailable: Bool {
        #if PostgreSQL
        PostgreSQLCluster.isInstalled
        #else
        false
        #endif
    }

    init() throws {
        cluster = try PostgreSQLCluster.shared.get()
        name = try cluster.lend()
        #if PostgreSQL
        let connection = try Connection(ConnectionSettings(uri: cluster.uri(name)))
        try connection.execute(
            "SET client_min_messages = error; DROP SCHEMA IF EXISTS freshet CASCADE", by: Deadline(after: .seconds(30)))
        #endif
    }

    deinit { cluster.giveBack(name) }

    var uri: String { cluster.uri(name) }

    func store(seed: UInt64) throws -> (any RecordStore)? {
        #if PostgreSQL
        var configuration = PostgreSQLRecordStore.Configuration()
        (configuration.lanes, configuration.readers) = (2, 2)
        return try PostgreSQLRecordStore(uri: uri, configuration: configuration) { seed }
        #else
        nil
        #endif
    }
}
