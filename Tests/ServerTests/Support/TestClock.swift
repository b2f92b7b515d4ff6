import Synchronization

@testable import FreshetServer

/// A server's clocks, which a test sets.
final class TestClock: Sendable {
    private let milliseconds = Atomic<Int64>(1_800_000_000_000)

    /// Milliseconds since 1970.
    var wall: Int64 { milliseconds.load(ordering: .sequentiallyConsistent) }

    func advance(_ time: Int64) { milliseconds.add(time, ordering: .sequentiallyConsistent) }

    var environment: ServerEnvironment {
        ServerEnvironment(
            monotonicNanoseconds: { [self] in wall * 1_000_000 }, wallMilliseconds: { [self] in wall },
            random: ServerEnvironment.system.random)
    }
}
