import Synchronization

@testable import FreshetServer

/// A server's clocks, which a test sets.
final class TestClock: Sendable {
    private let milliseconds = Atomic<Int64>(1_800_000_000_000)
    private let offset = Atomic<Int64>(0)

    private var monotonic: Int64 { milliseconds.load(ordering: .sequentiallyConsistent) }

    /// Milliseconds since 1970.
    var wall: Int64 { monotonic + offset.load(ordering: .sequentiallyConsistent) }

    /// Sets the wall clock alone forward, or back.
    func set(wallForwardBy time: Int64) { offset.add(time, ordering: .sequentiallyConsistent) }

    func advance(_ time: Int64) { milliseconds.add(time, ordering: .sequentiallyConsistent) }

    var environment: ServerEnvironment {
        ServerEnvironment(
            monotonicNanoseconds: { [self] in monotonic * 1_000_000 }, wallMilliseconds: { [self] in wall },
            random: ServerEnvironment.system.random)
    }
}
