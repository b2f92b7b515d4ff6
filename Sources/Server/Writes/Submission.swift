internal import FreshetWire

/// Something to be done in a write transaction, with whom to tell afterwards.
///
/// The makers look at nothing but their arguments; values of single writes are checked to be JSON here, on the caller's thread,
/// rather than in the one transaction that all wait for.
package struct Submission: Sendable {
    /// What a submission may do and has to know.
    struct Context {
        let transaction: any RecordTransaction
        let time: Timestamp
        let editLimit: Int
        /// How much it may still touch; see ``WriteApplier/touched``.
        var room = Int.max
        var log = CommitLog()
    }

    /// What it does: the kind that comes by the ten thousand as a value, the others as closures.
    enum Work: Sendable {
        case single(SubmittedWrite)
        /// Does it and returns what tells its owner once the transaction is on disk; and tells it that nothing was done.
        case other(
            perform: @Sendable (inout Context) throws -> @Sendable () -> Void, refuse: @Sendable (Problem) -> Void)
    }

    /// What tells an owner once the transaction is on disk.
    enum Completion {
        case single(SubmittedWrite, Committed<SingleReceipt>)
        case other(@Sendable () -> Void)

        func tell() {
            switch self {
            case .single(let write, let committed): write.completion(committed)
            case .other(let tell): tell()
            }
        }
    }

    /// What a group and the queue are bounded by.
    let load: WriteLoad
    /// Whether it is taken however much waits: for the server's own, which cost little.
    let isVital: Bool
    private let work: Work
    /// Of a batch: what it writes, and where.
    var batch: (items: [NumberedWrites.Item], namespace: Namespace)?

    init(_ load: WriteLoad, isVital: Bool = false, _ work: Work) {
        self.load = load
        self.isVital = isVital
        self.work = work
    }

    init<Value>(
        writes: Int = 1, bytes: Int = 0, isVital: Bool = false, then completion: @escaping @Sendable (Committed<Value>) -> Void,
        _ work: @escaping @Sendable (inout Context) throws -> Committed<Value>
    ) {
        self.init(
            WriteLoad(writes: writes, bytes: bytes), isVital: isVital,
            .other { context in
                let committed = try work(&context)
                return { completion(committed) }
            } refuse: {
                completion(Committed(.failure($0), nil))
            })
    }

    /// The records that it writes to.
    var records: [RecordAddress] {
        if case .single(let write) = work { return [write.record] }
        guard let batch else { return [] }
        return batch.items.map { RecordAddress(namespace: batch.namespace, key: $0.key) }
    }

    /// Does it, within the transaction.
    func perform(_ context: inout Context) throws -> Completion {
        switch work {
        case .single(let write): .single(write, try write.perform(&context))
        case .other(let perform, _): .other(try perform(&context))
        }
    }

    /// Tells its owner that nothing was done.
    func refuse(_ problem: Problem) {
        switch work {
        case .single(let write): write.completion(Committed(.failure(problem), nil))
        case .other(_, let refuse): refuse(problem)
        }
    }
}

extension Submission.Context {
    /// Lets `work` apply writes to the namespace, and logs the changes that they make.
    mutating func write<Value>(
        to name: Namespace, _ work: (inout WriteApplier) throws -> Result<Value, Problem>
    ) throws -> Committed<Value> {
        let namespace = try transaction.namespace(name)
        var applier = WriteApplier(namespace: namespace, modified: time, editLimit: editLimit, room: room)
        let result = try work(&applier)
        room -= min(applier.touched, room)
        let cursor = namespace.state.cursor
        log.add(applier.changes, applier.batches, to: name, cursor: cursor)
        return Committed(result, cursor)
    }
}
