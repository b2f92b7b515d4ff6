internal import FreshetWire
internal import Glibc
internal import Synchronization

/// The present rule, for any number of readers without a lock.
///
/// A sequence lock (Boehm, MSPC '12, <https://doi.org/10.1145/2247684.2247688>): the sequence is odd while the single
/// writer is active, and has another value afterwards, so a reader knows whether its data belongs to the rule that it
/// read.
final class SharedFreshness: Sendable {
    private let sequence = Atomic(0)
    private let isLive = Atomic(false)
    private let pass = Atomic<Int64>(0)
    private let end = Atomic(Int64.max)
    private let filter: ChangeFilter
    private let uptime: @Sendable () -> Int64

    /// - Parameter uptime: milliseconds of a clock that counts sleep.
    init(_ filter: ChangeFilter, uptime: @escaping @Sendable () -> Int64) {
        self.filter = filter
        self.uptime = uptime
    }

    var now: FreshnessState { readConsistently {}.1 }

    /// Repeats the closure until the same rule held from its start to its end. Each call must give the same result.
    func readConsistently<Found>(_ look: () -> Found) -> (Found, FreshnessState) {
        while true {
            let before = sequence.load(ordering: .acquiring)
            let (isLive, pass) = (isLive.load(ordering: .relaxed), pass.load(ordering: .relaxed))
            let found = look()
            // The loads stay before the second load of the sequence.
            atomicMemoryFence(ordering: .acquiring)
            if before & 1 == 0, sequence.load(ordering: .relaxed) == before {
                return (found, FreshnessState(isLive: isLive && mayBeLive, pass: pass, filter: filter))
            }
            sched_yield()
        }
    }

    /// From this time of the clock on nothing is live, whatever the rule says. With `Int64.max` the clock is not read.
    var liveUntil: Int64 {
        get { end.load(ordering: .relaxed) }
        set { end.store(newValue, ordering: .relaxed) }
    }

    /// Whether ``liveUntil`` is in the future.
    var mayBeLive: Bool {
        let end = liveUntil
        return end == .max || uptime() < end
    }

    /// Called by one thread at a time: the engine's queue.
    func set(isLive newIsLive: Bool, pass newPass: Int64) {
        sequence.add(1, ordering: .relaxed)
        atomicMemoryFence(ordering: .sequentiallyConsistent)
        isLive.store(newIsLive, ordering: .relaxed)
        pass.store(newPass, ordering: .relaxed)
        sequence.add(1, ordering: .releasing)
    }
}
