public import FreshetWire

extension SyncClient {
    /// The client's freshness, its position, and its waiting writes.
    public struct Status: Hashable, Sendable {
        /// Whether the client shows the server's present state.
        public enum Connection: Hashable, Sendable {
            /// Not started, or stopped: the client sends and fetches nothing.
            case stopped
            /// The client is reading the changes since ``Status/cursor``.
            case catchingUp
            /// Up to date: the server notifies the client of each change.
            case live
            /// Without contact since this time of the device's wall clock. The client retries with back-off.
            case offline(since: Timestamp)
            /// The server can be reached, but has refused the token since this time, and a fresh one too. Log in again.
            case unauthorized(since: Timestamp)
            /// The server can be reached, but the token may read nothing of what this client follows, since this time of the device's wall
            /// clock. The records were removed from this device; waiting writes are kept. The client asks again at the longest back-off,
            /// and at once by ``SyncClient/retryNow()``; when the right is back, so are the records.
            case forbidden(since: Timestamp)
        }

        /// Whether the client shows the server's present state.
        public var connection: Connection
        /// The position up to which changes are stored; `nil` before the first.
        public var cursor: Cursor?
        /// The number of writes without an outcome.
        public var waitingWrites: Int
        /// The number of these writes that wait for a merge closure, or behind such a write to the same record, by the
        /// collection that was not opened with its closure yet; empty if there are none. They are kept, also over
        /// restarts, until ``SyncClient/collection(_:of:merging:)`` gives the closure.
        public var missingMergeClosures: [String: Int]
        /// The number of rejected writes in ``SyncClient/rejections``, which wait to be retried or discarded.
        public var rejectedWrites: Int
        /// The number of further rejected writes since the directory was made or cleared that were dropped for newer
        /// ones: at most 1,000 are kept, and 16 MiB of them unless a single one is larger.
        public var droppedRejections: Int
        /// Whether all cached data was confirmed since the last reset (a new epoch, an expired cursor), and no record
        /// is being read again because it was invalidated or its value is too large to come with the changes, or for an observer.
        /// ``SyncClient/waitUntilVerified()`` waits for it.
        public var isVerified: Bool
        /// What the token may do, as the server stated it after the first request with this token, and after each change of its rights;
        /// `nil` until then, and without ``SyncClient/Configuration/token``.
        public var rights: AccessRights?
        /// The failure of following the changes; `nil` while this works.
        public var feedError: ClientError?
        /// The failure of sending writes; `nil` while this works.
        public var writeError: ClientError?

        /// Creates a status.
        public init(
            connection: Connection, cursor: Cursor? = nil, waitingWrites: Int = 0, missingMergeClosures: [String: Int] = [:],
            rejectedWrites: Int = 0, droppedRejections: Int = 0, isVerified: Bool = true, rights: AccessRights? = nil,
            feedError: ClientError? = nil, writeError: ClientError? = nil
        ) {
            self.connection = connection
            self.cursor = cursor
            self.waitingWrites = waitingWrites
            self.missingMergeClosures = missingMergeClosures
            self.rejectedWrites = rejectedWrites
            self.droppedRejections = droppedRejections
            self.isVerified = isVerified
            self.rights = rights
            self.feedError = feedError
            self.writeError = writeError
        }

        /// The progress of the first complete copy, since the last start of the client; `nil` once there is one, and for a client
        /// that holds a part: with ``Configuration/Following/cachedRecords``, or with a ``Configuration/diskLimit``.
        public var firstCopy: FirstCopy?

        /// How far a first copy has come.
        public struct FirstCopy: Hashable, Sendable {
            /// The records that have arrived.
            public var records: Int
            /// The bytes of their values.
            public var bytes: Int
            /// The share of the changes that was read, from 0 to 1.
            public var share: Double

            /// Creates a progress.
            public init(records: Int, bytes: Int, share: Double) {
                self.records = records
                self.bytes = bytes
                self.share = share
            }

            /// About how many records there will be, if those to come are spread as those that came; `nil` before the first.
            public var expectedRecords: Int? { share > 0 && records > 0 ? Int((Double(records) / share).rounded()) : nil }
        }

        /// Whether ``connection`` is ``Connection/live``.
        public var isLive: Bool { connection == .live }
    }
}

extension SyncClient.Status: CustomStringConvertible {
    /// One line for a person, such as `live at c41-7, 2 writes wait, 1 was rejected`; errors follow, each with the
    /// action to take.
    public var description: String {
        var text = "\(connection)"
        if let cursor { text += " at \(cursor)" }
        if let firstCopy {
            let total = firstCopy.expectedRecords.map { " of about \($0)" } ?? ""
            text += ", the first copy has \(firstCopy.records)\(total) records, \(firstCopy.bytes) bytes"
        }
        if !isVerified { text += ", not all that is cached is verified" }
        if waitingWrites > 0 { text += ", \(waitingWrites == 1 ? "1 write waits" : "\(waitingWrites) writes wait")" }
        for (collection, count) in missingMergeClosures.sorted(by: { $0.key < $1.key }) {
            text += ", \(count) of them for the merge closure of \(collection)"
        }
        if rejectedWrites > 0 { text += ", \(rejectedWrites == 1 ? "1 was" : "\(rejectedWrites) were") rejected" }
        if droppedRejections > 0 { text += ", \(droppedRejections) more rejected and dropped" }
        if let rights { text += ", may \(rights)" }
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
        case .forbidden(let since): "forbidden since \(since)"
        }
    }
}
