internal import FreshetTrust
internal import FreshetWire

/// Applies writes to one namespace within a transaction, and collects the changes that they make.
struct WriteApplier {
    /// The effect of one write. A rejection shows its record without the value: see ``RejectionRecords``.
    enum Effect {
        case written(Revision, created: Bool)
        /// A delete of a record that was not there.
        case nothing
        indirect case rejected(Problem)
    }

    let namespace: any NamespaceTransaction
    let time: WriteTime
    /// The most bytes of a value that is patched or incremented, before and after.
    let editLimit: Int
    /// How much the transaction may still touch. The write that exceeds it is the last.
    private let room: Int
    /// How much an atomic batch may touch. Work that came before it must not decide about it.
    let wholeRoom: Int
    /// How many bytes of values a batch stores before it goes on in the next transaction.
    private let portion: Int
    private let deadline: TransactionDeadline
    /// Short values take about as long as the clock is read in: the time is of interest beyond this.
    private static let shortWork = 256 << 10
    /// How many bytes of values the patches and increments have read and made, those of outcomes that were decoded, and half
    /// of those that puts and deletes have freed: SQLite visits each page of a value that it frees, which takes a third of
    /// the time of an edit.
    private(set) var touched = 0
    /// How many bytes of values have been stored.
    private var stored = 0
    private(set) var changes: [Change] = []
    /// The revisions of each atomic batch that made two changes or more, in order.
    private(set) var batches: [ClosedRange<Revision>] = []
    /// The records that blind writes have replaced or deleted, for a namespace that is near a quota: the quota counts these writes
    /// as if the records had not been there. `nil` if they are not counted.
    var unseen: NamespaceUsage?
    /// The first revision of the atomic batch that is being applied.
    private var firstOfBatch: Revision?
    /// The document that the last patch or increment made, so that the next one of the same record need not read and
    /// parse it again.
    private var edited: (key: RecordKey, revision: Revision, document: JSONDocument)?

    init(
        namespace: any NamespaceTransaction, time: WriteTime, editLimit: Int, room: Int = .max, wholeRoom: Int = .max,
        portion: Int = .max, deadline: TransactionDeadline = .none
    ) {
        self.namespace = namespace
        self.time = time
        self.editLimit = editLimit
        self.room = room
        self.wholeRoom = wholeRoom
        self.portion = portion
        self.deadline = deadline
    }

    /// - Parameters:
    ///   - strict: whether a delete of a record that is not there is `not-found`, as for a write without a number.
    ///   - isHidden: whether the sender may not read the record. A put or a delete then has the same effect to see whatever the record
    ///     is; the sender may not make other writes (``Rights/decideWrite(in:of:dependsOnRecord:)``).
    mutating func apply(
        _ operation: WriteOperation, to key: RecordKey, if preconditions: [Precondition], by author: Change.Author?, strict: Bool = false,
        isHidden: @autoclosure () -> Bool = false
    ) throws -> Effect {
        let namespace = namespace
        let existing = try namespace.existingRow(of: key)
        let record = existing.flatMap { $0.size == nil ? nil : $0 }
        if unseen != nil, let size = record?.size, isHidden() {
            unseen?.storage += Int64(size)
            unseen?.records += 1
        }
        if record == nil, case .delete = operation, isHidden() { return try deleteNothing(at: key) }
        if strict, record == nil, case .delete = operation {
            return .rejected(Problem(.notFound, "There is no record \(key.description.shortened), so there is nothing to delete."))
        }
        for precondition in preconditions where !precondition.holds(for: record?.revision, in: namespace.state.epoch) {
            return .rejected(precondition.problem(current: try namespace.outline(key)))
        }
        let metadata = WriteMetadata(time: time, author: author, firstOfBatch: firstOfBatch)
        switch operation {
        case .put(let content):
            let effect = try put(content, at: key, over: existing, metadata)
            if case .written(let revision, created: true) = effect, isHidden() { return .written(revision, created: false) }
            return effect
        case .delete:
            guard let record else { return .nothing }
            if let problem = exhausted() { return .rejected(problem) }
            let revision = try namespace.delete(key, record, metadata)
            free(record, for: 0)
            changes.append(Change(revision: revision, effect: .delete(key), modified: time.wall, author: author))
            return .written(revision, created: false)
        case .patch(let patch):
            guard let record else { return .rejected(Self.missing(key)) }
            if let problem = tooLarge(patch.count, "The merge patch for \(key.description.shortened) has") { return .rejected(problem) }
            touched += patch.count
            return try edit(key, record, metadata) { document throws(EditFailure) in
                try EditFailure.of { () throws(WireError) in document.merging(try JSONDocument(patch)) }
            }
        case .increment(let increment):
            guard let record else {
                if case .create(let initial?) = increment.onMissing {
                    if let problem = tooLarge(initial.count, "The 'value' of the increment of \(key.description.shortened) has") {
                        return .rejected(problem)
                    }
                    touched += initial.count
                }
                return try store(key, existing, metadata) { () throws(EditFailure) in try increment.made(of: nil) }
            }
            return try edit(key, record, metadata) { document throws(EditFailure) in try increment.made(of: document) }
        }
    }

    /// Records that the records in these scopes have changed elsewhere. Each scope takes a separate revision; the
    /// result is the last.
    mutating func invalidate(_ scopes: [InvalidationScope]) throws -> Result<Revision, Problem> {
        var last = namespace.state.head
        guard last.number <= Revision.maximum.number - Int64(scopes.count) else { return .failure(Self.exhaustion) }
        for scope in scopes {
            last = try namespace.invalidate(scope, at: time)
            changes.append(Change(revision: last, effect: .invalidate(scope), modified: time.wall))
        }
        return .success(last)
    }

    /// Counts the bytes that a record frees when a value of `size` bytes replaces it. Bytes that are overwritten in
    /// place cost little.
    private mutating func free(_ existing: ExistingRow, for size: Int) { touched += max(0, (existing.size ?? 0) - size) / 2 }

    /// Whether further writes belong into another transaction, since all writers wait for this one: by the bytes that it
    /// has touched or stored, or by its time, which differs with the machine and the shape of the values.
    var isFull: Bool { touched >= room || stored >= portion || max(touched, stored) >= Self.shortWork && deadline.hasPassed }

    /// Whether an atomic batch is too much for any transaction. The time must not decide about that.
    var isTooMuch: Bool { touched >= wholeRoom }

    /// Counts bytes that were read and decoded besides the records: those of kept outcomes.
    mutating func count(read bytes: Int) { touched += bytes }

    /// Reserves capacity for the changes of `count` writes.
    mutating func expect(_ count: Int) { changes.reserveCapacity(changes.count + count) }

    /// Runs the closure, whose writes are an atomic batch, and undoes them if it throws.
    mutating func atomically<Result>(_ body: (inout WriteApplier) throws -> Result) throws -> Result {
        let namespace = namespace
        let mark = changes.count
        firstOfBatch = namespace.state.head.next
        defer { firstOfBatch = nil }
        do {
            let result = try namespace.atomically { try body(&self) }
            if changes.count > mark + 1 { batches.append(changes[mark].revision...changes[changes.count - 1].revision) }
            return result
        } catch {
            changes.removeSubrange(mark...)
            // The revisions that were undone are taken again, for other values.
            edited = nil
            throw error
        }
    }
}

extension WriteApplier {
    /// Takes a revision for a delete of a record that is not there, as any delete does: a sender that may not read would learn from
    /// another response, or from the head of the namespace, that there was none.
    private mutating func deleteNothing(at key: RecordKey) throws -> Effect {
        switch try invalidate([.key(key)]) {
        case .success(let revision): .written(revision, created: false)
        case .failure(let problem): .rejected(problem)
        }
    }

    private mutating func put(_ content: Content, at key: RecordKey, over existing: ExistingRow?, _ metadata: WriteMetadata) throws
        -> Effect
    {
        if let problem = exhausted() { return .rejected(problem) }
        let revision = try namespace.put(content, at: key, over: existing, metadata)
        if let existing { free(existing, for: content.bytes.count) }
        stored += content.bytes.count
        changes.append(
            Change(
                revision: revision,
                effect: .put(key, content: content, contentType: content.type, size: content.bytes.count),
                modified: metadata.modified, author: metadata.author))
        return .written(revision, created: existing?.size == nil)
    }

    /// Stores the document that `change` makes of the record's JSON.
    private mutating func edit(
        _ key: RecordKey, _ record: ExistingRow, _ metadata: WriteMetadata, _ change: (JSONDocument) throws(EditFailure) -> JSONDocument
    ) throws -> Effect {
        guard record.isJSON else { return .rejected(Self.unmergeable(key)) }
        if let problem = tooLarge(record.size ?? 0, "\(key.description.shortened) has") { return .rejected(problem) }
        let known = edited.flatMap { $0.key == key && $0.revision == record.revision ? $0.document : nil }
        // Not held here during the change, which would otherwise have to copy the document.
        edited = nil
        let bytes = try known == nil ? namespace.record(key)?.content?.bytes ?? Array("null".utf8) : []
        touched += bytes.count
        return try store(key, record, metadata) { () throws(EditFailure) in
            if let known { return try change(known) }
            return try change(try EditFailure.of { () throws(WireError) in try JSONDocument(bytes) })
        }
    }

    private mutating func store(
        _ key: RecordKey, _ existing: ExistingRow?, _ metadata: WriteMetadata, _ make: () throws(EditFailure) -> JSONDocument
    ) throws -> Effect {
        let document: JSONDocument
        do throws(EditFailure) { document = try make() } catch {
            return .rejected(Problem(error.code, "\(key.description.shortened): \(error.text)", current: try namespace.outline(key)))
        }
        let bytes = document.bytes
        touched += bytes.count
        if let problem = tooLarge(bytes.count, "\(key.description.shortened) would have") { return .rejected(problem) }
        let effect = try put(Content(checkedJSON: bytes), at: key, over: existing, metadata)
        if case .written(let revision, _) = effect { edited = (key, revision, document) }
        return effect
    }

    private func tooLarge(_ count: Int, _ what: @autoclosure () -> String) -> Problem? {
        guard count > editLimit else { return nil }
        return Problem(
            .tooLarge,
            "\(what()) \(count) bytes, and patches and increments take values of at most \(editLimit). Split the record, or replace it with a put."
        )
    }

    private func exhausted() -> Problem? { namespace.state.head == .maximum ? Self.exhaustion : nil }

    private static let exhaustion = Problem(
        .storageFailed, "The namespace has used up its revisions (2^53-1). Drop it, or go on in another.")

    private static func missing(_ key: RecordKey) -> Problem {
        Problem(.notFound, "There is no record \(key.description.shortened). Make it with a put.")
    }

    private static func unmergeable(_ key: RecordKey) -> Problem {
        Problem(
            .unsupportedMediaType,
            "\(key.description.shortened) is not JSON, so it can be neither patched nor incremented. Replace it with a put.")
    }
}

/// Why a patch or an increment cannot be applied to a record.
private struct EditFailure: Error {
    let code: ProblemCode
    let text: String

    static func of<Value>(_ body: () throws(WireError) -> Value) throws(EditFailure) -> Value {
        do throws(WireError) { return try body() } catch { throw EditFailure(code: .invalidRequest, text: error.description) }
    }
}

extension Increment {
    fileprivate func made(of document: JSONDocument?) throws(EditFailure) -> JSONDocument {
        do throws(IncrementFailure) { return try applied(to: document) } catch {
            throw EditFailure(code: error.code, text: error.description)
        }
    }
}
