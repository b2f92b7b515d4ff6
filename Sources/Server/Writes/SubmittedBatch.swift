internal import FreshetTrust
internal import FreshetWire

/// A batch of numbered writes, or what earlier transactions have left of it.
///
/// A batch that is not atomic goes on in the next transaction where one has done enough, as if its client had sent the rest
/// again: other writes may come in between, and each part is published by itself.
struct SubmittedBatch: Sendable {
    private let namespace: Namespace
    /// The history that the batch is for; `nil` for any.
    private let epoch: Epoch?
    private var writes: NumberedWrites
    private var items: NumberedWrites.Items
    /// What earlier transactions have decided; `nil` if there were none.
    private var decided: Committed<[WriteOutcome]>?
    private let completion: @Sendable (Committed<[WriteOutcome]>) -> Void

    init(
        _ batch: WriteBatch, _ namespace: Namespace, by access: WriteAccess?,
        then completion: @escaping @Sendable (Committed<[WriteOutcome]>) -> Void
    ) {
        self.namespace = namespace
        self.completion = completion
        epoch = batch.epoch
        writes = NumberedWrites(
            client: batch.client, isAtomic: batch.atomic, resumes: batch.resume && batch.epoch != nil, access: access)
        items = NumberedWrites.Items(batch.writes) { access?.problem(of: $0, isAtomic: batch.atomic) }
    }

    var submission: Submission {
        let batch = items.writes
        return Submission(
            WriteLoad(of: batch.lazy.map(\.operation)),
            .other(.batch(batch, by: writes.client, in: namespace)) { context in
                try perform(&context)
            } refuse: { problem in
                // A response without the rest would state that the rest is undecided.
                let answered = problem.code == .outcomeUnknown ? nil : decided
                completion(answered ?? Committed(.failure(problem), nil))
            })
    }

    private func perform(_ context: inout Submission.Context) throws -> Submission.Performed {
        let limit = context.editLimit
        let committed = try context.write(
            to: namespace, by: writes.access,
            adding: NamespaceUsage(bounding: items.writes.lazy.map(\.operation), editLimit: limit, isNumbered: true)
        ) { applier throws -> Result<NumberedWrites.Outcomes, Problem> in
            if let epoch, let problem = writes.client.mismatch(of: epoch, with: applier.namespace.state.epoch) { return .failure(problem) }
            return try writes.apply(items, with: &applier)
        }
        guard case .success(let outcomes) = committed.result else {
            // The client sends the rest again, and is then refused.
            return whole(decided ?? Committed(committed.result.map { _ in [] }, committed.cursor))
        }
        let all = (try decided?.result.get() ?? []) + outcomes.decided.map(\.outcome)
        let soFar = Committed(.success(all), committed.cursor, lastWrite: outcomes.lastWrite)
        // The record of a rejection is of the state that the response describes: later parts could change it.
        guard outcomes.isCut, !all.contains(where: \.showsRecord) else { return whole(soFar) }
        var rest = self
        rest.decided = soFar
        rest.items = items.suffix(from: outcomes.decided.count)
        rest.writes.resumes = false
        return .part(rest: rest.submission)
    }

    private func whole(_ committed: Committed<[WriteOutcome]>) -> Submission.Performed { .whole(.other { completion(committed) }) }
}

extension WriteOutcome {
    /// Whether the answer shows the record, even if there is none now.
    fileprivate var showsRecord: Bool {
        guard case .rejected(let problem) = verdict else { return false }
        return problem.showsRecord
    }
}

extension ClientIdentifier {
    /// The problem of this client's batch for another history than the present one; `nil` if the two are the same.
    fileprivate func mismatch(of epoch: Epoch, with present: Epoch) -> Problem? {
        guard epoch != present else { return nil }
        return Problem(
            .epochChanged,
            "The batch is of epoch \(epoch), and the namespace is in \(present). "
                + "Ask for the last number of \(self) here, and send the writes that have no verdict with this epoch, under their numbers; "
                + "with 'resume' if those do not follow the last number.")
    }
}
