package import FreshetWire

/// A rejected write, with all that the user needs to retry or discard it. The disk keeps it from the rejection until
/// the user has done either.
package struct RejectedWrite: Hashable, Sendable {
    /// The name that the write had in the outbox.
    package var writeID: LocalWriteID
    /// The number that it had on the wire.
    package var number: Int64
    package var key: RecordKey
    package var operation: WriteOperation
    package var policy: ConflictPolicy
    /// Why it was rejected.
    package var problem: Problem
    /// When the user wrote it, by the device's wall clock.
    package var created: Timestamp
    /// When the device received the rejection, by its wall clock.
    package var rejected: Timestamp

    package init(
        writeID: LocalWriteID, number: Int64, key: RecordKey, operation: WriteOperation, policy: ConflictPolicy, problem: Problem,
        created: Timestamp, rejected: Timestamp
    ) {
        self.writeID = writeID
        self.number = number
        self.key = key
        self.operation = operation
        self.policy = policy
        self.problem = problem
        self.created = created
        self.rejected = rejected
    }

    init(_ row: OutboxRow, _ problem: Problem, at rejected: Timestamp) {
        self.init(
            writeID: row.writeID, number: row.number, key: row.key, operation: row.operation, policy: row.policy, problem: problem,
            created: row.created, rejected: rejected)
    }

    /// The approximate number of bytes that it takes on disk. Counts each text and value.
    package var size: Int {
        var size = 256 + key.byteCount + operation.size + problem.byteCount
        if case .put(let content) = operation { size += content.type.utf8.count }
        if case .merge(let name) = policy { size += name.text.utf8.count }
        return size
    }
}

extension RecordKey {
    fileprivate var byteCount: Int { collection.utf8.count + id.utf8.count }
}

extension Problem {
    /// The bytes of the texts and of the record.
    fileprivate var byteCount: Int {
        var count = code.text.utf8.count + code.title.utf8.count + detail.utf8.count
        if let needs { count += needs.may.utf8.count + needs.of.utf8.count }
        if let current { count += current.key.byteCount + current.contentType.utf8.count + (current.content?.bytes.count ?? 0) }
        return count
    }
}

extension RejectedWrite: WireMessage {
    /// `{"receipt":…,"write":{…},"policy"?:…,"merge"?:…,"problem":{…},"created":…,"rejected":…}`
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("receipt", writeID.number)
        writer.member("write")
        Write(number: number, key: key, operation: operation).write(to: &writer)
        writer.policy(policy)
        writer.member("problem")
        problem.write(to: &writer)
        writer.member("created", created.milliseconds)
        writer.member("rejected", rejected.milliseconds)
        writer.endObject()
    }

    /// Reads what ``write(to:)`` writes.
    package init(_ reader: inout JSONReader) throws(WireError) {
        var writeID: Int64?
        var write: Write?
        var policy = ConflictPolicy.lastWriterWins
        var problem: Problem?
        var created: Int64 = 0
        var rejected: Int64 = 0
        try reader.beginObject()
        while let name = try reader.nextMember() {
            switch name {
            case "receipt": writeID = try reader.integer()
            // A write whose name was left while it was being merged has no number under the present one.
            case "write": write = try Write(&reader, numberedFrom: -1)
            case "policy":
                _ = try reader.string()
                policy = .rejectIfChanged
            case "merge": policy = .merge(MergeName(try reader.string()))
            case "problem": problem = try Problem(&reader)
            case "created": created = try reader.integer()
            case "rejected": rejected = try reader.integer()
            default: try reader.skip()
            }
        }
        guard let writeID, let write, let problem else {
            throw .unexpectedJSON("a rejected write takes 'receipt', 'write' and 'problem'")
        }
        self.init(
            writeID: LocalWriteID(writeID), number: write.number, key: write.key, operation: write.operation, policy: policy,
            problem: problem,
            created: Timestamp(milliseconds: created), rejected: Timestamp(milliseconds: rejected))
    }
}
