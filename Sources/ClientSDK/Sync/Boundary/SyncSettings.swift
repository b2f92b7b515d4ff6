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

    package var following: Following = .held
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
    /// How many held keys are verified by one request after a reset.
    package var verificationKeys: Int = 500
    /// How many notes the story keeps (``SyncMachine/story(of:)``).
    package var storyNotes: Int = 4_096

    package init() {}

    /// What decides which entries the feed keeps right, as text: see ``SyncState/scope``.
    var scope: String {
        "\(following == .everything ? "everything" : "held"):\(filter.collections.joined(separator: ",")):\(filter.prefix)"
    }
}
