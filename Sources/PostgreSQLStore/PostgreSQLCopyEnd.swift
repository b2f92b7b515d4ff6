#if PostgreSQL
internal import FreshetPostgreSQL
package import FreshetServer
internal import Glibc

/// A database as an end of a copy.
///
/// A copy holds the lock of the access rows, which every write transaction takes first, so no server writes meanwhile. One transaction
/// reads everything, and another one writes everything.
package struct PostgreSQLCopyEnd: StoreCopyEnd {
    private let database: StoreDatabase
    /// How long the connections of servers that have just stopped may remain.
    private static let patience = Duration.seconds(3)
    /// How long a statement may take.
    static let statementPatience = Duration.seconds(600)

    /// - Parameter uri: `postgres://…`; see ``ConnectionSettings``.
    package init(uri: String) throws(StoreError) {
        do throws(PostgreSQLError) {
            database = StoreDatabase(try ConnectionSettings(uri: uri), failover: nil, random: PostgreSQLRecordStore.systemRandom)
        } catch { throw StoreError(error, label: "the store") }
    }

    package func withRows<Result>(_ body: (any StoredRows) throws -> Result) throws -> Result {
        try converting {
            guard let connection = try database.openForCopy(making: nil) else { throw StoreError.noStore(path: database.label) }
            try waitForServers(connection)
            let rows = PostgreSQLRows(connection: connection, label: database.label)
            try rows.begin(.beginSnapshot)
            // A transaction that only reads needs no commit, and ends with its connection.
            return try body(rows)
        }
    }

    package func makingStore<Result>(_ header: StoreHeader, _ body: (any WritableRows) throws -> Result) throws -> Result {
        try converting {
            guard let connection = try database.openForCopy(making: UInt64(bitPattern: header.seed)) else {
                throw StoreError.corrupt(path: database.label, reason: "the schema was removed while it was made")
            }
            let rows = PostgreSQLRows(connection: connection, label: database.label)
            guard try rows.isEmpty() else { throw StoreError.notEmpty(path: database.label) }
            try waitForServers(connection)
            do {
                try rows.begin(.begin)
                guard try rows.isEmpty() else { throw StoreError.notEmpty(path: database.label) }
                try rows.setHeader(header)
                let result = try body(rows)
                // A server that has started meanwhile would go on with the identity and the epochs that the copy replaces.
                try waitForServers(connection)
                try rows.commit()
                return result
            } catch {
                // The error to report is the first. If this fails too, PostgreSQL undoes the transaction when the connection ends.
                if connection.isUsable { _ = try? connection.run(.rollback, by: .patient) }
                throw error
            }
        }
    }

    /// Throws if servers stay connected.
    private func waitForServers(_ connection: Connection) throws {
        let deadline = Deadline(after: Self.patience)
        while true {
            let connections = try PostgreSQLRows.servers(connection)
            if connections == 0 { return }
            if deadline.hasPassed { throw StoreError.serversConnected(path: database.label, connections: connections) }
            usleep(50_000)
        }
    }

    private func converting<Result>(_ body: () throws -> Result) throws -> Result {
        do { return try body() } catch let error as StoreDifference {
            throw StoreError.copyDiffers(path: database.label, reason: error.reason)
        } catch { throw StoreError.from(error, label: database.label) }
    }
}
#endif
