import Figures

/// Clients that wait for a change of something else every quarter of a second, beside writers: as many as the server can serve, each with
/// its next `PUT` as soon as the last was answered; and the same number with a hundred writes at once, which are more than it can take in time.
struct OverloadComparison {
    let environment: BenchmarkEnvironment

    /// The results of the rounds of one kind of load.
    private struct Storm {
        let name: String
        let batch: Int
        var latencies: [Double] = []
        var quiet: [Double] = []
        var taken: [Double] = []
        var refused = 0
        var refusedBare = 0
        var refusedChanges = 0
        var least = Int.max
        var longest = 0.0
        var longestChange = 0.0
        var memory = 0.0
    }

    func measure() throws {
        for storm in [Storm(name: "overload", batch: 0), Storm(name: "overload-storm", batch: 100)] { try report(run(storm)) }
    }

    private func run(_ storm: Storm) throws -> Storm {
        var storm = storm
        let (waiting, writers) = environment.isQuick ? (1_000, 200) : (9_000, 1_000)
        let server = try environment.freshFreshet()
        defer { server.stop() }
        var clients = try LoadClients(port: server.port, namespace: "overload", waiting: waiting)
        defer { clients.leave() }
        for _ in 0..<environment.rounds {
            let seconds = environment.seconds(4)
            let calm = try clients.run(port: server.port, seconds: seconds, interval: .milliseconds(250))
            let busy = try clients.run(
                port: server.port, seconds: seconds, interval: .milliseconds(250), writers: writers, batch: storm.batch)
            storm.quiet += (Statistics.percentile(0.99, of: calm.latencies)).map { [$0 * 1_000] } ?? []
            storm.latencies += (Statistics.percentile(0.99, of: busy.latencies)).map { [$0 * 1_000] } ?? []
            storm.taken.append(Double(busy.taken) / busy.seconds)
            storm.refused += busy.refused
            storm.refusedBare += busy.refusedBare
            storm.refusedChanges += busy.refusedChanges
            storm.least = min(storm.least, busy.answers.min() ?? 0)
            storm.longest = max(storm.longest, (busy.waits.max() ?? 0) * 1_000)
            storm.longestChange = max(storm.longestChange, (busy.changes.max() ?? 0) * 1_000)
            guard calm.missed + busy.missed + clients.disordered == 0 else {
                throw BenchError.missing(
                    "\(storm.name): \(calm.missed) times at rest and \(busy.missed) in the storm a client did not see a change within ten seconds of its answer, "
                        + "and \(clients.disordered) times it saw one twice or out of order")
            }
        }
        storm.memory = server.figures.peak
        return storm
    }

    private func report(_ storm: Storm) {
        let name = storm.name
        environment.report(Figure("\(name)-p99-ms-vs-quiet", ours: storm.latencies, peer: storm.quiet))
        environment.report(Figure("\(name)-writes-per-s", ours: storm.taken))
        environment.report(Figure("\(name)-refused", ours: Double(storm.refused)))
        environment.report(Figure("\(name)-refused-without-retry-after", ours: Double(storm.refusedBare)))
        environment.report(Figure("\(name)-refused-changes", ours: Double(storm.refusedChanges)))
        environment.report(Figure("\(name)-least-answers", ours: Double(storm.least)))
        environment.report(Figure("\(name)-longest-answer-ms", ours: storm.longest))
        environment.report(Figure("\(name)-longest-change-ms", ours: storm.longestChange))
        environment.report(Figure("\(name)-memory-mib", ours: storm.memory))
    }
}
