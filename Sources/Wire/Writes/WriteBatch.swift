/// The body of `POST /v1/{ns}/writes`: numbered writes of one device, in order.
public struct WriteBatch: WireMessage {
    /// The most writes that one batch may hold.
    public static let maximumCount = 1_000

    /// The device.
    public var client: ClientIdentifier
    /// The history in which the writes have these numbers: in any other nothing of the batch is done. `nil`: whichever there is.
    ///
    /// A device numbers its writes anew when the history changes, so a batch of before that arrives late must not take those numbers.
    public var epoch: Epoch?
    /// Whether all or none are to be applied.
    public var atomic: Bool
    /// The writes; their numbers follow each other without a gap.
    public var writes: [Write]

    /// A batch.
    public init(client: ClientIdentifier, epoch: Epoch? = nil, atomic: Bool = false, writes: [Write]) {
        self.client = client
        self.epoch = epoch
        self.atomic = atomic
        self.writes = writes
    }

    /// `{"client":…,"epoch"?:…,"atomic"?:…,"writes":[…]}`
    public func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("client", client.text)
        if let epoch { writer.member("epoch", epoch.token) }
        if atomic { writer.member("atomic", true) }
        writer.member("writes")
        writer.beginArray()
        for write in writes { write.write(to: &writer) }
        writer.endArray()
        writer.endObject()
    }

    /// Reads what ``write(to:)`` writes; the numbers must follow each other.
    public init(_ reader: inout JSONReader) throws(WireError) {
        var client: ClientIdentifier?
        var epoch: Epoch?
        var atomic = false
        var writes: [Write]?
        try reader.beginObject()
        while let name = try reader.nextMember() {
            switch name {
            case "client": client = try ClientIdentifier(try reader.string())
            case "epoch": epoch = try Self.epoch(try reader.string())
            case "atomic": atomic = try reader.boolean()
            case "writes": writes = try reader.elements { reader throws(WireError) in try Write(&reader) }
            default: try reader.skip()
            }
        }
        guard let client, let writes else { throw .unexpectedJSON("a batch takes 'client' and 'writes'") }
        guard (1...Self.maximumCount).contains(writes.count) else {
            throw .unexpectedJSON("a batch takes 1 to \(Self.maximumCount) writes; this one has \(writes.count)")
        }
        for (left, right) in zip(writes, writes.dropFirst()) where right.number != left.number &+ 1 {
            throw .unexpectedJSON("the numbers in a batch follow each other; here \(right.number) comes after \(left.number)")
        }
        self.init(client: client, epoch: epoch, atomic: atomic, writes: writes)
    }

    private static func epoch(_ text: String) throws(WireError) -> Epoch {
        guard let epoch = Epoch(text) else {
            throw .unexpectedJSON("'epoch' is the part of a cursor before its dash, 1 to 32 of a-z and 0-9; '\(text.prefix(40))' is none")
        }
        return epoch
    }
}
