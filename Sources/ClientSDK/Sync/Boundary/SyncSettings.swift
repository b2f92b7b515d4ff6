package import FreshetWire

/// What is fixed for the life of a machine. All times in milliseconds unless named otherwise.
package struct SyncSettings: Hashable, Sendable {
    /// Which changes of the feed a device stores.
    package enum Following: Hashable, Sendable {
        /// All that match the filter: the cache is a replica.
        case everything
        /// Those of keys that the cache holds; other keys are read when they are needed.
        case held
    }

    package var following: Following = .everything
    package var filter: ChangeFilter = .all
    /// How long the server may hold a poll, in whole seconds, 1 to 60.
    package var hold: Int = 25
    /// How long after the hold the watchdog fires.
    package var grace: Int64 = 10_000
    /// The most changes in one page.
    package var pageLimit: Int = 1_000
    /// The most writes in one batch, and the most bytes of their values unless a single one has more.
    package var batchCount: Int = 100
    package var batchBytes: Int = 512 * 1024
    /// How long a request that the server does not hold may take.
    package var requestTimeout: Int64 = 30_000
    /// How long a read may take in all, attempts and waits together, before its caller gets an error; `Int64.max` for as long as it takes.
    package var readTimeout: Int64 = 10_000
    /// Whether the disk may let entries go for want of room, so that a key without a row may be one that was let go.
    package var mayEvict = false
    /// The first and the longest back-off.
    package var firstDelay: Int64 = 250
    package var longestDelay: Int64 = 30_000
    /// How often a read is tried before its asker gets the error.
    package var fetchAttempts: Int = 4
    /// The most reads under way at once, and the most keys in one of them.
    package var fetchRequests: Int = 6
    package var fetchKeys: Int = 200
    /// How often a merge is sent again before the writer gets the rejection.
    package var mergeAttempts: Int64 = 5
    /// The most rejected writes that are kept for the user, and the most bytes of them unless a single one has more; then the oldest are dropped.
    package var rejectionCount: Int = 1_000
    package var rejectionBytes: Int = 16 << 20
    /// How many held keys are verified by one request after a reset.
    package var verificationKeys: Int = 500
    /// Whether a device that belongs to one store goes over to another that answers, with its waiting writes.
    package var adoptsStores = false
    /// How many notes the story keeps (``SyncMachine/story(of:)``).
    package var storyNotes: Int = 4_096

    package init() {}

    /// What decides which entries the feed keeps right, as text: see ``SyncState/scope``.
    package var scope: String {
        // A copy that let entries go is read again once it may not any more.
        "\(following == .everything ? mayEvict ? "everything within a limit" : "everything" : "held"):\(filter.collections.joined(separator: ",")):\(filter.prefix)"
    }
}
