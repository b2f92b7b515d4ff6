import Synchronization
import Testing

@testable import FreshetSimulator
@testable import freshet

struct SeedSweepTests {
    /// Runs that end in an order that the test chooses: a seed that is held ends once another one has ended, or been started.
    private final class Runs: Sendable {
        private let state = Mutex((started: Set<UInt64>(), waiting: [(count: Int, CheckedContinuation<Void, Never>)]()))
        let outcome: Outcome

        init() throws { outcome = try Simulation(seed: 1, workload: Workload(devices: 1, steps: 1)).run() }

        var started: Set<UInt64> { state.withLock { $0.started } }

        func start(_ seed: UInt64) {
            let due = state.withLock { state in
                state.started.insert(seed)
                let due = state.waiting.filter { state.started.count >= $0.count }
                state.waiting.removeAll { state.started.count >= $0.count }
                return due
            }
            for (_, continuation) in due { continuation.resume() }
        }

        /// Waits until `count` seeds have been started.
        func wait(for count: Int) async {
            await withCheckedContinuation { continuation in
                let isDue = state.withLock { state in
                    if state.started.count < count { state.waiting.append((count, continuation)) }
                    return state.started.count >= count
                }
                if isDue { continuation.resume() }
            }
        }

        func run(_ seed: UInt64, breaks: Bool = false) -> SimulationReporter.Run {
            var outcome = outcome
            if breaks { outcome.violation = Violation(rule: .expectation, step: 1, time: 1, device: nil, text: "wrong") }
            return SimulationReporter.Run(seed: seed, outcome: outcome)
        }
    }

    @Test(.timeLimit(.minutes(5))) func runsAreReportedInTheOrderOfTheirSeeds() async throws {
        // Given a first seed that ends only once the largest permitted number of others was started
        let runs = try Runs()
        let most = Int(SeedSweep.seedsAheadPerJob) * 2
        let sweep = SeedSweep(seeds: 1...100, keepsGoing: false) { seed in
            runs.start(seed)
            if seed == 1 { await runs.wait(for: most) }
            return runs.run(seed)
        }
        var reported: [UInt64] = []
        var startedAtFirst = 0
        // When they are run, two at a time
        let kept = try await sweep.run(jobs: 2) { run, done, _ in
            if reported.isEmpty { startedAtFirst = runs.started.count }
            reported.append(run.seed ?? 0)
            #expect(done == reported.count)
        }
        // Then all are reported in order, and no more than the bound were started before the first was
        #expect(reported == Array(1...100))
        #expect(startedAtFirst == most)
        #expect(kept.map(\.seed) == [1])
    }

    @Test(.timeLimit(.minutes(5))) func theLowestSeedThatBreaksARuleEndsIt() async throws {
        // Given a seed that breaks a rule later than a higher one does
        let runs = try Runs()
        let sweep = SeedSweep(seeds: 1...100, keepsGoing: false) { seed in
            runs.start(seed)
            if seed == 3 { await runs.wait(for: 5) }
            return runs.run(seed, breaks: seed == 3 || seed == 5)
        }
        var reported: [UInt64] = []
        // When
        let broken = try await sweep.run(jobs: 2) { run, _, _ in reported.append(run.seed ?? 0) }
        // Then that seed is the last one that is reported
        #expect(reported == [1, 2, 3])
        #expect(broken.map(\.seed) == [3])
        #expect(!runs.started.contains(100))
    }

    @Test(.timeLimit(.minutes(5))) func keepingGoingReportsAll() async throws {
        let runs = try Runs()
        let sweep = SeedSweep(seeds: 1...9, keepsGoing: true) { runs.run($0, breaks: $0 % 4 == 0) }
        var reported: [UInt64] = []
        let broken = try await sweep.run(jobs: 3) { run, _, _ in reported.append(run.seed ?? 0) }
        #expect(reported == Array(1...9))
        #expect(broken.map(\.seed) == [4, 8])
    }
}
