package import FreshetWire

/// Something to be done in a write transaction, with whom to tell afterwards.
///
/// The makers look at nothing but their arguments; values of single writes are checked to be JSON here, on the caller's thread,
/// rather than in the one transaction that all wait for.
package struct Submission: Sendable {
    /// What a submission may do and has to know.
    struct Context {
        let transaction: any RecordTransaction
        let time: Timestamp
        let valueLimit: Int
        var log = CommitLog()
    }

    /// What a group and the queue are bounded by.
    let load: WriteLoad
    /// Whether it is taken however much waits: for the server's own, which cost little.
    let isVital: Bool
    /// Does it, and returns what tells its owner once the transaction is on disk.
    let perform: @Sendable (inout Context) throws -> @Sendable () -> Void
    /// Tells its owner that nothing was done.
    let refuse: @Sendable (Problem) -> Void

    init<Value>(
        writes: Int = 1, bytes: Int = 0, isVital: Bool = false, then completion: @escaping @Sendable (Committed<Value>) -> Void,
        _ work: @escaping @Sendable (inout Context) throws -> Committed<Value>
    ) {
        load = WriteLoad(writes: writes, bytes: bytes)
        self.isVital = isVital
        perform = { context in
            let committed = try work(&context)
            return { completion(committed) }
        }
        refuse = { completion(Committed(.failure($0), nil)) }
    }
}

extension Submission {
    /// `POST …/writes`. Nothing is done if the batch names another history than the one that the transaction finds.
    package static func batch(
        _ batch: WriteBatch, in namespace: Namespace, then completion: @escaping @Sendable (Committed<[WriteOutcome]>) -> Void
    ) -> Submission {
        let bytes = batch.writes.reduce(0) { $0 + $1.operation.byteCount }
        return Submission(writes: batch.writes.count, bytes: bytes, then: completion) { context in
            let writes = NumberedWrites(client: batch.client, isAtomic: batch.atomic, resumes: batch.resume && batch.epoch != nil)
            let items = batch.writes.map {
                NumberedWrites.Item(
                    number: $0.number, key: $0.key, operation: $0.operation, preconditions: $0.ifRevision.map { [.revision($0)] } ?? [])
            }
            return try context.write(to: namespace) { applier in
                if let problem = batch.mismatch(with: applier.namespace.state.epoch) { return .failure(problem) }
                return try writes.apply(items, with: &applier).map { $0.map(\.outcome) }
            }
        }
    }

    /// `PUT`, `PATCH`, `DELETE`.
    package static func single(
        _ write: SingleWrite, in namespace: Namespace, then completion: @escaping @Sendable (Committed<SingleReceipt>) -> Void
    ) -> Submission {
        let flaw = write.operation.flaw
        return Submission(bytes: write.operation.byteCount, then: completion) { context in
            try context.write(to: namespace) { applier in
                guard let author = write.author else {
                    if let flaw { return .failure(flaw) }
                    return SingleReceipt.of(
                        try applier.apply(write.operation, to: write.key, if: write.preconditions, by: nil, strict: true))
                }
                let item = NumberedWrites.Item(
                    number: author.write, key: write.key, operation: write.operation, preconditions: write.preconditions, flaw: flaw)
                return try NumberedWrites(client: author.client, isAtomic: false).apply([item], with: &applier)
                    .flatMap(SingleReceipt.of)
            }
        }
    }

    /// `POST …/invalidations`: each scope takes a revision, and the last is the answer.
    package static func invalidate(
        _ scopes: [InvalidationScope], in namespace: Namespace, then completion: @escaping @Sendable (Committed<Revision>) -> Void
    ) -> Submission {
        Submission(writes: scopes.count, then: completion) { context in
            try context.write(to: namespace) { try $0.invalidate(scopes) }
        }
    }

    /// `DELETE /v1/{ns}`: whether there was one. The position is that of the new epoch.
    package static func drop(
        _ namespace: Namespace, then completion: @escaping @Sendable (Committed<Bool>) -> Void
    ) -> Submission {
        Submission(then: completion) { context in
            let existed = try context.transaction.drop(namespace)
            let cursor = try context.transaction.namespace(namespace).state.cursor
            if existed { context.log.reset(namespace, cursor: cursor) }
            return Committed(.success(existed), cursor)
        }
    }

    /// Gives every namespace a new epoch, after a back-up was restored; answers with how many there are. `seed` is random.
    package static func rotateEpochs(
        seed: UInt64, then completion: @escaping @Sendable (Committed<Int>) -> Void
    ) -> Submission {
        Submission(then: completion) { context in
            let namespaces = try context.transaction.rotateEpochs(seed: seed)
            for namespace in namespaces {
                context.log.reset(namespace, cursor: try context.transaction.namespace(namespace).state.cursor)
            }
            return Committed(.success(namespaces.count), nil)
        }
    }

    /// Gives one namespace a new epoch, its records as they are, as a restore does to all: whether there is one. `seed` is random.
    package static func renewEpoch(
        of namespace: Namespace, seed: UInt64, then completion: @escaping @Sendable (Committed<Bool>) -> Void
    ) -> Submission {
        Submission(then: completion) { context in
            let exists = try context.transaction.renewEpoch(of: namespace, seed: seed)
            let cursor = try context.transaction.namespace(namespace).state.cursor
            if exists { context.log.reset(namespace, cursor: cursor) }
            return Committed(.success(exists), cursor)
        }
    }

    /// One step of forgetting the deletes and invalidations of one namespace, however new. Repeat until it is complete.
    package static func forgetDeletes(
        of namespace: Namespace, limit: Int = 1_000, then completion: @escaping @Sendable (Committed<Compaction>) -> Void
    ) -> Submission {
        Submission(writes: limit, then: completion) { context in
            let compaction = try context.transaction.forgetDeletes(of: namespace, limit: limit)
            return Committed(.success(compaction), try context.transaction.namespace(namespace).state.cursor)
        }
    }

    /// One step of compaction: at most `limit` rows, so that writes do not wait long. Repeat until it is complete.
    package static func compact(
        before time: Timestamp, limit: Int = 1_000, then completion: @escaping @Sendable (Committed<Compaction>) -> Void
    ) -> Submission {
        Submission(writes: limit, then: completion) { context in
            Committed(.success(try context.transaction.compact(before: time, limit: limit)), nil)
        }
    }

    /// Commits something without meaning: whether the store can. Taken in an overload too, since many writes do not mean that it cannot.
    package static func probe(then completion: @escaping @Sendable (Committed<Void>) -> Void) -> Submission {
        Submission(isVital: true, then: completion) { context in
            try context.transaction.touch()
            return Committed(.success(()), nil)
        }
    }
}

extension Submission.Context {
    /// Lets `work` apply writes to the namespace, and logs the changes that they make.
    fileprivate mutating func write<Value>(
        to name: Namespace, _ work: (inout WriteApplier) throws -> Result<Value, Problem>
    ) throws -> Committed<Value> {
        let namespace = try transaction.namespace(name)
        var applier = WriteApplier(namespace: namespace, modified: time, valueLimit: valueLimit)
        let result = try work(&applier)
        let cursor = namespace.state.cursor
        log.add(applier.changes, to: name, cursor: cursor)
        return Committed(result, cursor)
    }
}

extension WriteBatch {
    /// Why the batch may not be applied in this history, if it may not.
    fileprivate func mismatch(with present: Epoch) -> Problem? {
        guard let epoch, epoch != present else { return nil }
        return Problem(
            .epochChanged,
            "The batch is of epoch \(epoch), and the namespace is in \(present). "
                + "Ask for the last number of \(client) here, and send what has no verdict with this epoch, under the numbers that it has; "
                + "with 'resume' if they do not follow that one.")
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
    fileprivate var byteCount: Int {
        switch self {
        case .put(let content): content.bytes.count
        case .patch(let patch): patch.count
        case .delete, .increment: 0
        }
    }

    /// What is wrong with the value itself.
    fileprivate var flaw: Problem? {
        do throws(WireError) {
            switch self {
            case .put(let content): if content.isJSON { try JSONReader.validate(content.bytes) }
            case .patch(let patch): try JSONReader.validate(patch)
            case .delete, .increment: break
            }
            return nil
        } catch { return Problem(error) }
    }
}
