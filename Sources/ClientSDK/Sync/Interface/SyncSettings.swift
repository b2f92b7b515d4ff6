package import FreshetWire

/// Settings that are fixed for the life of a machine. All times are in milliseconds unless stated otherwise.
package struct SyncSettings: Hashable, Sendable {
    /// The changes of the feed that a device stores.
    package enum Following: Hashable, Sendable {
        /// All that match the filter: the cache is a replica.
        case everything
        /// Changes of keys that the cache holds; other keys are read when they are needed.
        case cachedKeys
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
    /// How long a request without a hold may take.
    package var requestTimeout: Int64 = 30_000
    /// How long a read may take in all, attempts and waits together, before its caller gets an error; `Int64.max` for
    /// no limit.
    package var readTimeout: Int64 = 10_000
    /// Whether the disk may evict entries for want of room, so that a key without a row may have been evicted.
    package var mayEvict = false
    /// The first and the longest back-off.
    package var firstDelay: Int64 = 250
    package var longestDelay: Int64 = 30_000
    /// The number of attempts of a read before its caller gets the error.
    package var fetchAttempts: Int = 4
    /// The most reads under way at once, and the most keys in one of them.
    package var fetchRequests: Int = 6
    package var fetchKeys: Int = 200
    /// The number of times that a merge is sent again before the writer gets the rejection.
    package var mergeAttempts: Int64 = 5
    /// The most rejected writes that are kept for the user, and the most bytes of them unless a single one has more.
    /// Beyond these limits the oldest are dropped.
    package var rejectionCount: Int = 1_000
    package var rejectionBytes: Int = 16 << 20
    /// The number of cached keys that one request verifies after a reset.
    package var revalidationKeys: Int = 500
    /// Whether a device that belongs to one store moves, with its waiting writes, to another store that answers.
    package var adoptsStores = false
    /// Whether the app gives tokens, so that a refused one may be replaced.
    package var hasToken = true
    /// The number of notes that the history of keys keeps (``SyncMachine/history(of:)``).
    package var historyCapacity: Int = 4_096

    package init() {}

    /// Whether the feed brings the changes of this record. The rule of coverage: a device treats a record as current only while
    /// its subscription covers the key, and has covered it without a gap since the record's position. So it keeps no others, but
    /// for those under its own waiting writes. O(log n) for n collections of the filter.
    package func covers(_ key: RecordKey) -> Bool { filter.matches(key) }

    /// Whether the device holds all records that the filter matches, once it has caught up.
    package var holdsAll: Bool { following == .everything && !mayEvict }

    /// The settings that decide which entries the feed keeps up to date, as text: see ``SyncState/scope``.
    package var scope: String { "\(Self.scopeVersion)\(scopeKind):\(filter.text)" }

    /// A file of an earlier version may hold records that its scope does not cover.
    private static let scopeVersion = "2:"

    /// A copy from which entries may have been evicted is read again when eviction is no longer allowed.
    private var scopeKind: String { following == .everything ? mayEvict ? "everything within a limit" : "everything" : "held" }

    /// Whether a device that has followed `scope` holds all that these settings cover.
    func narrows(_ scope: String) -> Bool {
        guard let earlier = Self.parts(of: scope) else { return false }
        return earlier.kind == scopeKind && earlier.filter.includes(filter)
    }

    /// Returns the filter of a device that has followed everything that `scope` covers; `nil` for another scope.
    static func copiedFilter(in scope: String) -> ChangeFilter? {
        parts(of: scope).flatMap { $0.kind == "everything" ? $0.filter : nil }
    }

    private static func parts(of scope: String) -> (kind: String, filter: ChangeFilter)? {
        var bytes = scope.utf8[...]
        if bytes.starts(with: scopeVersion.utf8) { bytes = bytes.dropFirst(scopeVersion.utf8.count) }
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
            let filter = ChangeFilter(text: String(Substring(bytes[bytes.index(after: colon)...])))
        else { return nil }
        return (String(Substring(bytes[..<colon])), filter)
    }
}
