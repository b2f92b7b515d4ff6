import FreshetWire
import HTTPTypes

/// Carries out an ``ImportPlan`` and reports its progress.
struct Importer: Sendable {
    /// The outcome of an import.
    struct Report: Hashable, Sendable {
        /// The number of records that this run wrote.
        var written = 0
        /// The number of records that an earlier run had written.
        var before = 0
        /// The number of records that the server rejected.
        var rejected = 0
        /// The first rejections, at most ``mostRejections``.
        var rejections: [Rejection] = []
    }

    /// A record that the server rejected.
    struct Rejection: Hashable, Sendable {
        var place: ImportPosition
        var key: RecordKey
        var problem: Problem
    }

    /// The most rejections that a report has.
    static let mostRejections = 10

    let remote: Remote
    let plan: ImportPlan
    /// Whether the same command makes the same plan, and so continues this import.
    var goesOn = true
    var retries = RetrySchedule.standard

    /// Sends the records that are not written yet; the next batch is read while one is under way.
    /// - Parameters:
    ///   - source: the records that the plan was made of, from the first on.
    ///   - progress: called after each batch with the number of records that are settled.
    /// - Throws: ``CommandFailure`` where the server refuses a request, or cannot be reached for longer than the retries take.
    func run(_ source: some ImportSource, progress: (Int) -> Void) async throws(CommandFailure) -> Report {
        let status = try await remote.ask(.get, remote.namespace.path(of: plan.client), as: ClientStatus.self)
        var report = Report()
        report.before = min(Int(status.last), plan.count)
        var done = report.before
        progress(done)
        guard done < plan.count else { return report }
        var batches = ImportBatches(source, after: status.last)
        var next = try batches.next()
        while let batch = next {
            let answer = Task { await result(of: batch) }
            next = try batches.next()
            do throws(CommandFailure) {
                report.add(try await answer.value.get(), to: batch)
            } catch {
                let rest = goesOn ? ", and the same command once more writes the others" : ""
                throw CommandFailure(
                    error.status, "\(error.message); \(grouped(done)) of \(counted(plan.count, "record")) are written\(rest)")
            }
            done += batch.writes.count
            progress(done)
        }
        return report
    }

    private func result(of batch: ImportBatches.Batch) async -> Result<[WriteOutcome], CommandFailure> {
        do throws(CommandFailure) { return .success(try await outcomes(of: batch)) } catch { return .failure(error) }
    }

    private func outcomes(of batch: ImportBatches.Batch) async throws(CommandFailure) -> [WriteOutcome] {
        if batch.size > ImportBatches.batchBytes, let write = batch.writes.first { return [try await put(write, batch.places)] }
        var outcomes: [WriteOutcome] = []
        // A server may decide only the first writes, and takes the others in another request.
        while outcomes.count < batch.writes.count {
            let rest = WriteBatch(client: plan.client, writes: Array(batch.writes[outcomes.count...]))
            let fields: HTTPFields = [.contentType: Content.json]
            let reply = try await remote.reply(
                .post, remote.namespace.writesPath, fields: fields, body: rest.json, isRepeatable: true, retries: retries)
            let results = try WriteResults(of: reply).results
            guard (1...rest.writes.count).contains(results.count) else {
                throw CommandFailure(
                    .data, "the server answered \(rest.writes.count) writes with \(results.count) results; is it a Freshet server?")
            }
            outcomes += results
        }
        return outcomes
    }

    /// Writes a large value in a separate request, as plain bytes: with base64 it may be too large for a batch.
    private func put(_ write: Write, _ places: [ImportPosition]) async throws(CommandFailure) -> WriteOutcome {
        guard case .put(let content) = write.operation else { return WriteOutcome(number: write.number, verdict: .settled) }
        let fields: HTTPFields = [
            .contentType: content.type, .freshetClient: plan.client.text, .freshetWrite: String(write.number),
        ]
        do throws(CommandFailure) {
            let reply = try await remote.reply(
                .put, remote.namespace.path(of: write.key), fields: fields, body: content.bytes, isRepeatable: true, retries: retries)
            return WriteOutcome(number: write.number, verdict: .applied(try WriteReceipt(of: reply).revision))
        } catch {
            let place = places.first.map { "\($0): " } ?? ""
            throw CommandFailure(error.status, "\(place)\(write.key): \(error.message)")
        }
    }
}

extension Importer.Report {
    fileprivate mutating func add(_ outcomes: [WriteOutcome], to batch: ImportBatches.Batch) {
        for (index, outcome) in outcomes.enumerated() {
            guard case .rejected(let problem) = outcome.verdict else {
                written += 1
                continue
            }
            rejected += 1
            guard rejections.count < Importer.mostRejections else { continue }
            rejections.append(
                Importer.Rejection(place: batch.places[index], key: batch.writes[index].key, problem: problem))
        }
    }
}
