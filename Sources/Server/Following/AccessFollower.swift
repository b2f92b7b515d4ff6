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
        /// Whether another comparison has to follow the one in progress, which may have read the store too early.
        var mustReadAgain = false
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

    /// Compares the copy with the store now, if it is of an earlier version than that which another server has announced.
    func announced(_ version: AccessVersion) {
        guard version > access.version else { return }
        let begins = state.withLock { state in
            (state.mustReadAgain, state.isReading) = (state.isReading, true)
            return !state.mustReadAgain
        }
        if begins { read() }
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
            let again = state.withLock { state in
                defer { state.mustReadAgain = false }
                state.isReading = state.mustReadAgain
                return state.isReading
            }
            if again { read() }
        }
    }
}

/// An ``AccessFollower`` whose server announces its changes to the others.
struct AnnouncedAccess: AccessCopy {
    let copy: AccessFollower
    let follower: StoreFollower

    func follow(_ transaction: any RecordTransaction) throws { try copy.follow(transaction) }

    func take(_ changes: AccessChanges) {
        copy.take(changes)
        follower.changedAccess(changes.version)
    }
}
