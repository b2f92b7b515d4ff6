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
        // Given the corpus of a search, through its text
        let first = search(4, batches: 1)
        let entries = try first.entries.keys.sorted().compactMap { first.entries[$0] }.map {
            try Scenario(text: $0.text)
        }
        // When another search begins with it
        var second = GuidedSearch(seed: 5, workload: Self.workload, corpus: entries, batch: 8)
        while !second.isLoaded { _ = second.take(second.nextBatch().map { $0.run() }) }
        // Then it has run each entry and knows most of the triples before it makes anything up
        #expect(second.progress.runs == entries.count)
        #expect(second.progress.triples * 10 > first.progress.triples * 7)
    }

    @Test(
        "An entry that waits for years is cut off, and its run can be repeated",
        arguments: [
            "device A\nA puts c/1 1\nwait 36000d\nsettle\n", "servers 3\ndevice A joins later\nwait 36000d\njoin A\nsettle\n",
        ])
    func longWait(text: String) throws {
        // Given
        let entry = try Scenario(text: text)
        var search = GuidedSearch(seed: 5, workload: Self.workload, corpus: [entry], batch: 8)
        // When
        let results = search.nextBatch().map { $0.run() }
        // Then
        let outcome = try #require(results.first?.outcome)
        #expect(outcome.violation == nil && outcome.steps < 20_000 && outcome.time < 86_400_000)
        #expect(outcome.scenario.incidents.last?.event == .healAll)
        #expect(try Simulation(outcome.scenario).run().hash == outcome.hash)
    }

    @Test func aSearchFindsAnInjectedBug() {
        // Given a server that forgets the devices' writes
        var search = GuidedSearch(seed: 5, workload: Workload(devices: 3, steps: 600), bug: .forgetLedger, batch: 8)
        // When a search looks for a violation
        var finding: GuidedSearch.Finding?
        while finding == nil, search.progress.steps < 60_000 {
            finding = search.take(search.nextBatch().map { $0.run() }).first
        }
        // Then it finds a violation that the same scenario shows again
        guard let finding else { Issue.record("nothing in \(search.progress)"); return }
        var simulation = Simulation(finding.scenario)
        simulation.bug = .forgetLedger
        #expect((try? simulation.run())?.violation?.rule == finding.violation.rule)
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
        var search = GuidedSearch(seed: seed, workload: Self.workload, batch: 8)
        for _ in 0..<batches { _ = search.take(search.nextBatch().map { $0.run() }) }
        return search
    }
}
