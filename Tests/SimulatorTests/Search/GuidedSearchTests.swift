import Testing

@testable import FreshetSimulator

@Suite struct GuidedSearchTests {
    private static let workload = Workload(devices: 3, steps: 600)

    @Test func theSameSeedGivesTheSameSearch() {
        // Given two searches with one seed, and one with another
        let (first, second, other) = (search(1, batches: 2), search(1, batches: 2), search(2, batches: 1))
        // Then the first two have done the same
        #expect(first.progress == second.progress)
        #expect(first.entries == second.entries)
        #expect(first.entries != other.entries)
    }

    @Test func coverageChangesNothingInARun() throws {
        // Given a run
        let simulation = Simulation(seed: 5, workload: Self.workload)
        let plain = try simulation.run()
        // When it is run with its coverage recorded
        let recorder = CoverageRecorder(devices: 3)
        let covered = try simulation.run(isRecorded: false, stepLimit: .max, coverage: recorder)
        // Then it is the same run, and each triple was recorded once
        #expect(plain.hash == covered.hash)
        #expect(recorder.covered.count > 100)
        #expect(Set(recorder.covered.map(\.triple)).count == recorder.covered.count)
    }

    @Test func aQuarterOfTheStepsAreThoseOfUniformSeeds() {
        let progress = search(3, batches: 5).progress
        let share = Double(progress.uniformSteps) / Double(progress.steps)
        #expect(share > 0.15 && share < 0.35, "\(progress)")
    }

    @Test func aSearchGoesOnFromACorpus() throws {
        // Given what a search has left, through its text
        let first = search(4, batches: 1)
        let entries = try first.entries.keys.sorted().compactMap { first.entries[$0] }.map {
            try Scenario(text: $0.text)
        }
        // When another search begins with it
        var second = GuidedSearch(seed: 5, workload: Self.workload, corpus: entries)
        while !second.isLoaded { _ = second.take(second.nextBatch().map { $0.run() }) }
        // Then it has run each entry and knows most of the triples before it makes anything up
        #expect(second.progress.runs == entries.count)
        #expect(second.progress.triples * 10 > first.progress.triples * 7)
    }

    @Test func aSearchFindsWhatUniformSeedsDoNotFindInTwiceAsManySteps() throws {
        // Given a server that forgets what devices have sent, and the workload of uniform runs
        let workload = Workload(devices: 5, steps: 1_500)
        // When a search looks for the double effects of that
        var search = GuidedSearch(seed: 5, workload: workload, sabotage: .forgetLedger)
        var finding: GuidedSearch.Finding?
        while finding == nil, search.progress.steps < 20_000 {
            finding = search.take(search.nextBatch().map { $0.run() }).first
        }
        // Then it finds them
        let steps = try #require(finding).progress.steps
        #expect(finding?.violation.rule == .exactlyOnce)
        // And seeds from the first on do not, in twice as many steps
        var (uniformSteps, seed) = (0, UInt64(1))
        while uniformSteps < 2 * steps {
            var simulation = Simulation(seed: seed, workload: workload)
            simulation.sabotage = .forgetLedger
            let outcome = try simulation.run()
            #expect(outcome.violation == nil, "seed \(seed)")
            uniformSteps += outcome.steps
            seed += 1
        }
    }

    @Test func violationsThatDifferInKeysAndNumbersAreOfOneKind() {
        func kind(_ text: String) -> ViolationKind {
            ViolationKind(Violation(rule: .overlayThenBase, step: 1, time: 1, device: 0, text: text))
        }
        let first = kind(
            "increment counters/1 (write 6) left the overlay, and the record is known through 33, before 38")
        #expect(
            first == kind("increment notes/2 (write 23) left the overlay, and the record is known through 7, before 9"))
        #expect(
            first
                != kind("documents/1 shows {\"n\":530} over 25; with the writes that are not part of it, it is nothing")
        )
        #expect(first.words == "increment write left the overlay and the record is known through before")
    }

    private func search(_ seed: UInt64, batches: Int) -> GuidedSearch {
        var search = GuidedSearch(seed: seed, workload: Self.workload)
        for _ in 0..<batches { _ = search.take(search.nextBatch().map { $0.run() }) }
        return search
    }
}
