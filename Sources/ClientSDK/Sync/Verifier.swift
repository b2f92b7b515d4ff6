import FreshetWire

/// The reader of all held keys after a reset, page by page.
struct Verifier: Sendable {
    /// The disk was asked for the next keys.
    var query: HeldQuery?
    var request: RequestID?
    /// An answer is on its way to the disk.
    var isStoring = false
    /// Keys that the server is to be asked for again.
    var again: [HeldKey] = []
    var after: RecordKey?
    var notBefore: Int64 = 0
    var backoff = Backoff()
    var needsFreshToken = false

    var isIdle: Bool { query == nil && request == nil && !isStoring }
}
