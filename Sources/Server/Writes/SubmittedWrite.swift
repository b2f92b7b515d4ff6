internal import FreshetTrust
internal import FreshetWire

/// A write of one record in the queue, with its completion.
final class SubmittedWrite: Sendable {
    private let write: SingleWrite
    let namespace: Namespace
    private let access: WriteAccess?
    /// The problem with the value itself, if any.
    private let flaw: Problem?
    let completion: @Sendable (Committed<SingleReceipt>) -> Void

    /// Adds what the write uses to the parts of a scope.
    func add(to parts: inout TransactionScope.Parts) {
        parts.add(write.operation, to: write.key, in: namespace)
        if let author = write.author { parts.add(author.write...author.write, of: author.client, in: namespace) }
    }

    init(
        _ write: SingleWrite, _ namespace: Namespace, by access: WriteAccess?,
        then completion: @escaping @Sendable (Committed<SingleReceipt>) -> Void
    ) {
        self.write = write
        self.namespace = namespace
        self.access = access
        flaw = write.operation.flaw
        self.completion = completion
    }

    func perform(_ context: inout Submission.Context) throws -> Committed<SingleReceipt> {
        let limit = context.editLimit
        return try context.write(
            to: namespace, by: access,
            adding: NamespaceUsage(bounding: CollectionOfOne(write.operation), editLimit: limit, isNumbered: write.author != nil)
        ) { applier in
            guard let author = write.author else {
                if let flaw { return .failure(flaw) }
                let effect = try applier.apply(
                    write.operation, to: write.key, if: write.preconditions, by: nil, strict: true,
                    isHidden: access?.isHidden(write.key) ?? false)
                return SingleReceipt.of(effect)
            }
            let numbered = Write(number: author.write, key: write.key, operation: write.operation)
            let items = NumberedWrites.Items(numbered, if: write.preconditions, problem: flaw)
            return try NumberedWrites(client: author.client, isAtomic: false, access: access).apply(items, with: &applier).flatMap {
                SingleReceipt.of($0.decided)
            }
        }
    }
}

extension SingleReceipt {
    fileprivate static func of(_ effect: WriteApplier.Effect) -> Result<SingleReceipt, Problem> {
        switch effect {
        case .written(let revision, let created): .success(SingleReceipt(revision: revision, created: created))
        case .nothing: .success(SingleReceipt(revision: nil, created: false))
        case .rejected(let problem): .failure(problem)
        }
    }

    fileprivate static func of(_ decided: [NumberedWrites.Decided]) -> Result<SingleReceipt, Problem> {
        switch decided.first?.outcome.verdict {
        case .applied(let revision): .success(SingleReceipt(revision: revision, created: decided.first?.created == true))
        case .rejected(let problem): .failure(problem)
        case .settled, nil: .success(SingleReceipt(revision: nil, created: false))
        }
    }
}

extension WriteOperation {
    var byteCount: Int {
        switch self {
        case .put(let content): content.bytes.count
        case .patch(let patch): patch.count
        case .delete: 0
        case .increment(let increment): increment.byteCount
        }
    }

    /// The problem with the value itself, if any.
    var flaw: Problem? {
        do throws(WireError) {
            switch self {
            case .put(let content): if content.isJSON { try JSONReader.validate(content.bytes) }
            case .patch(let patch): try JSONReader.validate(patch)
            case .increment(let increment):
                if case .create(let initial?) = increment.onMissing { try JSONReader.validate(initial) }
            case .delete: break
            }
            return nil
        } catch { return Problem(error) }
    }
}
