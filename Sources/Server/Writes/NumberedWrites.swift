internal import FreshetWire

/// Applies the numbered writes of one device, each exactly once: a number that was decided earlier is answered, not
/// applied.
struct NumberedWrites {
    let client: ClientIdentifier
    let isAtomic: Bool
    /// Whether numbers before the first may be left out: another history decided them.
    var resumes = false
    /// What the sender may do; `nil` on a server that is open to all, where names have no owners.
    var access: WriteAccess?

    /// One write of a request.
    struct Item {
        var number: Int64
        var key: RecordKey
        var work: Work
        /// Distinguishes the write from another of the same number; `nil` if the client sends none.
        var nonce: Int64?
        /// The first name and number of a write that was refused under them.
        var origin: Write.Origin?

        /// The operation; one without effect for a write that is rejected.
        var operation: WriteOperation {
            if case .apply(let operation, _) = work { operation } else { .delete }
        }
    }

    enum Work {
        case apply(WriteOperation, if: [Precondition])
        /// The write is rejected whatever the records are, for example since its value is not JSON.
        indirect case reject(Problem)
    }

    /// The outcome of a number, and whether the write made its record just now.
    struct Decided {
        var outcome: WriteOutcome
        var created = false
        /// The place of the item among all.
        var place: Int
    }

    /// The outcomes of all of a request's writes.
    struct Outcomes {
        /// One for each item, in their order. There may be fewer, but at least one.
        var decided: [Decided]
        /// The number of the client's last decided write.
        var lastWrite: Int64
        /// Whether the items without an outcome are for another transaction.
        var isCut = false
    }

    private struct Rejection: Error {
        var number: Int64
        var problem: Problem
    }

    /// - Returns: one outcome an item, or fewer if the applier is full before the last, but at least one; or the
    ///   problem that refused all of them without effect.
    func apply(_ items: [Item], with applier: inout WriteApplier) throws -> Result<Outcomes, Problem> {
        let namespace = applier.namespace
        var ledger = WriteLedger(last: try namespace.lastWrite(of: client))
        if let problem = try access?.problem(of: client, ownedBy: namespace.owner(of: client)) {
            return try ownOutcomes(items, ledger, namespace).map(Result.success) ?? .failure(problem)
        }
        let leftOut = resumes ? items.first.flatMap { ledger.resume(at: $0.number) }.map(StoredOutcome.init(leavesOut:)) : nil
        let decisions: [WriteLedger.Decision]
        do { decisions = try ledger.decide(items.lazy.map(\.number)) } catch {
            return .failure(
                Problem(
                    .writeGap,
                    "Write \(error.number) of \(client) skips one: number \(error.expected) comes next. Send from there; or, if those before "
                        + "\(error.number) were decided in another history, a batch with 'epoch' and 'resume'.",
                    expected: error.expected))
        }
        applier.expect(items.count)
        let kept = try kept(items, decisions, leftOut, namespace)
        let (fresh, end) =
            try isAtomic ? (decideAtomically(items, decisions, kept, &applier), items.count) : decide(items, decisions, &applier)
        if end < items.count { ledger.leave(from: items[end].number) }
        if !fresh.isEmpty {
            var outcomes = fresh.map { Self.kept($0, items[$0.place].nonce) }
            if let leftOut { outcomes.insert(leftOut, at: 0) }
            try namespace.keep(outcomes, of: client, owner: access?.owner, settled: ledger.settled, at: applier.modified)
        }
        let decided = fresh.count == items.count ? fresh : try answers(Array(items[..<end]), decisions, fresh, kept, namespace)
        // The record that a single write has met is still the current one.
        let filled = items.count == 1 ? decided : try decided.map { try Self.filled($0, items[$0.place].key, namespace) }
        return .success(Outcomes(decided: filled, lastWrite: ledger.last, isCut: end < items.count))
    }
}

extension NumberedWrites {
    /// The outcomes of the sender's own writes under a name that belongs to another principal; `nil` if the first one is
    /// not decided, or may be another's.
    ///
    /// A nonce shows that the sender made the write: a device whose key was replaced learns by it that the write is
    /// decided, and does not send it under another name. A number that went to another write is answered too, since this
    /// one cannot be decided any more.
    private func ownOutcomes(_ items: [Item], _ ledger: WriteLedger, _ namespace: any NamespaceTransaction) throws -> Outcomes? {
        let early = Array(items.prefix { $0.nonce != nil && $0.number <= ledger.last })
        let decisions = early.map { _ in WriteLedger.Decision.replay }
        let kept = try kept(early, decisions, nil, namespace)
        let own = Array(early.prefix { kept[$0.number].map { $0.nonce != nil || $0.leavesOutFrom != nil } ?? false })
        guard !own.isEmpty else { return nil }
        return Outcomes(decided: try answers(own, decisions, [], kept, namespace), lastWrite: ledger.last)
    }

    /// The kept outcomes of the items that were decided or left out earlier, read once for all of them.
    private func kept(
        _ items: [Item], _ decisions: [WriteLedger.Decision], _ leftOut: StoredOutcome?, _ namespace: any NamespaceTransaction
    ) throws -> [Int64: StoredOutcome] {
        let numbers = items.indices.lazy.filter { decisions[$0] == .replay }.map { items[$0].number }
        guard let first = numbers.min(), let last = numbers.max() else { return [:] }
        let outcomes = try namespace.outcomes(of: first...last, by: client) + (leftOut.map { [$0] } ?? [])
        var kept = Dictionary(outcomes.map { ($0.number, $0) }, uniquingKeysWith: { $1 })
        for range in outcomes where range.leavesOutFrom != nil {
            for number in numbers where range.numbers.contains(number) { kept[number] = range }
        }
        return kept
    }

    /// - Returns: the items that were decided, and the place of the first one that was not.
    private func decide(
        _ items: [Item], _ decisions: [WriteLedger.Decision], _ applier: inout WriteApplier
    ) throws -> (fresh: [Decided], end: Int) {
        var fresh: [Decided] = []
        fresh.reserveCapacity(items.count)
        for place in items.indices where decisions[place] == .apply {
            if applier.isFull, !fresh.isEmpty { return (fresh, place) }
            fresh.append(try decided(items, place, &applier))
        }
        return (fresh, items.count)
    }

    /// Applies all items or none. Each number is used up either way.
    private func decideAtomically(
        _ items: [Item], _ decisions: [WriteLedger.Decision], _ kept: [Int64: StoredOutcome], _ applier: inout WriteApplier
    ) throws -> [Decided] {
        let namespace = applier.namespace
        do {
            return try applier.atomically { applier in
                var fresh: [Decided] = []
                for (place, item) in items.enumerated() {
                    switch decisions[place] {
                    case .apply:
                        if applier.isTooMuch, !fresh.isEmpty { throw Rejection(number: item.number, problem: Self.tooMuch(applier.room)) }
                        let decided = try decided(items, place, &applier)
                        if case .rejected(let problem) = decided.outcome.verdict { throw Rejection(number: item.number, problem: problem) }
                        fresh.append(decided)
                    case .replay:
                        if let problem = taken(item, kept[item.number]) { throw Rejection(number: item.number, problem: problem) }
                        // A part that was decided earlier belongs to the whole: if it was rejected, so is the rest.
                        guard case .rejected(let problem)? = kept[item.number]?.verdict else { continue }
                        throw Rejection(number: item.number, problem: problem)
                    case .settled: continue
                    }
                }
                return fresh
            }
        } catch let rejection as Rejection {
            return try items.indices.filter { decisions[$0] == .apply }.map { place in
                let item = items[place]
                guard item.number == rejection.number else {
                    let other = Problem(
                        .batchRejected,
                        "Write \(rejection.number) of the atomic batch was rejected (\(rejection.problem.code)), so none is applied.")
                    return Decided(outcome: WriteOutcome(number: item.number, verdict: .rejected(other)), place: place)
                }
                // The batch's changes to the record are undone, so the record is read again.
                let problem = try Self.filled(rejection.problem, from: rejection.problem.showsRecord ? item.key : nil, namespace)
                return Decided(outcome: WriteOutcome(number: item.number, verdict: .rejected(problem)), place: place)
            }
        }
    }

    private func decided(_ items: [Item], _ place: Int, _ applier: inout WriteApplier) throws -> Decided {
        let number = items[place].number
        func decided(_ verdict: WriteOutcome.Verdict, created: Bool = false) -> Decided {
            Decided(outcome: WriteOutcome(number: number, verdict: verdict), created: created, place: place)
        }
        switch items[place].work {
        case .reject(let problem): return decided(.rejected(problem.kept))
        case .apply(let operation, let preconditions):
            if let earlier = try outcomeAtOrigin(of: items[place], applier.namespace) { return decided(earlier) }
            let author = Change.Author(client: client, write: number)
            switch try applier.apply(operation, to: items[place].key, if: preconditions, by: author) {
            case .written(let revision, let created): return decided(.applied(revision), created: created)
            case .nothing: return decided(.applied(nil))
            case .rejected(let problem): return decided(.rejected(problem.kept))
            }
        }
    }

    /// The outcome that the write had under its first name and number: in this history a copy of the device has had it
    /// decided there, before a restore or a drop hid that. O(outcomes that are kept) for a write with an origin.
    private func outcomeAtOrigin(of item: Item, _ namespace: any NamespaceTransaction) throws -> WriteOutcome.Verdict? {
        guard let origin = item.origin, let nonce = item.nonce else { return nil }
        let kept = try namespace.outcomes(of: origin.number...origin.number, by: origin.client).first
        guard let kept, kept.leavesOutFrom == nil, kept.nonce == nonce else { return nil }
        return kept.verdict
    }

    /// One answer an item, from the fresh and the kept outcomes.
    private func answers(
        _ items: [Item], _ decisions: [WriteLedger.Decision], _ fresh: [Decided], _ kept: [Int64: StoredOutcome],
        _ namespace: any NamespaceTransaction
    ) throws -> [Decided] {
        var fresh = Dictionary(fresh.map { ($0.outcome.number, $0) }, uniquingKeysWith: { first, _ in first })
        return try items.indices.map { place in
            let (item, decision) = (items[place], decisions[place])
            if decision != .settled, let decided = fresh[item.number] {
                // A number that comes twice in one request made its record the first time only.
                fresh[item.number]?.created = false
                return decided
            }
            guard decision == .replay, let kept = kept[item.number] else {
                return Decided(outcome: WriteOutcome(number: item.number, verdict: .settled), place: place)
            }
            if let problem = taken(item, kept) {
                return Decided(outcome: WriteOutcome(number: item.number, verdict: .rejected(problem)), place: place)
            }
            guard case .rejected(let problem) = kept.verdict else {
                return Decided(outcome: WriteOutcome(number: item.number, verdict: kept.verdict), place: place)
            }
            return Decided(
                outcome: WriteOutcome(
                    number: item.number, verdict: .rejected(try Self.filled(problem, from: kept.showsRecord ? item.key : nil, namespace))),
                place: place)
        }
    }

    private static func tooMuch(_ room: Int) -> Problem {
        Problem(
            .tooLarge,
            "The writes of one atomic batch may edit \(room) bytes of values, or free twice as many. Send fewer, or without 'atomic'.")
    }

    /// A rejection with the record as the whole request leaves it, without its value, so that the answer shows one
    /// state throughout.
    private static func filled(_ decided: Decided, _ key: RecordKey, _ namespace: any NamespaceTransaction) throws -> Decided {
        guard case .rejected(let problem) = decided.outcome.verdict, problem.showsRecord else { return decided }
        var decided = decided
        decided.outcome.verdict = .rejected(try filled(problem, from: key, namespace))
        return decided
    }

    private static func filled(_ problem: Problem, from key: RecordKey?, _ namespace: any NamespaceTransaction) throws -> Problem {
        var problem = problem
        problem.current = try key.flatMap { try namespace.outline($0) }
        return problem
    }

    private static func kept(_ decided: Decided, _ nonce: Int64?) -> StoredOutcome {
        guard case .rejected(var problem) = decided.outcome.verdict else {
            return StoredOutcome(number: decided.outcome.number, verdict: decided.outcome.verdict, nonce: nonce)
        }
        let showsRecord = problem.showsRecord
        problem.current = nil
        return StoredOutcome(number: decided.outcome.number, verdict: .rejected(problem), showsRecord: showsRecord, nonce: nonce)
    }

    /// The problem of an item that must not get the kept outcome of its number, since two devices share the client's
    /// name; `nil` if it may.
    private func taken(_ item: Item, _ kept: StoredOutcome?) -> Problem? {
        guard let nonce = item.nonce, let kept, kept.leavesOutFrom != nil || kept.nonce.map({ $0 != nonce }) == true else { return nil }
        let reason = kept.leavesOutFrom == nil ? "was another one" : "was left out by a batch with 'resume'"
        return Problem(
            .numberTaken,
            "Write \(item.number) of \(client) \(reason): another device has the same client name, as after a copy of its directory. "
                + "This one had no effect: take a new client name, and send it under that.")
    }
}

extension Problem {
    /// Whether the problem of a write shows a record, even if there is none now.
    var showsRecord: Bool { current != nil || code == .preconditionFailed }

    /// The problem as it is kept, and so as it is answered from the first time on.
    fileprivate var kept: Problem {
        var problem = self
        problem.detail = detail.shortened(toJSONBytes: StoredOutcome.detailLimit)
        return problem
    }
}
