/// The answer to `GET /v1/{ns}`.
package struct NamespaceStatus: WireMessage {
    /// The namespace.
    package var namespace: Namespace
    /// Its history and newest revision.
    package var cursor: Cursor
    /// The number of records.
    package var records: Int
    /// The bytes of their values.
    package var bytes: Int
    /// The number of deletes that are not forgotten yet.
    package var tombstones: Int
    /// The number of invalidations that are not forgotten yet.
    package var invalidations: Int
    /// The number of clients that have written under a number.
    package var clients: Int
    /// The number of outcomes of their writes that are kept.
    package var outcomes: Int
    /// The bytes of these outcomes.
    package var outcomeBytes: Int
    /// The number of requests that wait for the namespace's changes now.
    package var waiting: Int

    /// A status.
    package init(
        namespace: Namespace, cursor: Cursor, records: Int, bytes: Int, tombstones: Int = 0, invalidations: Int = 0, clients: Int = 0,
        outcomes: Int = 0, outcomeBytes: Int = 0, waiting: Int
    ) {
        self.namespace = namespace
        self.cursor = cursor
        self.records = records
        self.bytes = bytes
        self.tombstones = tombstones
        self.invalidations = invalidations
        self.clients = clients
        self.outcomes = outcomes
        self.outcomeBytes = outcomeBytes
        self.waiting = waiting
    }

    /// `{"namespace":…,"epoch":…,"head":…,"records":…,"bytes":…,"tombstones":…,"invalidations":…,"clients":…,"outcomes":…,"outcomeBytes":…,
    /// "waiting":…,"cursor":…}`
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("namespace", namespace.name)
        writer.member("epoch", cursor.epoch.token)
        writer.member("head", cursor.revision.number)
        writer.member("records", Int64(records))
        writer.member("bytes", Int64(bytes))
        writer.member("tombstones", Int64(tombstones))
        writer.member("invalidations", Int64(invalidations))
        writer.member("clients", Int64(clients))
        writer.member("outcomes", Int64(outcomes))
        writer.member("outcomeBytes", Int64(outcomeBytes))
        writer.member("waiting", Int64(waiting))
        writer.member("cursor", cursor.description)
        writer.endObject()
    }

    /// Reads what ``write(to:)`` writes.
    package init(_ reader: inout JSONReader) throws(WireError) {
        var namespace: Namespace?
        var cursor: Cursor?
        var records = 0
        var bytes = 0
        var tombstones = 0
        var invalidations = 0
        var clients = 0
        var outcomes = 0
        var outcomeBytes = 0
        var waiting = 0
        try reader.beginObject()
        while let name = try reader.nextMember() {
            switch name {
            case "namespace": namespace = try Namespace(try reader.string())
            case "cursor": cursor = try reader.cursor()
            case "records": records = Int(try reader.integer())
            case "bytes": bytes = Int(try reader.integer())
            case "tombstones": tombstones = Int(try reader.integer())
            case "invalidations": invalidations = Int(try reader.integer())
            case "clients": clients = Int(try reader.integer())
            case "outcomes": outcomes = Int(try reader.integer())
            case "outcomeBytes": outcomeBytes = Int(try reader.integer())
            case "waiting": waiting = Int(try reader.integer())
            default: try reader.skip()
            }
        }
        guard let namespace, let cursor else { throw .unexpectedJSON("a namespace's status takes 'namespace' and 'cursor'") }
        self.init(
            namespace: namespace, cursor: cursor, records: records, bytes: bytes, tombstones: tombstones, invalidations: invalidations,
            clients: clients, outcomes: outcomes, outcomeBytes: outcomeBytes, waiting: waiting)
    }
}
