import FreshetSimulator

/// Runs a search until its time, its steps or its first violation end it.
struct SearchLoop {
    var search: GuidedSearch
    let jobs: Int
    /// `nil` for no limit.
    let duration: Duration?
    let stepsTotal: Int
    let keepsGoing: Bool
    let bug: InjectedBug?
    let directory: SearchDirectory?
    let reporter: SearchReporter
    /// How many violations of each kind are kept.
    private var kept: [ViolationKind: Int] = [:]

    /// The most violations of one kind that are shrunk and kept: further ones add no information.
    private static var mostOfAKind: Int { 3 }
    /// The most runs to shrink one violation.
    private static var tries: Int { 1_000 }
    /// How often the progress is printed and the corpus saved.
    private static var interval: Duration { .seconds(30) }

    init(
        search: GuidedSearch, jobs: Int, duration: Duration?, stepsTotal: Int, keepsGoing: Bool, bug: InjectedBug?,
        directory: SearchDirectory?, reporter: SearchReporter
    ) {
        (self.search, self.jobs, self.duration, self.stepsTotal) = (search, jobs, duration, stepsTotal)
        (self.keepsGoing, self.bug, self.directory, self.reporter) = (keepsGoing, bug, directory, reporter)
    }

    /// Returns the number of runs that broke a rule.
    mutating func run() async throws -> Int {
        let start = ContinuousClock.now
        var reported = start
        while search.progress.steps < stepsTotal, duration.map({ ContinuousClock.now - start < $0 }) ?? true {
            let results = await Self.results(of: search.nextBatch(), jobs: jobs)
            for finding in search.take(results) { try keep(finding) }
            if search.progress.violations > 0, !keepsGoing { break }
            guard ContinuousClock.now - reported >= Self.interval else { continue }
            reported = .now
            try save()
            reporter.progress(search.progress, after: reported - start)
        }
        try save()
        reporter.finish(search.progress, search.kinds, after: .now - start)
        return search.progress.violations
    }

    /// Entries of earlier searches stay on disk until all of them have been run.
    private func save() throws(CommandFailure) { if search.isLoaded { try directory?.save(search.entries) } }

    /// Runs a batch, some trials at a time. The results are in the order of the trials.
    private static func results(of trials: [Trial], jobs: Int) async -> [Trial.Result] {
        await withTaskGroup(of: (Int, Trial.Result).self) { group in
            var results: [Trial.Result?] = Array(repeating: nil, count: trials.count)
            var rest = trials.enumerated().makeIterator()
            func add(_ group: inout TaskGroup<(Int, Trial.Result)>) {
                guard let (place, trial) = rest.next() else { return }
                group.addTask { (place, trial.run()) }
            }
            for _ in 0..<min(jobs, trials.count) { add(&group) }
            while let (place, result) = await group.next() {
                results[place] = result
                add(&group)
            }
            return results.compactMap { $0 }
        }
    }

    /// Shrinks a violation, prints and stores it.
    private mutating func keep(_ finding: GuidedSearch.Finding) throws {
        let count = kept[finding.kind, default: 0]
        guard count < Self.mostOfAKind else { return }
        kept[finding.kind] = count + 1
        var short = finding
        var shrinker = Shrinker(rule: finding.violation.rule, tries: Self.tries)
        shrinker.kind = finding.kind
        shrinker.bug = bug
        short.scenario = shrinker.shrunk(finding.scenario)
        var simulation = Simulation(short.scenario)
        simulation.bug = bug
        if let violation = try simulation.run().violation { short.violation = violation }
        do { reporter.found(short, path: try directory?.add(short)) } catch {
            // The search may have taken hours to find it.
            reporter.found(short, path: nil)
            throw error
        }
    }
}
