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

    /// The writes of a request, in their order.
    struct Items {
        let writes: [Write]
        /// The problems of the writes that are rejected whatever the records are, by their places.
        private let problems: [Int: Problem]
        /// The preconditions of the only write; `nil` if the writes state theirs.
        private let preconditions: [Precondition]?

        /// - Parameter problem: returns the problem of a write that is rejected whatever the records are.
        init(_ writes: [Write], problem: (Write) -> Problem?) {
            self.writes = writes
            problems = writes.indices.reduce(into: [:]) { if let problem = problem(writes[$1]) { $0[$1] = problem } }
            preconditions = nil
        }

        /// One write, which is rejected for the problem, if there is one, or applied under the preconditions.
        init(_ write: Write, if preconditions: [Precondition], problem: Problem?) {
            writes = [write]
            problems = problem.map { [0: $0] } ?? [:]
            self.preconditions = preconditions
        }

        private init(_ writes: [Write], _ problems: [Int: Problem], _ preconditions: [Precondition]?) {
            (self.writes, self.problems, self.preconditions) = (writes, problems, preconditions)
        }

        func problem(at place: Int) -> Problem? { problems.isEmpty ? nil : problems[place] }

        func preconditions(at place: Int) -> [Precondition] {
            preconditions ?? writes[place].ifRevision.map { [.revision($0)] } ?? []
        }

        /// The items from `place` on.
        func suffix(from place: Int) -> Items {
            let rest = problems.filter { $0.key >= place }.map { ($0.key - place, $0.value) }
            return Items(Array(writes[place...]), Dictionary(uniqueKeysWithValues: rest), preconditions)
        }
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
        /// The number of the client's last decided write; `nil` if the name belongs to another principal.
        var lastWrite: Int64?
        /// Whether the items without an outcome are for another transaction.
        var isCut = false
    }

    private struct Rejection: Error {
        var number: Int64
        var problem: Problem
    }

    /// - Returns: one outcome an item, or fewer if the applier is full before the last, but at least one; or the
    ///   problem that refused all of them without effect.
    func apply(_ items: Items, with applier: inout WriteApplier) throws -> Result<Outcomes, Problem> {
        let (namespace, writes) = (applier.namespace, items.writes)
        var ledger = WriteLedger(last: try namespace.lastWrite(of: client))
        if let problem = try access?.problem(of: client, ownedBy: namespace.owner(of: client)) {
            return try ownOutcomes(writes, ledger, &applier).map(Result.success) ?? .failure(problem)
        }
        let leftOut = resumes ? writes.first.flatMap { ledger.resume(at: $0.number) }.map(StoredOutcome.init(leavesOut:)) : nil
        let decisions: [WriteLedger.Decision]
        do { decisions = try ledger.decide(writes.lazy.map(\.number)) } catch {
            return .failure(
                Problem(
                    .writeGap,
                    "Write \(error.number) of \(client) skips one: number \(error.expected) comes next. Send from there; or, if those before "
                        + "\(error.number) were decided in another history, a batch with 'epoch' and 'resume'.",
                    expected: error.expected))
        }
        applier.expect(writes.count)
        let kept = try kept(writes, decisions, leftOut, &applier)
        if !isAtomic, writes.indices.contains(where: { decisions[$0] != .apply && mayBeSentAgain(writes[$0], kept[writes[$0].number]) }) {
            // The writes behind one that is sent again have to take effect after it.
            let decided = decisions.prefix { $0 != .apply }.count
            if decided < writes.count { ledger.leave(from: writes[decided].number) }
            return .success(
                Outcomes(decided: try answers(writes[..<decided], decisions, [], kept, namespace), lastWrite: ledger.last))
        }
        let (fresh, end) =
            try isAtomic ? (decideAtomically(items, decisions, kept, &applier), writes.count) : decide(items, decisions, &applier)
        if end < writes.count { ledger.leave(from: writes[end].number) }
        if !fresh.isEmpty {
            var outcomes = fresh.map { Self.kept($0, writes[$0.place].nonce) }
            if let leftOut { outcomes.insert(leftOut, at: 0) }
            try namespace.keep(outcomes, of: client, owner: access?.owner, settled: ledger.settled, at: applier.time.retention)
        }
        let decided = fresh.count == writes.count ? fresh : try answers(writes[..<end], decisions, fresh, kept, namespace)
        // The record that a single write has met is still the current one.
        let filled = writes.count == 1 ? decided : try decided.map { try Self.filled($0, writes[$0.place].key, namespace) }
        return .success(Outcomes(decided: filled, lastWrite: ledger.last, isCut: end < writes.count))
    }
}

extension NumberedWrites {
    /// The outcomes of the sender's own writes under a name that belongs to another principal; `nil` if the first one is
    /// not decided, or may be another's.
    ///
    /// A nonce shows that the sender made the write: a device whose key was replaced learns by it that the write is
    /// decided, and does not send it under another name. A number that went to another write is answered too, since this
    /// one cannot be decided any more.
    private func ownOutcomes(_ writes: [Write], _ ledger: WriteLedger, _ applier: inout WriteApplier) throws -> Outcomes? {
        let early = Array(writes.prefix { $0.nonce != nil && $0.number <= ledger.last })
        let decisions = early.map { _ in WriteLedger.Decision.replay }
        let kept = try kept(early, decisions, nil, &applier)
        let own = early.prefix { kept[$0.number].map { $0.nonce != nil || $0.leavesOutFrom != nil } ?? false }
        guard !own.isEmpty else { return nil }
        return Outcomes(decided: try answers(own, decisions, [], kept, applier.namespace), lastWrite: nil)
    }

    /// The kept outcomes of the writes that were decided or left out earlier, read once for all of them.
    private func kept(
        _ writes: [Write], _ decisions: [WriteLedger.Decision], _ leftOut: StoredOutcome?, _ applier: inout WriteApplier
    ) throws -> [Int64: StoredOutcome] {
        let numbers = writes.indices.lazy.filter { decisions[$0] == .replay }.map { writes[$0].number }
        guard let first = numbers.min(), let last = numbers.max() else { return [:] }
        let read = try applier.namespace.outcomes(of: first...last, by: client)
        applier.count(read: read.bytes)
        let outcomes = read.outcomes + (leftOut.map { [$0] } ?? [])
        var kept = Dictionary(outcomes.map { ($0.number, $0) }, uniquingKeysWith: { $1 })
        for range in outcomes where range.leavesOutFrom != nil {
            for number in numbers where range.numbers.contains(number) { kept[number] = range }
        }
        return kept
    }

    /// - Returns: the items that were decided, and the place of the first one that was not.
    private func decide(
        _ items: Items, _ decisions: [WriteLedger.Decision], _ applier: inout WriteApplier
    ) throws -> (fresh: [Decided], end: Int) {
        var fresh: [Decided] = []
        fresh.reserveCapacity(items.writes.count)
        var origins = OriginOutcomes(items.writes)
        for place in items.writes.indices where decisions[place] == .apply {
            if applier.isFull, !fresh.isEmpty { return (fresh, place) }
            fresh.append(try decided(items, place, &origins, &applier))
        }
        return (fresh, items.writes.count)
    }

    /// Applies all items or none. Each number is used up either way.
    private func decideAtomically(
        _ items: Items, _ decisions: [WriteLedger.Decision], _ kept: [Int64: StoredOutcome], _ applier: inout WriteApplier
    ) throws -> [Decided] {
        let namespace = applier.namespace
        do {
            var origins = OriginOutcomes(items.writes)
            return try applier.atomically { applier in
                var fresh: [Decided] = []
                for (place, write) in items.writes.enumerated() {
                    switch decisions[place] {
                    case .apply:
                        if applier.isTooMuch, !fresh.isEmpty {
                            throw Rejection(number: write.number, problem: Self.tooMuch(applier.wholeRoom))
                        }
                        let decided = try decided(items, place, &origins, &applier)
                        if case .rejected(let problem) = decided.outcome.verdict { throw Rejection(number: write.number, problem: problem) }
                        fresh.append(decided)
                    case .replay:
                        if let problem = taken(write, kept[write.number]) { throw Rejection(number: write.number, problem: problem) }
                        // A part that was decided earlier belongs to the whole: if it was rejected, so is the rest.
                        guard case .rejected(let problem)? = kept[write.number]?.verdict else { continue }
                        throw Rejection(number: write.number, problem: problem)
                    case .settled: continue
                    }
                }
                return fresh
            }
        } catch let rejection as Rejection {
            return try items.writes.indices.filter { decisions[$0] == .apply }.map { place in
                let write = items.writes[place]
                guard write.number == rejection.number else {
                    let other = Problem(
                        .batchRejected,
                        "Write \(rejection.number) of the atomic batch was rejected (\(rejection.problem.code)), so none is applied.")
                    return Decided(outcome: WriteOutcome(number: write.number, verdict: .rejected(other)), place: place)
                }
                // The batch's changes to the record are undone, so the record is read again.
                let problem = try Self.filled(rejection.problem, from: rejection.problem.showsRecord ? write.key : nil, namespace)
                return Decided(outcome: WriteOutcome(number: write.number, verdict: .rejected(problem)), place: place)
            }
        }
    }

    private func decided(
        _ items: Items, _ place: Int, _ origins: inout OriginOutcomes, _ applier: inout WriteApplier
    ) throws -> Decided {
        // In place: a copy of a write would retain all of its parts.
        let writes = items.writes
        let number = writes[place].number
        func decided(_ verdict: WriteOutcome.Verdict, created: Bool = false) -> Decided {
            Decided(outcome: WriteOutcome(number: number, verdict: verdict), created: created, place: place)
        }
        if let problem = items.problem(at: place) { return decided(.rejected(problem.kept)) }
        if let origin = writes[place].origin, let earlier = try origins.outcome(at: origin, of: writes[place].nonce, &applier) {
            return decided(earlier)
        }
        let author = Change.Author(client: client, write: number)
        let effect = try applier.apply(
            writes[place].operation, to: writes[place].key, if: items.preconditions(at: place), by: author,
            isHidden: access?.isHidden(writes[place].key) ?? false)
        return switch effect {
        case .written(let revision, let created): decided(.applied(revision), created: created)
        case .nothing: decided(.applied(nil))
        case .rejected(let problem): decided(.rejected(problem.kept))
        }
    }

    /// One answer a write, from the fresh and the kept outcomes.
    private func answers(
        _ writes: ArraySlice<Write>, _ decisions: [WriteLedger.Decision], _ fresh: [Decided], _ kept: [Int64: StoredOutcome],
        _ namespace: any NamespaceTransaction
    ) throws -> [Decided] {
        var fresh = Dictionary(fresh.map { ($0.outcome.number, $0) }, uniquingKeysWith: { first, _ in first })
        return try writes.indices.map { place in
            let (write, decision) = (writes[place], decisions[place])
            if decision != .settled, let decided = fresh[write.number] {
                // A number that comes twice in one request made its record the first time only.
                fresh[write.number]?.created = false
                return decided
            }
            guard decision == .replay, let kept = kept[write.number] else {
                return Decided(outcome: WriteOutcome(number: write.number, verdict: .settled), place: place)
            }
            if let problem = taken(write, kept) {
                return Decided(outcome: WriteOutcome(number: write.number, verdict: .rejected(problem)), place: place)
            }
            guard case .rejected(let problem) = kept.verdict else {
                return Decided(outcome: WriteOutcome(number: write.number, verdict: kept.verdict), place: place)
            }
            return Decided(
                outcome: WriteOutcome(
                    number: write.number, verdict: .rejected(try Self.filled(problem, from: kept.showsRecord ? write.key : nil, namespace))),
                place: place)
        }
    }

    private static func tooMuch(_ room: Int) -> Problem {
        Problem(
            .tooLarge,
            "The writes of one atomic batch may edit \(room) bytes of values, or free twice as many, and each name in an 'origin' counts "
                + "as 64 KiB. Send fewer, or without 'atomic'.")
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

    /// Whether the client may send a write, whose number was used, again under another name: another write has used the number, or may
    /// have, since it is not known any more which one it was.
    private func mayBeSentAgain(_ write: Write, _ kept: StoredOutcome?) -> Bool {
        write.nonce != nil && (kept == nil || taken(write, kept) != nil)
    }

    /// The problem of a write that must not get the kept outcome of its number, since two devices share the client's
    /// name; `nil` if it may.
    private func taken(_ write: Write, _ kept: StoredOutcome?) -> Problem? {
        guard let nonce = write.nonce, let kept, kept.leavesOutFrom != nil || kept.nonce.map({ $0 != nonce }) == true else { return nil }
        let reason = kept.leavesOutFrom == nil ? "was another one" : "was left out by a batch with 'resume'"
        return Problem(
            .numberTaken,
            "Write \(write.number) of \(client) \(reason): another device has the same client name, as after a copy of its directory. "
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
        problem.needs = needs.flatMap { $0.json.count <= StoredOutcome.needsLimit ? $0 : nil }
        return problem
    }
}
