internal import FreshetWire

/// Applies writes to one namespace within a transaction, and notes the changes that they make.
struct WriteApplier {
    /// What one write came to.
    enum Effect {
        case written(Revision, created: Bool)
        /// A delete of what was not there.
        case nothing
        indirect case rejected(Problem)
    }

    let namespace: any NamespaceTransaction
    let modified: Timestamp
    /// The most bytes that a patch or an increment may let a value grow to.
    let valueLimit: Int
    private(set) var changes: [Change] = []

    init(namespace: any NamespaceTransaction, modified: Timestamp, valueLimit: Int) {
        self.namespace = namespace
        self.modified = modified
        self.valueLimit = valueLimit
    }

    /// - Parameter strict: whether a delete of what is not there is `not-found`, as for one that stands alone.
    mutating func apply(
        _ operation: WriteOperation, to key: RecordKey, if preconditions: [Precondition], by author: Change.Author?, strict: Bool = false
    ) throws -> Effect {
        let namespace = namespace
        let occupant = try namespace.occupant(of: key)
        let record = occupant.flatMap { $0.size == nil ? nil : $0 }
        if strict, record == nil, case .delete = operation { return .rejected(Self.missing(key)) }
        for precondition in preconditions where !precondition.holds(for: record?.revision, in: namespace.state.epoch) {
            return .rejected(precondition.problem(current: try namespace.record(key)))
        }
        let stamp = Stamp(modified: modified, author: author)
        switch operation {
        case .put(let content):
            return try put(content, at: key, over: occupant, stamp)
        case .delete:
            guard let record else { return .nothing }
            if let problem = exhausted() { return .rejected(problem) }
            let revision = try namespace.delete(key, record, stamp)
            changes.append(Change(revision: revision, effect: .delete(key), modified: modified, author: author))
            return .written(revision, created: false)
        case .patch(let patch):
            guard let record else { return .rejected(Self.missing(key)) }
            guard record.isJSON else { return .rejected(Self.unmergeable(key)) }
            return try edit(key, occupant, stamp) { try namespace.merging(patch, into: key, record) }
        case .increment(let path, let amount):
            guard let record else {
                return try edit(key, occupant, stamp) { try JSONDocument.incrementingNothing(path, by: amount).bytes }
            }
            guard record.isJSON else { return .rejected(Self.unmergeable(key)) }
            return try edit(key, occupant, stamp) {
                guard let bytes = try namespace.record(key)?.content?.bytes else { return [] }
                return try JSONDocument(bytes).incrementing(path, by: amount).bytes
            }
        }
    }

    /// Notes that what the scopes reach has changed elsewhere; each takes a revision of its own, and the last is the answer.
    mutating func invalidate(_ scopes: [InvalidationScope]) throws -> Result<Revision, Problem> {
        var last = namespace.state.head
        guard last.number <= Revision.maximum.number - Int64(scopes.count) else { return .failure(Self.exhaustion) }
        for scope in scopes {
            last = try namespace.invalidate(scope, at: modified)
            changes.append(Change(revision: last, effect: .invalidate(scope), modified: modified))
        }
        return .success(last)
    }

    /// Makes room for the changes of as many writes.
    mutating func expect(_ count: Int) { changes.reserveCapacity(changes.count + count) }

    /// Forgets the changes noted after there were `count`, since they were undone.
    mutating func undo(to count: Int) { changes.removeSubrange(count...) }
}

extension WriteApplier {
    private mutating func put(_ content: Content, at key: RecordKey, over occupant: Occupant?, _ stamp: Stamp) throws -> Effect {
        if let problem = exhausted() { return .rejected(problem) }
        let revision = try namespace.put(content, at: key, over: occupant, stamp)
        changes.append(
            Change(
                revision: revision,
                effect: .put(key, content: content, contentType: content.type, size: content.bytes.count),
                modified: stamp.modified, author: stamp.author))
        return .written(revision, created: occupant?.size == nil)
    }

    private mutating func edit(_ key: RecordKey, _ occupant: Occupant?, _ stamp: Stamp, _ edited: () throws -> [UInt8]) throws -> Effect {
        let bytes: [UInt8]
        do { bytes = try edited() } catch let error as WireError {
            return .rejected(Problem(.invalidRequest, "\(key): \(error)", current: try namespace.record(key)))
        }
        guard bytes.count <= valueLimit else {
            return .rejected(
                Problem(.tooLarge, "\(key) would have \(bytes.count) bytes, and a value may have \(valueLimit). Split the record."))
        }
        return try put(Content(checkedJSON: bytes), at: key, over: occupant, stamp)
    }

    private func exhausted() -> Problem? { namespace.state.head == .maximum ? Self.exhaustion : nil }

    private static let exhaustion = Problem(
        .storageFailed, "The namespace has used up its revisions (2^53-1). Drop it, or go on in another.")

    private static func missing(_ key: RecordKey) -> Problem {
        Problem(.notFound, "There is no record \(key). Make it with a put.")
    }

    private static func unmergeable(_ key: RecordKey) -> Problem {
        Problem(.unsupportedMediaType, "\(key) is not JSON, so it can be neither patched nor incremented. Replace it with a put.")
    }
}
