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
        }

        /// Whether what the client shows is what the server has.
        public var connection: Connection
        /// The position through which changes are stored; `nil` before the first.
        public var cursor: Cursor?
        /// How many writes have no verdict yet.
        public var waitingWrites: Int
        /// Whether all that is cached was confirmed since the last reset (a new epoch, an expired cursor).
        public var isVerified: Bool
        /// What is wrong with following the changes; `nil` while it works.
        public var feedError: ClientError?
        /// What is wrong with sending writes; `nil` while it works.
        public var writeError: ClientError?

        /// A status.
        public init(
            connection: Connection, cursor: Cursor? = nil, waitingWrites: Int = 0, isVerified: Bool = true, feedError: ClientError? = nil,
            writeError: ClientError? = nil
        ) {
            self.connection = connection
            self.cursor = cursor
            self.waitingWrites = waitingWrites
            self.isVerified = isVerified
            self.feedError = feedError
            self.writeError = writeError
        }

        /// Whether it is ``Connection/live``.
        public var isLive: Bool { connection == .live }
    }
}
