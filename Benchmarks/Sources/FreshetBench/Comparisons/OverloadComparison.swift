import Figures

/// 1,000 writers, each with its next write as soon as the last was answered, and 9,000 clients that wait for a change of something else every
/// quarter of a second.
struct OverloadComparison {
    let workshop: Workshop

    func measure() throws {
        let (waiting, writers) = workshop.isQuick ? (1_000, 200) : (9_000, 1_000)
        let server = try workshop.freshFreshet()
        defer { server.stop() }
        var crowd = try Crowd(port: server.port, namespace: "overload", waiting: waiting)
        defer { crowd.leave() }
        var quiet: [Double] = []
        var busy: [Double] = []
        var taken: [Double] = []
        var refused = 0
        var refusedBare = 0
        var least = Int.max
        for _ in 0..<workshop.rounds {
            let seconds = workshop.seconds(4)
            let calm = try crowd.run(port: server.port, seconds: seconds, interval: .milliseconds(250))
            let storm = try crowd.run(port: server.port, seconds: seconds, interval: .milliseconds(250), writers: writers)
            quiet += (Statistics.percentile(0.99, of: calm.latencies)).map { [$0 * 1_000] } ?? []
            busy += (Statistics.percentile(0.99, of: storm.latencies)).map { [$0 * 1_000] } ?? []
            taken.append(Double(storm.taken) / storm.seconds)
            refused += storm.refused
            refusedBare += storm.refusedBare
            least = min(least, storm.answers.min() ?? 0)
            guard calm.missed + storm.missed + crowd.disordered == 0 else { throw BenchError.missing("a waiting client missed a change") }
        }
        workshop.report(Figure("overload-p99-ms-vs-quiet", ours: busy, peer: quiet))
        workshop.report(Figure("overload-writes-per-s", ours: taken))
        workshop.report(Figure("overload-refused", ours: Double(refused)))
        workshop.report(Figure("overload-refused-without-retry-after", ours: Double(refusedBare)))
        workshop.report(Figure("overload-least-answers", ours: Double(least)))
        workshop.report(Figure("overload-memory-mib", ours: server.figures.peak))
    }
}
