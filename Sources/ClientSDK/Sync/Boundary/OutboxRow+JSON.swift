package import FreshetWire

extension OutboxRow: WireMessage {
    /// `{"receipt":…,"write":{…},"after"?:…,"policy"?:…,"merge"?:…,"baseRevision"?:…,"state"?:…,"position"?:…, "epoch"?:…, …}`
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("receipt", receipt.number)
        writer.member("write")
        let ifRevision: Revision? = if case .revision(let revision) = precondition { revision } else { nil }
        Write(number: number, key: key, operation: operation, ifRevision: ifRevision).write(to: &writer)
        if case .after(let earlier) = precondition { writer.member("after", earlier.number) }
        switch policy {
        case .lastWriterWins: break
        case .rejectIfChanged: writer.member("policy", "reject")
        case .merge(let name): writer.member("merge", name.text)
        }
        if let baseRevision { writer.member("baseRevision", baseRevision.number) }
        switch state {
        case .pending: break
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
        var attempts: Int64 = 0
        var created: Int64 = 0
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
            case "attempts": attempts = try reader.integer()
            case "created": created = try reader.integer()
            default: try reader.skip()
            }
        }
        guard let receipt, let write else { throw .unexpectedJSON("a row of the outbox takes 'receipt' and 'write'") }
        let precondition: Precondition =
            after.map { .after(Receipt($0)) } ?? write.ifRevision.map { .revision($0) } ?? .none
        self.init(
            receipt: Receipt(receipt), number: write.number, key: write.key, operation: write.operation, policy: policy,
            precondition: precondition, baseRevision: baseRevision, state: try Self.state(state, position, epoch), ancestor: ancestor,
            attempts: attempts, created: Timestamp(milliseconds: created))
    }

    private static func state(_ name: String, _ position: Cursor?, _ epoch: Epoch?) throws(WireError) -> State {
        switch (name, position) {
        case ("pending", _): return .pending
        case ("merging", _): return .merging(epoch)
        case ("applied", let position?): return .applied(position)
        case ("settled", let position?): return .settled(position)
        default: throw .unexpectedJSON("the state of an outbox row is pending, merging, applied or settled, the last two with a 'position'")
        }
    }
}

extension JSONWriter {
    fileprivate mutating func state(_ name: String, _ position: Cursor) {
        member("state", name)
        member("position", position.description)
    }

    /// A content as an object of its own.
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
