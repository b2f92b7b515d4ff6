internal import FreshetTrust
internal import FreshetWire

/// Work to be done in a write transaction, with a completion that notifies its owner.
///
/// The makers look at nothing but their arguments. Values of single writes are checked to be JSON here, on the caller's
/// thread, rather than in the one transaction for which all wait.
package struct Submission: Sendable {
    /// The transaction in which a submission works, with its limits and its log.
    struct Context {
        let transaction: any RecordTransaction
        let time: WriteTime
        let editLimit: Int
        /// The quotas of each namespace.
        var quotas = Quotas.Space()
        /// How much the transaction may still touch; see ``WriteApplier/touched``.
        var room = Int.max
        /// How much the submissions have touched.
        private(set) var touched = 0
        /// How much an atomic batch may touch.
        var wholeRoom = Int.max
        /// How many bytes of values a batch stores before it goes on in the next transaction.
        var portion = Int.max
        var deadline = TransactionDeadline.none
        var log = CommitLog()
        /// The changes of access rows.
        private(set) var access = AccessChangeLog()
    }

    /// The work: single writes, which come by the ten thousand, as values, the others as closures.
    enum Work: Sendable {
        case single(SubmittedWrite)
        /// `perform` does the work. It may be called several times, for a transaction that was undone. `refuse` notifies the
        /// owner that nothing was done.
        case other(Reach, perform: @Sendable (inout Context) throws -> Performed, refuse: @Sendable (Problem) -> Void)
    }

    /// What the work may use.
    enum Reach: Sendable {
        case nothing
        case namespace(Namespace)
        /// One namespace, and what decides its next epoch, which others share with it.
        case drop(Namespace)
        case batch([Write], by: ClientIdentifier, in: Namespace)
        /// Any namespace, and rows that belong to none.
        case wholeStore
        /// As the whole store, and the rows of access control.
        case access
    }

    /// What a transaction has done of a submission.
    enum Performed {
        /// All of it.
        case whole(Completion)
        /// A part. The rest is a submission for the next transaction, and notifies the owner of both. If it is refused, the
        /// owner is notified of the part; if its outcome is unknown, of that.
        case part(rest: Submission)
    }

    /// Notifies an owner once the transaction is on disk.
    enum Completion {
        case single(SubmittedWrite, Committed<SingleReceipt>)
        case other(@Sendable () -> Void)

        func notify() {
            switch self {
            case .single(let write, let committed): write.completion(committed)
            case .other(let notify): notify()
            }
        }
    }

    /// The load by which a group and the queue are bounded.
    let load: WriteLoad
    /// Whether the submission is accepted however much waits: for the server's internal ones, which cost little.
    let isVital: Bool
    private let work: Work

    init(_ load: WriteLoad, isVital: Bool = false, _ work: Work) {
        self.load = load
        self.isVital = isVital
        self.work = work
    }

    init<Value>(
        writes: Int = 1, bytes: Int = 0, isVital: Bool = false, reaching reach: Reach = .wholeStore,
        then completion: @escaping @Sendable (Committed<Value>) -> Void,
        _ work: @escaping @Sendable (inout Context) throws -> Committed<Value>
    ) {
        self.init(
            WriteLoad(writes: writes, bytes: bytes), isVital: isVital,
            .other(reach) { context in
                let committed = try work(&context)
                return .whole(.other { completion(committed) })
            } refuse: {
                completion(Committed(.failure($0), nil))
            })
    }

    /// Adds what the work uses to the parts of a scope.
    func add(to parts: inout TransactionScope.Parts) {
        switch work {
        case .single(let write): write.add(to: &parts)
        case .other(let reach, _, _): parts.add(reach)
        }
    }

    /// Whether the work may use one of these namespaces.
    func uses(anyOf namespaces: Set<Namespace>) -> Bool {
        TransactionScope(of: [self], valueLimit: 0, room: 0).namespaces.contains(where: namespaces.contains)
    }

    /// The lane in which a committer with so many performs the submission.
    func place(of lanes: Int) -> CommitLanes<Submission>.Destination {
        guard lanes > 1 else { return .lane(0) }
        switch work {
        case .single(let write): return CommitLanes.Destination(write.namespace, of: lanes)
        case .other(.namespace(let namespace), _, _), .other(.batch(_, _, let namespace), _, _):
            return CommitLanes.Destination(namespace, of: lanes)
        case .other(.nothing, _, _): return .lane(0)
        case .other(.drop, _, _), .other(.wholeStore, _, _), .other(.access, _, _): return .everywhere
        }
    }

    /// Does the work, within the transaction.
    func perform(_ context: inout Context) throws -> Performed {
        switch work {
        case .single(let write): .whole(.single(write, try write.perform(&context)))
        case .other(_, let perform, _): try perform(&context)
        }
    }

    /// Notifies the owner that nothing was done.
    func refuse(_ problem: Problem) {
        switch work {
        case .single(let write): write.completion(Committed(.failure(problem), nil))
        case .other(_, _, let refuse): refuse(problem)
        }
    }
}

extension Submission.Context {
    /// Stores an access row.
    mutating func keep(_ row: AccessRow) throws {
        try transaction.keep(row)
        access.note(row, AccessRow.Name(row.kind, row.name))
    }

    /// Removes an access row, if there is one of this name.
    mutating func remove(_ kind: AccessRow.Kind, named name: String) throws {
        try transaction.remove(kind, named: name)
        access.note(nil, AccessRow.Name(kind, name))
    }

    /// Runs `work`, which applies writes to the namespace, and logs the changes that they make. Undoes them if they exceed
    /// a quota.
    ///
    /// - Parameters:
    ///   - access: what the writer may do; `nil` for everything.
    ///   - growth: the most that the writes could add to the namespace. Evaluated only if there are quotas.
    mutating func write<Value>(
        to name: Namespace, by access: WriteAccess?, adding growth: @autoclosure () -> NamespaceUsage = NamespaceUsage(),
        _ work: (inout WriteApplier) throws -> Result<Value, Problem>
    ) throws -> Committed<Value> {
        let namespace = try transaction.namespace(name)
        if let problem = access?.problem(in: namespace.state) { return Committed(.failure(problem), nil) }
        let base = namespace.state.cursor
        var applier = WriteApplier(
            namespace: namespace, time: time, editLimit: editLimit, room: room, wholeRoom: wholeRoom, portion: portion,
            deadline: deadline)
        defer {
            touched += applier.touched
            room -= min(applier.touched, room)
        }
        let result: Result<Value, Problem>
        // Far from its quotas, a namespace has no cost.
        if quotas.isLimited, quotas.excess(namespace.usage, adding: growth()) != nil {
            do {
                result = try namespace.atomically {
                    let before = namespace.usage
                    applier.unseen = NamespaceUsage()
                    let result = try work(&applier)
                    let growth = namespace.usage - before + (applier.unseen ?? NamespaceUsage())
                    if let excess = quotas.excess(before, adding: growth) { throw excess }
                    return result
                }
            } catch let excess as QuotaExcess { return Committed(.failure(Problem(excess)), namespace.state.cursor) }
        } else {
            result = try work(&applier)
        }
        let cursor = namespace.state.cursor
        log.add(applier.changes, applier.batches, to: name, after: base, cursor: cursor)
        return Committed(result, cursor)
    }
}

extension NamespaceTransaction {
    fileprivate var usage: NamespaceUsage {
        NamespaceUsage(storage: Int64(state.bytes), records: Int64(state.records), clients: Int64(counts.clients))
    }
}

extension NamespaceUsage {
    /// The most that operations could add, those of a client under numbers.
    init(bounding operations: some Sequence<WriteOperation>, editLimit: Int, isNumbered: Bool) {
        self.init(clients: isNumbered ? 1 : 0)
        for operation in operations {
            switch operation {
            case .put(let content): (storage, records) = (storage + Int64(content.bytes.count), records + 1)
            // Beyond the limit it is rejected.
            case .patch, .increment: (storage, records) = (storage + Int64(min(editLimit, 1 << 40)), records + 1)
            case .delete: break
            }
        }
    }
}

extension Problem {
    fileprivate init(_ excess: QuotaExcess) {
        self.init(.quotaExceeded, "Nothing of this was done, and no number was used: \(excess).")
    }
}
