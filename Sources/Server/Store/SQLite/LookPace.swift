/// Whether a look at a record in the file waits for the disk: a pure value, told how long each took.
struct LookPace: Sendable {
    /// Nanoseconds. A look whose pages are in memory takes some thousands; a disk that answers at once takes 50,000 for each page.
    static let limit = 40_000.0
    /// No look counts for more: a thread that had to wait for its processor tells nothing of the disk.
    static let most: Int64 = 200_000

    /// Of the latest looks, each of which weighs a sixteenth, in nanoseconds.
    private(set) var mean = 0.0

    /// Whether the disk is what looks wait for.
    var isSlow: Bool { mean > Self.limit }

    mutating func took(_ nanoseconds: Int64) { mean += (Double(min(max(nanoseconds, 0), Self.most)) - mean) / 16 }
}
