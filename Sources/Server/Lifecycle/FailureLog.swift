internal import Logging
internal import Synchronization

/// Logs failures of the store and of the server: the first of a kind, and then at most one in ten seconds, with the number of
/// those left out.
///
/// A store without room fails each write of each client at once, and its log is often on the same disk. Thread-safe.
final class FailureLog: Sendable {
    enum Kind: String, Hashable, Sendable {
        case transaction = "a transaction failed; nothing of it is stored"
        case unknownOutcome = "a transaction is stored or not"
        case store = "the store cannot be used until the server is started again"
        case read = "the store could not answer"
        case feed = "the feed could not read commits of other servers"
        case unexpected = "an unexpected error"
    }

    private let logger: Logger
    /// Monotonic milliseconds.
    private let now: @Sendable () -> Int64
    private let rates = Mutex<[Kind: FailureRate]>([:])

    init(_ logger: Logger, now: @escaping @Sendable () -> Int64) {
        self.logger = logger
        self.now = now
    }

    func note(_ kind: Kind, _ error: any Error) {
        let time = now()
        guard let omitted = rates.withLock({ $0[kind, default: FailureRate()].admit(at: time) }) else { return }
        var metadata: Logger.Metadata = ["error": "\(error)"]
        if omitted > 0 { metadata["omitted"] = "\(omitted)" }
        logger.error("\(kind.rawValue)", metadata: metadata)
    }
}

/// Which failures of a kind are logged.
struct FailureRate: Sendable {
    /// The least milliseconds between two that are logged.
    static let interval: Int64 = 10_000

    private var next = Int64.min
    private var omitted = 0

    /// Returns how many failures were left out since the last one that was logged; `nil` if this one is left out too.
    mutating func admit(at now: Int64) -> Int? {
        guard now >= next else {
            omitted += 1
            return nil
        }
        defer { omitted = 0 }
        next = now + Self.interval
        return omitted
    }
}
