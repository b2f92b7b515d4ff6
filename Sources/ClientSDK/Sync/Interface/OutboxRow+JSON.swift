package import FreshetWire

extension OutboxRow: WireMessage {
    /// `{"receipt":…,"write":{…},"after"?:…,"policy"?:…,"merge"?:…,"baseRevision"?:…,"state"?:…,"position"?:…, "epoch"?:…, …}`
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("receipt", writeID.number)
        writer.member("write")
        let ifRevision: Revision? = if case .revision(let revision) = precondition { revision } else { nil }
        Write(number: max(1, number), key: key, operation: operation, ifRevision: ifRevision, nonce: nonce, origin: origin)
            .write(to: &writer)
        if number < 1 { writer.member("earlier", number) }
        if isDisplaced { writer.member("displaced", true) }
        if case .after(let earlier) = precondition { writer.member("after", earlier.number) }
        writer.policy(policy)
        if let baseRevision { writer.member("baseRevision", baseRevision.number) }
        switch state {
        case .pending: break
        case .held: writer.member("state", "held")
        case .applied(let position): writer.state("applied", position)
        case .settled(let position): writer.state("settled", position)
        case .merging(let epoch):
            writer.member("state", "merging")
            if let epoch { writer.member("epoch", epoch.token) }
        }
        if let ancestor {
            writer.member("ancestor")
            writer.object(ancestor)
        }
        if let original {
            writer.member("original")
            Write(number: 1, key: key, operation: original).write(to: &writer)
        }
        if attempts > 0 { writer.member("attempts", attempts) }
        writer.member("created", created.milliseconds)
        writer.endObject()
    }

    /// Reads what ``write(to:)`` writes.
    package init(_ reader: inout JSONReader) throws(WireError) {
        var receipt: Int64?
        var write: Write?
        var after: Int64?
        var policy = ConflictPolicy.lastWriterWins
        var baseRevision: Revision?
        var state = "pending"
        var position: Cursor?
        var epoch: Epoch?
        var ancestor: Content?
        var original: WriteOperation?
        var attempts: Int64 = 0
        var created: Int64 = 0
        var earlier: Int64?
        var isDisplaced = false
        try reader.beginObject()
        while let name = try reader.nextMember() {
            switch name {
            case "receipt": receipt = try reader.integer()
            case "write": write = try Write(&reader)
            case "after": after = try reader.integer()
            case "policy":
                _ = try reader.string()
                policy = .rejectIfChanged
            case "merge": policy = .merge(MergeName(try reader.string()))
            case "baseRevision": baseRevision = Revision(try reader.integer())
            case "state": state = try reader.string()
            case "position": position = try Cursor(try reader.string())
            case "epoch": epoch = Epoch(try reader.string())
            case "ancestor": ancestor = try reader.content()
            case "original": original = try Write(&reader).operation
            case "attempts": attempts = try reader.counter(from: 0)
            case "created": created = try reader.integer()
            case "earlier": earlier = try reader.integer(in: -1...0)
            case "displaced": isDisplaced = try reader.boolean()
            default: try reader.skip()
            }
        }
        guard let receipt, let write else { throw .unexpectedJSON("a row of the outbox takes 'receipt' and 'write'") }
        let precondition: Precondition =
            after.map { .after(LocalWriteID($0)) } ?? write.ifRevision.map { .revision($0) } ?? .none
        self.init(
            writeID: LocalWriteID(receipt), number: earlier ?? write.number, key: write.key, operation: write.operation, policy: policy,
            precondition: precondition, baseRevision: baseRevision, state: try Self.state(state, position, epoch), ancestor: ancestor,
            original: original, attempts: attempts, created: Timestamp(milliseconds: created), nonce: write.nonce)
        self.isDisplaced = isDisplaced
        origin = write.origin
    }

    private static func state(_ name: String, _ position: Cursor?, _ epoch: Epoch?) throws(WireError) -> State {
        switch (name, position) {
        case ("pending", _): return .pending
        case ("held", _): return .held
        case ("merging", _): return .merging(epoch)
        case ("applied", let position?): return .applied(position)
        case ("settled", let position?): return .settled(position)
        default:
            throw .unexpectedJSON(
                "the state of an outbox row is pending, held, merging, applied or settled, the last two with a 'position'")
        }
    }
}

extension JSONWriter {
    fileprivate mutating func state(_ name: String, _ position: Cursor) {
        member("state", name)
        member("position", position.description)
    }

    /// Writes the member `policy` or `merge`; none for the default policy.
    mutating func policy(_ policy: ConflictPolicy) {
        switch policy {
        case .lastWriterWins: break
        case .rejectIfChanged: member("policy", "reject")
        case .merge(let name): member("merge", name.text)
        }
    }

    /// Writes a content as a separate object.
    mutating func object(_ content: Content) {
        beginObject()
        content.write(to: &self)
        endObject()
    }
}

extension JSONReader {
    /// Reads what ``JSONWriter/object(_:)`` writes.
    mutating func content() throws(WireError) -> Content {
        var content: Content?
        try beginObject()
        while let name = try nextMember() {
            switch name {
            case "value": content = Content(checkedJSON: try rawValue())
            case "body": content = try Content.body(&self)
            default: try skip()
            }
        }
        guard let content else { throw .unexpectedJSON("a content takes 'value' or 'body'") }
        return content
    }
}
