internal import FreshetPlatform
import Logging
import Synchronization

/// Keeps a server's copy of the access rows up to date with a store to which other servers write: within each transaction,
/// so that no write is decided by rights that have ended, and now and then, for reads and waits.
///
/// Thread-safe.
final class AccessFollower: AccessCopy {
    /// How often the copy is compared with a store that other servers write to, in milliseconds.
    static let interval: Int64 = 500

    private struct State {
        var isReading = false
        var readAt: Int64?
    }

    private let access: AccessControl
    private let store: any RecordStore
    private let later: @Sendable (@escaping @Sendable () -> Void) -> Void
    /// Ends the waits of sessions that have ended. Called without a lock.
    private let onChange: @Sendable () -> Void
    private let logger: Logger
    private let state = Mutex(State())

    /// - Parameter later: runs work that may block on the store.
    init(
        _ access: AccessControl, _ store: any RecordStore, later: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void,
        logger: Logger, onChange: @escaping @Sendable () -> Void
    ) {
        self.access = access
        self.store = store
        self.later = later
        self.logger = logger
        self.onChange = onChange
    }

    func follow(_ transaction: any RecordTransaction) throws {
        let version = access.version
        guard try transaction.accessVersion() != version else { return }
        // Not here: looking at all waits takes a while, and the transaction holds locks.
        if access.take(try transaction.accessChanges(after: version)) { later(onChange) }
    }

    /// The completions of the transaction end the waits.
    func take(_ changes: AccessChanges) { _ = access.take(changes) }

    /// Compares the copy with the store if it is time. Call it some times a second.
    func timePassed(now: Int64) {
        let isDue = state.withLock { state in
            guard !state.isReading, state.readAt.map({ now - $0 >= Self.interval }) ?? true else { return false }
            (state.isReading, state.readAt) = (true, now)
            return true
        }
        if isDue { read() }
    }

    private func read() {
        later { [weak self] in
            guard let self else { return }
            do throws(StoreError) {
                let version = access.version
                if try store.accessVersion() != version, access.take(try store.accessChanges(after: version)) { onChange() }
            } catch {
                // The next one tries again.
                logger.error("keys and revocations could not be compared with the store", metadata: ["error": "\(error)"])
            }
            state.withLock { $0.isReading = false }
        }
    }
}
