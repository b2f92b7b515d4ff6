public import FreshetWire

extension SyncClient {
    /// How fresh the client is, what it has, and what still waits.
    public struct Status: Hashable, Sendable {
        /// Whether what the client shows is what the server has.
        public enum Connection: Hashable, Sendable {
            /// Not started, or stopped: nothing is sent or fetched.
            case stopped
            /// The server is being asked what has happened since ``Status/cursor``.
            case catchingUp
            /// Up to date, and told of each change as it happens.
            case live
            /// Not reached since then, by this device's wall clock. Tried again with back-off.
            case offline(since: Timestamp)
            /// The server is reached, and refuses the token since then, a fresh one too. Log in again.
            case unauthorized(since: Timestamp)
        }

        /// Whether what the client shows is what the server has.
        public var connection: Connection
        /// The position through which changes are stored; `nil` before the first.
        public var cursor: Cursor?
        /// How many writes have no verdict yet.
        public var waitingWrites: Int
        /// How many of them wait for a merge closure, or behind a write to the same record that does, by the collection that was not opened with
        /// one yet; empty where none does. They are kept, over restarts too, until ``SyncClient/collection(_:of:merging:)`` gives the closure.
        public var missingMergeClosures: [String: Int]
        /// How many rejected writes wait to be retried or discarded: ``SyncClient/rejections`` has them.
        public var rejectedWrites: Int
        /// How many more there were since the directory was made or cleared, which were dropped for newer ones: at most 1,000 are kept, and 16 MiB
        /// of them unless a single one is larger.
        public var droppedRejections: Int
        /// Whether all that is cached was confirmed since the last reset (a new epoch, an expired cursor), and no record is being read again
        /// since it was invalidated or its value is too large to come with the changes.
        public var isVerified: Bool
        /// What is wrong with following the changes; `nil` while it works.
        public var feedError: ClientError?
        /// What is wrong with sending writes; `nil` while it works.
        public var writeError: ClientError?

        /// A status.
        public init(
            connection: Connection, cursor: Cursor? = nil, waitingWrites: Int = 0, missingMergeClosures: [String: Int] = [:],
            rejectedWrites: Int = 0, droppedRejections: Int = 0, isVerified: Bool = true, feedError: ClientError? = nil,
            writeError: ClientError? = nil
        ) {
            self.connection = connection
            self.cursor = cursor
            self.waitingWrites = waitingWrites
            self.missingMergeClosures = missingMergeClosures
            self.rejectedWrites = rejectedWrites
            self.droppedRejections = droppedRejections
            self.isVerified = isVerified
            self.feedError = feedError
            self.writeError = writeError
        }

        /// Whether it is ``Connection/live``.
        public var isLive: Bool { connection == .live }
    }
}

extension SyncClient.Status: CustomStringConvertible {
    /// One line for a person, such as `live at c41-7, 2 writes wait, 1 was rejected`; errors follow, each with what to do.
    public var description: String {
        var text = "\(connection)"
        if let cursor { text += " at \(cursor)" }
        if !isVerified { text += ", not all that is cached is verified" }
        if waitingWrites > 0 { text += ", \(waitingWrites == 1 ? "1 write waits" : "\(waitingWrites) writes wait")" }
        for (collection, count) in missingMergeClosures.sorted(by: { $0.key < $1.key }) {
            text += ", \(count) of them for the merge closure of \(collection)"
        }
        if rejectedWrites > 0 { text += ", \(rejectedWrites == 1 ? "1 was" : "\(rejectedWrites) were") rejected" }
        if droppedRejections > 0 { text += ", \(droppedRejections) more rejected and dropped" }
        if let feedError { text += "; changes are not followed: \(feedError)" }
        if let writeError { text += "; writes are not sent: \(writeError)" }
        return text
    }
}

extension SyncClient.Status.Connection: CustomStringConvertible {
    /// Some words for a person.
    public var description: String {
        switch self {
        case .stopped: "stopped"
        case .catchingUp: "catching up"
        case .live: "live"
        case .offline(let since): "offline since \(since)"
        case .unauthorized(let since): "unauthorized since \(since)"
        }
    }
}
