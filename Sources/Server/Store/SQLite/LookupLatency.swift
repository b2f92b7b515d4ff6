/// Whether a lookup of a record in the file waits for the disk. A pure value that gets the duration of each lookup.
struct LookupLatency: Sendable {
    /// Nanoseconds. A lookup whose pages are in memory takes some thousands; a disk that answers at once takes 50,000
    /// for each page.
    static let limit = 40_000.0
    /// No lookup counts for more: the time of a thread that had to wait for its processor shows nothing about the disk.
    static let most: Int64 = 200_000

    /// The mean of the latest lookups, each of which weighs a sixteenth, in nanoseconds.
    private(set) var mean = 0.0

    /// Whether lookups wait for the disk.
    var isSlow: Bool { mean > Self.limit }

    mutating func took(_ nanoseconds: Int64) { mean += (Double(min(max(nanoseconds, 0), Self.most)) - mean) / 16 }
}
