import FreshetWire
import HTTPTypes

/// Carries out an ``ImportPlan`` and says how far it is.
struct Importer: Sendable {
    /// What became of the records.
    struct Report: Hashable, Sendable {
        /// How many this run wrote.
        var written = 0
        /// How many an earlier run had written.
        var before = 0
        /// Those that the server would not take.
        var rejected: [Rejection] = []
    }

    /// A record that the server would not take.
    struct Rejection: Hashable, Sendable {
        var key: RecordKey
        var problem: Problem
    }

    let remote: Remote
    let plan: ImportPlan

    /// - Parameter progress: called after each batch with the number of records that are settled.
    func run(progress: (Int) -> Void) async throws(CommandFailure) -> Report {
        let status = try await remote.ask(.get, remote.namespace.path(of: plan.client), as: ClientStatus.self)
        var report = Report()
        report.before = min(Int(status.last), plan.writes.count)
        var done = report.before
        progress(done)
        for batch in plan.batches(after: status.last) {
            var batch = batch
            // A server may decide the first writes alone, and takes the others in another request.
            while !batch.writes.isEmpty {
                let answer = try await remote.ask(.post, remote.namespace.writesPath, batch, as: WriteResults.self)
                let count = answer.results.count
                guard (1...batch.writes.count).contains(count) else {
                    throw CommandFailure(
                        .data, "the server answered \(batch.writes.count) writes with \(count) results; is it a Freshet server?")
                }
                for (write, outcome) in zip(batch.writes, answer.results) {
                    if case .rejected(let problem) = outcome.verdict {
                        report.rejected.append(Rejection(key: write.key, problem: problem))
                    } else {
                        report.written += 1
                    }
                }
                batch.writes.removeFirst(count)
                done += count
                progress(done)
            }
        }
        return report
    }
}
