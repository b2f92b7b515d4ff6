internal import Dispatch
internal import FreshetSQLite
internal import Logging
internal import Synchronization

/// Moves pages from a generation's write-ahead log into its database, so that writes need not wait for it. A checkpoint
/// waits for the disk twice.
///
/// SQLite's checkpoints run at the end of a commit. These have a separate connection and queue. While writes go on, such
/// a checkpoint never reaches the end of the log, and the log grows; so a writer that finds the log at its limit waits for
/// a checkpoint. See docs/decisions/0045-disk-reads.md.
final class DiskCheckpointer: Sendable {
    /// How many pages are added to the log before they are moved; as many as SQLite waits for.
    static let interval = 1_000
    /// How many pages the log has when a writer waits. With some more it is still within its 16 MiB, and within the
    /// first part of its index, of 32 KiB.
    static let limit = 3_900
    /// How many pages are added from then on before a writer waits again, where a reader keeps the log from beginning
    /// again from its start.
    private static let intervalAtLimit = 100

    private let path: String
    private let logger: Logger
    private let queue = DispatchQueue(label: "freshet.cache.disk.checkpoint")
    private let connection = Mutex<Connection?>(nil)
    /// How many pages of the log were moved when it was last looked at.
    private let moved = Atomic(0)
    private let isScheduled = Atomic(false)

    init(path: String, logger: Logger) {
        self.path = path
        self.logger = logger
    }

    /// Takes note of a commit, after which the log has so many pages. On the queue of the connection that committed.
    func noteCommit(logPages: Int) {
        // The log has begun again from its start.
        if logPages < moved.load(ordering: .relaxed) { moved.store(0, ordering: .relaxed) }
        let isAtLimit = logPages >= Self.limit
        guard logPages - moved.load(ordering: .relaxed) >= (isAtLimit ? Self.intervalAtLimit : Self.interval) else {
            return
        }
        if isAtLimit {
            queue.sync { self.checkpoint() }
        } else if !isScheduled.exchange(true, ordering: .relaxed) {
            queue.async {
                self.checkpoint()
                self.isScheduled.store(false, ordering: .relaxed)
            }
        }
    }

    /// How many pages of the log are in the database, as far as this checkpointer knows.
    var movedPages: Int { moved.load(ordering: .relaxed) }

    /// Closes the connection. A checkpoint that runs is waited for.
    func close() { queue.sync { connection.withLock { $0 = nil } } }

    private func checkpoint() {
        do {
            let log = try connection.withLock { connection in
                let opened = try connection ?? open()
                connection = opened
                return try opened.checkpoint()
            }
            moved.store(log.moved, ordering: .relaxed)
        } catch {
            // A later commit tries again. Those who read or write find damage.
            logger.debug(
                "the cache's log could not be moved into its database",
                metadata: ["path": "\(path)", "error": "\(error)"])
        }
    }

    private func open() throws -> Connection {
        let opened = try Connection(path: path, mode: .readWrite, nonblockingReads: .pageCache)
        try DiskSchema.prepare(opened)
        return opened
    }
}
