internal import FreshetSQLite
internal import Logging

/// The connection that writes one generation. It belongs to its cache's queue.
final class DiskDatabase {
    /// The sums over all entries. Read at the beginning of each transaction, since another process may have written.
    struct Totals: Equatable {
        var entries = 0
        var bytes = 0
        /// Counts uses and writes: entries are evicted in this order.
        var tick: Int64 = 0
    }

    /// The bytes that count for an entry: its value, and three times the bytes of its key and tags, which are in rows and
    /// in indexes, and 128 for the rest.
    ///
    /// - Parameter tags: the bytes of all tags by ``DiskTags``.
    static func cost(value: Int, key: Int, tags: Int) -> Int { value &+ 3 &* (key &+ tags) &+ 128 }

    let generation: UInt32
    let connection: Connection
    let files: DiskFiles
    let scope: String
    let checkpointer: DiskCheckpointer
    private let place: DatabasePlace
    /// Valid within a transaction.
    var totals = Totals()
    /// Files that no row refers to once the transaction is committed.
    var leftFiles: [(KeyHash, UInt64)] = []

    /// Opens the generation's file, and makes it if there is none. Call within the directory's lock.
    init(folder: String, generation: UInt32, newScope: String, largestValue: Int, logger: Logger) throws {
        self.generation = generation
        files = DiskFiles(root: folder, largestValue: largestValue)
        let failure = DiskFolder.make(folder)
        guard failure == 0 else { throw DiskControl.error(failure, folder) }
        let path = folder + "/" + DiskSchema.file
        connection = try Connection(path: path, nonblockingReads: .pageCache)
        checkpointer = DiskCheckpointer(path: path, logger: logger)
        try DiskSchema.prepare(connection)
        if try DiskSchema.isEmpty(in: connection) {
            try DiskSchema.create(in: connection, scope: newScope)
        } else if try !DiskSchema.isIntact(in: connection) {
            throw DiskFailure.damage("the tables of \(folder) are not those of this version")
        }
        // Nothing waits for the disk but the moving of pages out of the log: a cache may lose its newest entries to a loss of power.
        try connection.pragma("synchronous = NORMAL")
        connection.endAutomaticCheckpoints()
        try connection.pragma("journal_size_limit = \(16 << 20)")
        place = try connection.keepPlace()
        guard let found = try DiskSchema.scope(in: connection) else { throw DiskFailure.damage("the state of \(folder) is lost") }
        scope = found
    }

    /// Whether the paths still lead to the open files: someone may have deleted them.
    var isInPlace: Bool { place.isKept() }

    /// Runs the closure in a write transaction, then removes the files that it left.
    func transaction<Result>(_ body: () throws -> Result) throws -> Result {
        leftFiles = []
        let result = try connection.transaction {
            totals = try storedTotals()
            let before = totals
            let result = try body()
            if totals != before { try store(totals) }
            return result
        }
        for (number, unique) in leftFiles { files.remove(number, unique) }
        leftFiles = []
        checkpointer.noteCommit(logPages: connection.logPages)
        return result
    }

    func storedTotals() throws -> Totals {
        try connection.withStatement("SELECT entries, bytes, tick FROM state") { statement in
            guard try statement.step() else { throw DiskFailure.damage("the state is lost") }
            return Totals(entries: Int(statement.int64(0)), bytes: Int(statement.int64(1)), tick: statement.int64(2))
        }
    }

    private func store(_ totals: Totals) throws {
        // Below zero: the rows and their sum do not agree, so something was damaged.
        guard totals.entries >= 0, totals.bytes >= 0 else { throw DiskFailure.damage("the sums do not agree with the entries") }
        try connection.withStatement("UPDATE state SET entries = ?1, bytes = ?2, tick = ?3") { statement in
            try statement.bind(1, totals.entries)
            try statement.bind(2, totals.bytes)
            try statement.bind(3, totals.tick)
            try statement.run()
        }
    }

    /// The next place in the order of uses.
    func nextTick() -> Int64 {
        totals.tick &+= 1
        return totals.tick
    }
}
