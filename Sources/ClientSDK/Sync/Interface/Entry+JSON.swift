package import FreshetWire

extension Entry: WireMessage {
    /// `{"key":…,"epoch":…,"revision":…,"asOf":…,"pass":…,"content"?:{…},"lacksValue"?:true,"invalidatedAt"?:…,"modified"?:…,`
    /// `"verifiedAt":…,"origin":…}`
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("key", key.description)
        writer.member("epoch", epoch.token)
        writer.member("revision", revision.number)
        writer.member("asOf", asOf.number)
        writer.member("pass", pass)
        if let content {
            writer.member("content")
            writer.object(content)
        }
        if lacksValue { writer.member("lacksValue", true) }
        if let invalidatedAt { writer.member("invalidatedAt", invalidatedAt.number) }
        if let modified { writer.member("modified", modified.milliseconds) }
        writer.member("verifiedAt", verifiedAt.milliseconds)
        writer.member("origin", origin.rawValue)
        writer.endObject()
    }

    /// Reads what ``write(to:)`` writes.
    package init(_ reader: inout JSONReader) throws(WireError) {
        var key: RecordKey?
        var epoch: Epoch?
        var revision: Revision?
        var asOf: Revision?
        var pass: Int64 = 0
        var content: Content?
        var lacksValue = false
        var invalidatedAt: Revision?
        var modified: Timestamp?
        var verifiedAt = Timestamp(milliseconds: 0)
        var origin = Origin.feed
        try reader.beginObject()
        while let name = try reader.nextMember() {
            switch name {
            case "key": key = try RecordKey(try reader.string())
            case "epoch": epoch = Epoch(try reader.string())
            case "revision": revision = Revision(try reader.integer())
            case "asOf": asOf = Revision(try reader.integer())
            case "pass": pass = try reader.integer()
            case "content": content = try reader.content()
            case "lacksValue": lacksValue = try reader.boolean()
            case "invalidatedAt": invalidatedAt = Revision(try reader.integer())
            case "modified": modified = Timestamp(milliseconds: try reader.integer())
            case "verifiedAt": verifiedAt = Timestamp(milliseconds: try reader.integer())
            case "origin": origin = Origin(rawValue: try reader.integer()) ?? .feed
            default: try reader.skip()
            }
        }
        guard let key, let epoch, let revision, let asOf else {
            throw .unexpectedJSON("an entry takes 'key', 'epoch', 'revision' and 'asOf'")
        }
        self.init(
            key: key, epoch: epoch, revision: revision, asOf: asOf, pass: pass, content: content, lacksValue: lacksValue,
            invalidatedAt: invalidatedAt, modified: modified, verifiedAt: verifiedAt, origin: origin)
    }
}
