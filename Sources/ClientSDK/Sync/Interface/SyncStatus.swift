package import FreshetWire

/// The freshness of a device's data, as far as the device knows (rule 9).
package struct SyncStatus: Hashable, Sendable {
    package enum Connection: Hashable, Sendable {
        /// The feed was read to its end, and a poll is waiting for more.
        case live
        /// The feed or a verification is being read.
        case catchingUp
        /// There has been no contact since this time of the device's wall clock.
        case offline(since: Timestamp)
        /// The server can be reached, but has accepted no token since this time of the device's wall clock.
        case unauthorized(since: Timestamp)
        /// The server can be reached, but the token may read nothing of the followed records, since this time of the device's wall clock.
        case forbidden(since: Timestamp)
    }

    /// A failure that keeps the device from being live, or from storing and sending; the newest of each kind.
    package enum Trouble: Hashable, Sendable {
        case transport(TransportFailure)
        /// The token was refused, and so was a fresh one. Log in again.
        case unauthorized
        /// The server refused for another reason.
        indirect case refused(Problem)
        /// The server's responses violate the protocol.
        case malformed(String)
        /// The disk does not store pages of the feed; the position does not move.
        case disk(DiskFailure)
    }

    package var connection: Connection
    /// The failure of the feed.
    package var feedTrouble: Trouble?
    /// The failure of sending writes.
    package var writeTrouble: Trouble?
    /// Writes without an outcome.
    package var pendingWrites: Int
    /// The number of pending writes that wait for a merge closure that is not registered, or behind such a write, by
    /// the closure's name.
    package var missingMerges: [MergeName: Int]
    /// Rejected writes that the user has not retried or discarded.
    package var rejections: Int
    /// The number of further rejected writes that were dropped because there were too many.
    package var droppedRejections: Int64
    /// The position through which the feed is on disk.
    package var cursor: Cursor?
    /// Whether every entry has been confirmed since the last reset, and no entry needs a refresh.
    package var isVerified: Bool
    /// The progress of the first complete copy; `nil` once there is one, and for a device that makes none.
    package var firstCopy: FirstCopy?
    /// The present pass of verification.
    package var pass: Int64
    package var filter: ChangeFilter
}
