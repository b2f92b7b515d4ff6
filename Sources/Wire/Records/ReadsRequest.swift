/// The body of `POST /v1/{ns}/reads`: many records at once, only those that differ from the client's. Equal keys are
/// answered once, as the first of them asks.
package struct ReadsRequest: WireMessage {
    /// A requested record, and the revision at which the client has it, if it has.
    package struct Item: Hashable, Sendable {
        /// The record's address.
        package var key: RecordKey
        /// The revision that the client has; a record at this revision is not sent again.
        package var revision: Revision?

        /// An item.
        package init(key: RecordKey, revision: Revision? = nil) {
            self.key = key
            self.revision = revision
        }
    }

    /// The most keys of one request.
    package static let maximumCount = 10_000

    /// The requested records.
    package var items: [Item]
    /// The device whose last decided write the response states.
    package var client: ClientIdentifier?

    /// A request for `items`.
    package init(items: [Item], client: ClientIdentifier? = nil) {
        self.items = items
        self.client = client
    }

    /// `{"client"?:…,"keys":[{"key":…,"revision"?:…}]}`
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        if let client { writer.member("client", client.text) }
        writer.member("keys")
        writer.beginArray()
        for item in items {
            writer.beginObject()
            writer.member("key", item.key)
            if let revision = item.revision { writer.member("revision", revision.number) }
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
    }

    /// Reads what ``write(to:)`` writes.
    package init(_ reader: inout JSONReader) throws(WireError) {
        var items: [Item]?
        var client: ClientIdentifier?
        try reader.beginObject()
        while let name = try reader.nextMember() {
            switch name {
            case "client": client = try ClientIdentifier(try reader.string())
            case "keys": items = try reader.elements(atMost: Self.maximumCount, "keys") { reader throws(WireError) in try Item(&reader) }
            default: try reader.skip()
            }
        }
        guard let items else { throw .unexpectedJSON("reads take {\"keys\":[{\"key\":…,\"revision\"?:…}]}") }
        self.init(items: items, client: client)
    }
}

extension ReadsRequest.Item {
    init(_ reader: inout JSONReader) throws(WireError) {
        var key: RecordKey?
        var revision: Revision?
        try reader.beginObject()
        while let name = try reader.nextMember() {
            switch name {
            case "key": key = try reader.key()
            case "revision": revision = try reader.takeNull() ? nil : try reader.revision()
            default: try reader.skip()
            }
        }
        guard let key else { throw .unexpectedJSON("each of 'keys' takes a 'key'") }
        self.init(key: key, revision: revision)
    }
}
