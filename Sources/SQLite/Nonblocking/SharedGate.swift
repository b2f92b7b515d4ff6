internal import Glibc

/// Keeps nonblocking reads out while a call may wait for the disk with a lock of SQLite's held.
///
/// A reader enters at once or not at all; an exclusive caller waits until all readers have left, which takes
/// microseconds.
///
/// `@unchecked Sendable`: the lock does not move, and is safe from any thread.
final class SharedGate: @unchecked Sendable {
    private let lock = UnsafeMutablePointer<pthread_rwlock_t>.allocate(capacity: 1)

    init() {
        var attributes = pthread_rwlockattr_t()
        pthread_rwlockattr_init(&attributes)
        // Readers that follow each other without a gap must not keep an exclusive caller waiting.
        pthread_rwlockattr_setkind_np(&attributes, Int32(PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP))
        pthread_rwlock_init(lock, &attributes)
        pthread_rwlockattr_destroy(&attributes)
    }

    deinit {
        pthread_rwlock_destroy(lock)
        lock.deallocate()
    }

    /// - Returns: whether the caller is in, and has to ``leave()``.
    func tryEnter() -> Bool { pthread_rwlock_tryrdlock(lock) == 0 }

    func leave() { pthread_rwlock_unlock(lock) }

    func withExclusiveAccess<Result>(_ body: () -> Result) -> Result {
        pthread_rwlock_wrlock(lock)
        defer { pthread_rwlock_unlock(lock) }
        return body()
    }
}
