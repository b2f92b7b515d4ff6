import FreshetWire

/// The server's counters. Reading them stops nothing, so one may be ahead of another by the requests of a moment.
final class ServerMetrics: Sendable {
    let feed = FeedMetrics()
    /// Transactions that changed something.
    let commits = Counter()
    /// Transactions that failed.
    let failedCommits = Counter()
    /// Changes that were committed.
    let changes = Counter()
    /// Changes in one transaction.
    let groupSizes = Histogram(bounds: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024, 4_096], resolution: 1)
    /// Seconds from a write's request to its answer.
    let writeSeconds = Histogram(
        bounds: [0.000_5, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5], resolution: 0.000_001)
    /// Scans that were refused since too many waited.
    let refusedReads = Counter()
    /// Deletes and invalidations that were forgotten.
    let forgotten = Counter()
    /// Outcomes of idle clients that were forgotten.
    let forgottenOutcomes = Counter()
    private let responses: [[Counter]]

    init() {
        responses = (0...Endpoint.allCases.count).map { _ in (1...5).map { _ in Counter() } }
    }

    /// - Parameter endpoint: `nil` for requests that no route took.
    func countResponse(_ endpoint: Endpoint?, status: Int, times: Int = 1) {
        responses[place(endpoint)][min(max(status / 100, 1), 5) - 1].add(times)
    }

    func responses(_ endpoint: Endpoint?) -> [(statusClass: String, count: Int)] {
        return responses[place(endpoint)].enumerated().map { ("\($0.offset + 1)xx", $0.element.value) }
    }

    private func place(_ endpoint: Endpoint?) -> Int { endpoint?.rawValue ?? Endpoint.allCases.count }

    /// Counts the commits of one transaction.
    func count(_ commits: [NamespaceCommit]) {
        let count = commits.reduce(0) { $0 + $1.changes.count }
        self.commits.add()
        changes.add(count)
        if count > 0 { groupSizes.record(Double(count)) }
    }
}

/// Counts the decisions of the feed.
final class FeedMetrics: Sendable {
    /// Readers answered from memory.
    let hits = Counter()
    /// Readers sent to the store.
    let scans = Counter()
    /// Readers that had to wait.
    let waits = Counter()
    /// Waits that a change ended.
    let woken = Counter()
    /// Waits that ended with nothing.
    let expired = Counter()
    /// Readers answered `410`.
    let gone = Counter()
    /// Feeds whose recent changes were evicted.
    let evicted = Counter()

    func count(_ decision: PollDecision) {
        switch decision {
        case .reply(.page): hits.add()
        case .reply(.idle): expired.add()
        case .reply(.gone), .reply(.ended): gone.add()
        case .scan: scans.add()
        case .waiting: waits.add()
        }
    }
}
