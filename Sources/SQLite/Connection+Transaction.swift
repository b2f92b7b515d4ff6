extension Connection {
    /// Runs the closure in a write transaction (`BEGIN IMMEDIATE`): committed when it returns, rolled back when it throws.
    ///
    /// If the commit itself fails, it is rolled back and the failure thrown: nothing of it is stored. The exception is
    /// ``SQLiteError/Category/movedAfterCommit``, of a connection that keeps its place (``keepPlace(with:)``).
    package func transaction<Result>(_ body: () throws -> Result) throws -> Result {
        let result = try within(begin: "BEGIN IMMEDIATE") {
            // While this has the lock of writers, another process that came in by a deleted lock file has committed all it did, or
            // will see all that this does.
            if let place, !place.isKept() { throw SQLiteError.moved(afterCommit: false) }
            return try body()
        }
        if let place, !place.isKept() { throw SQLiteError.moved(afterCommit: true) }
        return result
    }

    /// Runs the closure over one snapshot of the database: all its statements see the same state.
    package func readTransaction<Result>(_ body: () throws -> Result) throws -> Result {
        try within(begin: "BEGIN DEFERRED", body)
    }

    /// Runs the closure within a transaction that is open; undoes only what the closure did if it throws.
    package func savepoint<Result>(_ body: () throws -> Result) throws -> Result {
        try run("SAVEPOINT part")
        do {
            let result = try body()
            try run("RELEASE part")
            return result
        } catch {
            // Where SQLite has ended the whole transaction by itself, there is no savepoint left.
            if isInTransaction {
                try run("ROLLBACK TO part")
                try run("RELEASE part")
            }
            throw error
        }
    }

    private func within<Result>(begin: StaticString, _ body: () throws -> Result) throws -> Result {
        try run(begin)
        do {
            let result = try body()
            try run("COMMIT")
            return result
        } catch {
            // https://www.sqlite.org/lang_transaction.html: a full disk, among others, ends it by itself.
            if isInTransaction { try run("ROLLBACK") }
            throw error
        }
    }

    private func run(_ sql: StaticString) throws {
        try withStatement(sql) { try $0.run() }
    }
}
