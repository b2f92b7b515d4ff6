extension Change: WireMessage {
    /// Writes the change object, or the sweep object.
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        switch effect {
        case .put(let key, let content, let type, let size):
            begin(key, "put", &writer)
            content?.write(to: &writer)
            if type != Content.json { writer.member("contentType", type) }
            writer.member("size", Int64(size))
        case .delete(let key): begin(key, "delete", &writer)
        case .invalidate(.key(let key)): begin(key, "invalidate", &writer)
        case .invalidate(let scope):
            writer.member("revision", revision.number)
            writer.member("op", word: "invalidate")
            if case .collection(let collection, let prefix) = scope {
                writer.member("collection", collection)
                if !prefix.isEmpty { writer.member("prefix", prefix) }
            }
        }
        if let modified { writer.member("modified", modified.description) }
        if let author {
            writer.member("client", author.client.text)
            writer.member("write", author.write)
        }
        writer.endObject()
    }

    private func begin(_ key: RecordKey, _ operation: StaticString, _ writer: inout JSONWriter) {
        writer.member("key", key)
        writer.member("revision", revision.number)
        writer.member("op", word: operation)
    }

    /// Reads a change object or a sweep object.
    package init(_ reader: inout JSONReader) throws(WireError) {
        var fields = RecordFields()
        var operation: JSONName?
        var collection: String?
        var prefix = ""
        var client: ClientIdentifier?
        var write: Int64?
        try reader.beginObject()
        while let name = try reader.nextMember() {
            switch name {
            case "op": operation = try reader.word()
            case "collection": collection = try reader.string()
            case "prefix": prefix = try reader.string()
            case "client": client = try ClientIdentifier(try reader.string())
            case "write": write = try reader.integer()
            default: if try !fields.take(name, &reader) { try reader.skip() }
            }
        }
        guard let revision = fields.revision, let operation else { throw .unexpectedJSON("a change takes at least 'revision' and 'op'") }
        switch (operation, fields.key) {
        case ("put", let key?):
            let type = fields.content?.type ?? fields.contentType ?? Content.json
            effect = .put(key, content: fields.content, contentType: type, size: fields.size ?? fields.content?.bytes.count ?? 0)
        case ("delete", let key?): effect = .delete(key)
        case ("invalidate", let key?): effect = .invalidate(.key(key))
        case ("invalidate", nil): effect = .invalidate(try Self.sweep(collection, prefix))
        default:
            throw .unexpectedJSON(
                "a change takes 'op' put, delete or invalidate, and a 'key' unless it is a sweep; here it is '\(operation.text.shortened)'")
        }
        self.revision = revision
        modified = fields.modified
        if let client, let write { author = Author(client: client, write: write) }
    }

    private static func sweep(_ collection: String?, _ prefix: String) throws(WireError) -> InvalidationScope {
        guard let collection else { return .everything }
        try RecordKey.check(collection: collection)
        return .collection(collection, prefix: try RecordKey.check(prefix: prefix))
    }
}
