package import FreshetWire

/// A rejected write, with all that the user needs to retry or discard it. The disk keeps it from the rejection until
/// the user has done either.
package struct RejectedWrite: Hashable, Sendable {
    /// The name that the write had in the outbox.
    package var receipt: Receipt
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
        receipt: Receipt, number: Int64, key: RecordKey, operation: WriteOperation, policy: ConflictPolicy, problem: Problem,
        created: Timestamp, rejected: Timestamp
    ) {
        self.receipt = receipt
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
            receipt: row.receipt, number: row.number, key: row.key, operation: row.operation, policy: row.policy, problem: problem,
            created: row.created, rejected: rejected)
    }

    /// The approximate number of bytes that it takes on disk.
    package var size: Int { 256 + operation.size + problem.detail.utf8.count + (problem.current?.content?.bytes.count ?? 0) }
}

/// One operation on the list of rejected writes.
package enum RejectionOperation: Hashable, Sendable {
    /// Adds the write at the end.
    case put(RejectedWrite)
    /// Removes the write.
    case remove(Receipt)
}

/// A rejected write on disk, without its contents.
package struct RejectionPlace: Hashable, Sendable {
    package var receipt: Receipt
    /// ``RejectedWrite/size``.
    package var size: Int

    package init(receipt: Receipt, size: Int) {
        self.receipt = receipt
        self.size = size
    }
}

extension RejectedWrite: WireMessage {
    /// `{"receipt":…,"write":{…},"policy"?:…,"merge"?:…,"problem":{…},"created":…,"rejected":…}`
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("receipt", receipt.number)
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
        var receipt: Int64?
        var write: Write?
        var policy = ConflictPolicy.lastWriterWins
        var problem: Problem?
        var created: Int64 = 0
        var rejected: Int64 = 0
        try reader.beginObject()
        while let name = try reader.nextMember() {
            switch name {
            case "receipt": receipt = try reader.integer()
            case "write": write = try Write(&reader)
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
        guard let receipt, let write, let problem else {
            throw .unexpectedJSON("a rejected write takes 'receipt', 'write' and 'problem'")
        }
        self.init(
            receipt: Receipt(receipt), number: write.number, key: write.key, operation: write.operation, policy: policy, problem: problem,
            created: Timestamp(milliseconds: created), rejected: Timestamp(milliseconds: rejected))
    }
}
