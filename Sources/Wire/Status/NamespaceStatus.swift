/// The answer to `GET /v1/{ns}`.
public struct NamespaceStatus: WireMessage {
    /// The namespace.
    public var namespace: Namespace
    /// Its history and newest revision.
    public var cursor: Cursor
    /// How many records it holds.
    public var records: Int
    /// How many bytes their values have.
    public var bytes: Int
    /// How many requests wait for its changes now.
    public var waiting: Int

    /// A status.
    public init(namespace: Namespace, cursor: Cursor, records: Int, bytes: Int, waiting: Int) {
        self.namespace = namespace
        self.cursor = cursor
        self.records = records
        self.bytes = bytes
        self.waiting = waiting
    }

    /// `{"namespace":…,"epoch":…,"head":…,"records":…,"bytes":…,"waiting":…,"cursor":…}`
    public func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("namespace", namespace.name)
        writer.member("epoch", cursor.epoch.token)
        writer.member("head", cursor.revision.number)
        writer.member("records", Int64(records))
        writer.member("bytes", Int64(bytes))
        writer.member("waiting", Int64(waiting))
        writer.member("cursor", cursor.description)
        writer.endObject()
    }

    /// Reads what ``write(to:)`` writes.
    public init(_ reader: inout JSONReader) throws(WireError) {
        var namespace: Namespace?
        var cursor: Cursor?
        var records = 0
        var bytes = 0
        var waiting = 0
        try reader.beginObject()
        while let name = try reader.nextMember() {
            switch name {
            case "namespace": namespace = try Namespace(try reader.string())
            case "cursor": cursor = try reader.cursor()
            case "records": records = Int(try reader.integer())
            case "bytes": bytes = Int(try reader.integer())
            case "waiting": waiting = Int(try reader.integer())
            default: try reader.skip()
            }
        }
        guard let namespace, let cursor else { throw .unexpectedJSON("a namespace's status takes 'namespace' and 'cursor'") }
        self.init(namespace: namespace, cursor: cursor, records: records, bytes: bytes, waiting: waiting)
    }
}
