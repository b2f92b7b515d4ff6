/// The body of `POST /v1/{ns}/writes`: numbered writes of one device, in order.
package struct WriteBatch: WireMessage {
    /// The most writes that one batch may hold.
    package static let maximumCount = 1_000

    /// The device.
    package var client: ClientIdentifier
    /// The history that the batch is for: in any other it has no effect. `nil`: whichever there is.
    ///
    /// A write that has a verdict in one history may be unknown in the next. A batch for the earlier history that
    /// arrives late must not decide the write again.
    package var epoch: Epoch?
    /// Whether numbers may be left out before the first of the batch: they were decided in another history and will
    /// never be sent in this one. Only together with ``epoch``. Without effect if none is left out.
    package var resume: Bool
    /// Whether all or none are to be applied.
    package var atomic: Bool
    /// The writes; their numbers follow each other without a gap.
    package var writes: [Write]

    /// A batch.
    package init(client: ClientIdentifier, epoch: Epoch? = nil, resume: Bool = false, atomic: Bool = false, writes: [Write]) {
        self.client = client
        self.epoch = epoch
        self.resume = resume
        self.atomic = atomic
        self.writes = writes
    }

    /// `{"client":…,"epoch"?:…,"resume"?:…,"atomic"?:…,"writes":[…]}`
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("client", client.text)
        if let epoch { writer.member("epoch", epoch.token) }
        if resume { writer.member("resume", true) }
        if atomic { writer.member("atomic", true) }
        writer.member("writes")
        writer.beginArray()
        for write in writes { write.write(to: &writer) }
        writer.endArray()
        writer.endObject()
    }

    /// Reads what ``write(to:)`` writes; the numbers must follow each other, and `resume` takes an `epoch`.
    package init(_ reader: inout JSONReader) throws(WireError) {
        var client: ClientIdentifier?
        var epoch: Epoch?
        var resume = false
        var atomic = false
        var writes: [Write]?
        try reader.beginObject()
        while let name = try reader.nextMember() {
            switch name {
            case "client": client = try ClientIdentifier(try reader.string())
            case "epoch": epoch = try Self.epoch(try reader.string())
            case "resume": resume = try reader.boolean()
            case "atomic": atomic = try reader.boolean()
            case "writes":
                writes = try reader.elements(atMost: Self.maximumCount, "writes") { reader throws(WireError) in try Write(&reader) }
            default: try reader.skip()
            }
        }
        guard let client, let writes else { throw .unexpectedJSON("a batch takes 'client' and 'writes'") }
        guard !writes.isEmpty else { throw .unexpectedJSON("a batch takes 1 to \(Self.maximumCount) writes; this one has none") }
        for (left, right) in zip(writes, writes.dropFirst()) where right.number != left.number &+ 1 {
            throw .unexpectedJSON("the numbers in a batch follow each other; here \(right.number) comes after \(left.number)")
        }
        guard !resume || epoch != nil else {
            throw .unexpectedJSON("'resume' goes only with 'epoch', the history in which the numbers go on from \(writes[0].number)")
        }
        self.init(client: client, epoch: epoch, resume: resume, atomic: atomic, writes: writes)
    }

    private static func epoch(_ text: String) throws(WireError) -> Epoch {
        guard let epoch = Epoch(text) else {
            throw .unexpectedJSON("'epoch' is the part of a cursor before its dash, 1 to 32 of a-z and 0-9; '\(text.shortened)' is none")
        }
        return epoch
    }
}
