import FreshetWire

/// The reader of the feed.
struct Feed: Sendable {
    var request: RequestID?
    /// Whether nothing was left at the last answer, and no gap has been since.
    var isCaughtUp = false
    /// Whether the request may be held by the server, since nothing was left when it was sent.
    var isPolling = false
    /// When the last answer was still true for certain, in milliseconds of uptime; it may have been on its way for long.
    var trueAt: Int64 = 0
    /// How many answers are on their way to the disk.
    var storing = 0
    /// Where the page begins that may be asked for meanwhile; `nil` where the last answer left nothing.
    var next: Cursor?
    var notBefore: Int64 = 0
    var backoff = Backoff()
    var needsFreshToken = false
    /// When contact was lost; `nil` while there is contact, and before the first attempt has failed.
    var offlineSince: Timestamp?
    var trouble: SyncStatus.Trouble?
    /// How often in a row the server said that the position is ahead of it.
    var aheads = 0
    /// How often in a row a poll came back at once with nothing.
    var idleAnswers = 0

    /// Whether a page is on its way to the disk.
    var isStoring: Bool { storing > 0 }

    /// An answer is on its way to the disk no more.
    mutating func stored() { storing = max(0, storing - 1) }
}
