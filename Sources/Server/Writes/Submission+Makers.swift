internal import FreshetTrust
package import FreshetWire

extension Submission {
    /// `POST …/writes`. Without effect if the batch names another history than the one that the transaction finds.
    package static func batch(
        _ batch: WriteBatch, in namespace: Namespace, then completion: @escaping @Sendable (Committed<[WriteOutcome]>) -> Void
    ) -> Submission { .batch(batch, in: namespace, by: nil, then: completion) }

    /// - Parameter access: what the writer may do; a write of another record is rejected, and uses up its number.
    package static func batch(
        _ batch: WriteBatch, in namespace: Namespace, by access: WriteAccess?,
        then completion: @escaping @Sendable (Committed<[WriteOutcome]>) -> Void
    ) -> Submission { SubmittedBatch(batch, namespace, by: access, then: completion).submission }

    /// `PUT`, `PATCH`, `DELETE`.
    package static func single(
        _ write: SingleWrite, in namespace: Namespace, then completion: @escaping @Sendable (Committed<SingleReceipt>) -> Void
    ) -> Submission { .single(write, in: namespace, by: nil, then: completion) }

    static func single(
        _ write: SingleWrite, in namespace: Namespace, by access: WriteAccess?,
        then completion: @escaping @Sendable (Committed<SingleReceipt>) -> Void
    ) -> Submission {
        Submission(
            WriteLoad(of: CollectionOfOne(write.operation)),
            .single(SubmittedWrite(write, namespace, by: access, then: completion)))
    }

    /// `POST …/invalidations`: each scope takes a revision. The result is the last one.
    package static func invalidate(
        _ scopes: [InvalidationScope], in namespace: Namespace, then completion: @escaping @Sendable (Committed<Revision>) -> Void
    ) -> Submission { .invalidate(scopes, in: namespace, by: nil, then: completion) }

    static func invalidate(
        _ scopes: [InvalidationScope], in namespace: Namespace, by access: WriteAccess?,
        then completion: @escaping @Sendable (Committed<Revision>) -> Void
    ) -> Submission {
        Submission(writes: scopes.count, reaching: .namespace(namespace), then: completion) { context in
            try context.write(to: namespace, by: access) { try $0.invalidate(scopes) }
        }
    }

    /// Changes rows of access control. Accepted in an overload too, which it may end.
    ///
    /// - Parameter problem: the problem with the session whose request this is, asked for within the transaction; `nil` if
    ///   there is none.
    static func access<Value>(
        unless problem: @escaping @Sendable () -> Problem? = { nil }, then completion: @escaping @Sendable (Committed<Value>) -> Void,
        _ work: @escaping @Sendable (inout Context) throws -> Result<Value, Problem>
    ) -> Submission {
        Submission(isVital: true, reaching: .access, then: completion) { context in
            Committed(try problem().map { .failure($0) } ?? work(&context), nil)
        }
    }

    /// `DELETE /v1/{ns}`. The result is whether the namespace existed, with the position of the new epoch.
    package static func drop(
        _ namespace: Namespace, then completion: @escaping @Sendable (Committed<Bool>) -> Void
    ) -> Submission { .drop(namespace, unless: { nil }, then: completion) }

    /// - Parameter problem: as of ``access(unless:then:_:)``.
    static func drop(
        _ namespace: Namespace, unless problem: @escaping @Sendable () -> Problem?,
        then completion: @escaping @Sendable (Committed<Bool>) -> Void
    ) -> Submission {
        Submission(reaching: .drop(namespace), then: completion) { context in
            if let problem = problem() { return Committed(.failure(problem), nil) }
            let replaced = try context.transaction.namespace(namespace).state.epoch
            let existed = try context.transaction.drop(namespace)
            let cursor = try context.transaction.namespace(namespace).state.cursor
            if existed { context.log.reset(namespace, cursor: cursor, replaced: replaced) }
            return Committed(.success(existed), cursor)
        }
    }

    /// Gives every namespace a new epoch, after a back-up was restored. `seed` is random. Servers that run meanwhile learn of it
    /// when they compare their feeds with the store.
    package static func rotateEpochs(
        seed: UInt64, then completion: @escaping @Sendable (Committed<Void>) -> Void
    ) -> Submission {
        Submission(then: completion) { context in
            try context.transaction.rotateEpochs(seed: seed)
            context.log.endAll()
            return Committed(.success(()), nil)
        }
    }

    /// Gives one namespace a new epoch and keeps its records, as a restore does to all. The result is whether the
    /// namespace exists. `seed` is random.
    package static func renewEpoch(
        of namespace: Namespace, seed: UInt64, then completion: @escaping @Sendable (Committed<Bool>) -> Void
    ) -> Submission {
        Submission(reaching: .namespace(namespace), then: completion) { context in
            let replaced = try context.transaction.namespace(namespace).state.epoch
            let exists = try context.transaction.renewEpoch(of: namespace, seed: seed)
            let cursor = try context.transaction.namespace(namespace).state.cursor
            if exists { context.log.reset(namespace, cursor: cursor, replaced: replaced) }
            return Committed(.success(exists), cursor)
        }
    }

    /// Forgets deletes and invalidations of one namespace, however new, at most `limit` in one step. Repeat until it is
    /// complete.
    package static func forgetDeletes(
        of namespace: Namespace, limit: Int = 1_000, then completion: @escaping @Sendable (Committed<Compaction>) -> Void
    ) -> Submission {
        Submission(writes: limit, reaching: .namespace(namespace), then: completion) { context in
            let compaction = try context.transaction.forgetDeletes(of: namespace, limit: limit)
            return Committed(.success(compaction), try context.transaction.namespace(namespace).state.cursor)
        }
    }

    /// Runs one step of compaction: at most `limit` rows, so that writes do not wait long. Repeat until it is complete. Accepted in an
    /// overload too: a step that is refused would leave the rest to the next hour.
    ///
    /// - Parameter outcomesBefore: the outcomes of clients that have been idle since before this time are forgotten
    ///   too, after everything else.
    package static func compact(
        before time: Timestamp, outcomesBefore: Timestamp? = nil, limit: Int = 1_000,
        then completion: @escaping @Sendable (Committed<Compaction>) -> Void
    ) -> Submission {
        Submission(writes: limit, isVital: true, then: completion) { context in
            Committed(.success(try context.transaction.compact(before: time, outcomesBefore: outcomesBefore, limit: limit)), nil)
        }
    }

    /// Runs one step of compaction, as ``compact(before:outcomesBefore:limit:then:)``, by the retention clock, whose time is stored too.
    static func compact(
        by clock: ServerClock, _ retention: Retention, limit: Int = 1_000,
        then completion: @escaping @Sendable (Committed<Compaction>) -> Void
    ) -> Submission {
        Submission(writes: limit, isVital: true, then: completion) { context in
            let now = clock.retained
            let compaction = try context.transaction.compact(
                before: now.before(milliseconds: retention.deletes), outcomesBefore: now.before(milliseconds: retention.outcomes),
                limit: limit)
            try clock.raise(in: context.transaction)
            return Committed(.success(compaction), nil)
        }
    }

    /// Commits a transaction without content, to check that the store can. Accepted in an overload too, since many
    /// writes do not mean that the store cannot.
    package static func probe(then completion: @escaping @Sendable (Committed<Void>) -> Void) -> Submission {
        Submission(isVital: true, reaching: .nothing, then: completion) { context in
            try context.transaction.touch()
            return Committed(.success(()), nil)
        }
    }
}

extension RecordTransaction {
    fileprivate func compact(before time: Timestamp, outcomesBefore: Timestamp?, limit: Int) throws -> Compaction {
        var compaction = try compact(before: time, limit: limit)
        if let outcomesBefore, compaction.isComplete {
            let step = try forgetOutcomes(before: outcomesBefore, limit: limit)
            compaction.purged += step.purged
            compaction.outcomes = step.outcomes
            compaction.isComplete = step.isComplete
        }
        return compaction
    }
}
