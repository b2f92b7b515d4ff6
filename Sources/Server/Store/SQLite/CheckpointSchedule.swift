/// When pages of the write-ahead log are moved into the database.
///
/// The log begins again from its start when all its pages are moved and no reader needs one of them. Readers that overlap without
/// end would never let it, and it would grow until the disk is full: https://www.sqlite.org/wal.html#avoiding_excessively_large_wal_files.
/// So from a limit on they wait once. See docs/decisions/0031-kept-snapshots.md.
struct CheckpointSchedule {
    enum Step: Hashable {
        case none
        /// Move the pages that no reader holds up.
        case move
        /// Let no reader begin, wait for those that read, and then move all pages.
        case moveWithoutReaders
    }

    private let interval: Int
    private let limit: Int
    /// The pages of the log from which on the next step is due.
    private var next: Int
    /// The pages of the log after the last commit.
    private var pages = 0

    /// - Parameters:
    ///   - interval: how many pages the log has before they are moved. A page that is written again and again is moved once,
    ///     and the pause for it stays short.
    ///   - limit: how many pages the log has before readers wait.
    init(interval: Int, limit: Int) {
        (self.interval, self.limit) = (interval, limit)
        next = interval
    }

    /// Returns what to do after a commit, after which the log has so many pages. What it returns is tried once: where another
    /// process reads, or moving fails, more pages have to come before the next step.
    mutating func step(logPages: Int) -> Step {
        // The log has begun again from its start.
        if logPages < pages { next = interval }
        pages = logPages
        guard logPages >= next else { return .none }
        let isAtLimit = logPages >= limit
        next = logPages + (isAtLimit ? interval : max(1, interval / 8))
        return isAtLimit ? .moveWithoutReaders : .move
    }
}
