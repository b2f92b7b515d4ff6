package import FreshetWire

/// What a device knows about its own freshness (rule 9).
package struct SyncStatus: Hashable, Sendable {
    package enum Connection: Hashable, Sendable {
        /// The feed was read to its end, and a poll is waiting for more.
        case live
        /// The feed or a verification is being read.
        case catchingUp
        /// There has been no contact since then, by the device's wall clock.
        case offline(since: Timestamp)
        /// The server is reached, and has taken no token since then, by the device's wall clock.
        case unauthorized(since: Timestamp)
    }

    /// What keeps the device from being live, or from storing and sending; the newest of each kind.
    package enum Trouble: Hashable, Sendable {
        case transport(TransportFailure)
        /// The token was refused, a fresh one too. Log in again.
        case unauthorized
        /// The server refused otherwise.
        case refused(Problem)
        /// The server's answers are not what the protocol says.
        case malformed(String)
        /// The disk does not take what the feed brings; the position stays where it is.
        case disk(DiskFailure)
    }

    package var connection: Connection
    /// What is wrong with the feed.
    package var feedTrouble: Trouble?
    /// What is wrong with sending writes.
    package var writeTrouble: Trouble?
    /// Writes without a verdict.
    package var pendingWrites: Int
    /// How many of them wait for a merge closure that is not registered, or behind a write that does, by its name.
    package var missingMerges: [MergeName: Int]
    /// Rejected writes that the user has not retried or discarded.
    package var rejections: Int
    /// How many more there were, which were dropped since there were too many.
    package var droppedRejections: Int64
    /// The position through which the feed is on disk.
    package var cursor: Cursor?
    /// Whether every entry has been confirmed since the last reset, and no value is to be read that did not come along or was invalidated.
    package var isVerified: Bool
    /// The present pass of verification.
    package var pass: Int64
    package var filter: ChangeFilter

    /// How far a value can be relied on.
    package enum Freshness: Hashable, Sendable {
        /// Followed live: the server's newest, but for the time that news takes.
        case live
        /// Right as of then; may have changed since.
        case confirmed(at: Timestamp)
        /// Kept over a reset or an invalidation, and not confirmed since.
        case unverified(since: Timestamp)
    }

    /// How far `entry` can be relied on under this status. O(number of collections in the filter).
    package func freshness(of entry: Entry) -> Freshness {
        guard entry.isConfirmed(in: pass) else { return .unverified(since: entry.verifiedAt) }
        return connection == .live && filter.matches(entry.key) ? .live : .confirmed(at: entry.verifiedAt)
    }
}
