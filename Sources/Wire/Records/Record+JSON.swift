extension Record: WireMessage {
    /// Writes the record object.
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("key", key)
        writer.member("revision", revision.number)
        content?.write(to: &writer)
        writer.member("contentType", contentType)
        writer.member("size", Int64(size))
        writer.member("modified", modified.description)
        writer.endObject()
    }

    /// Reads a record object.
    package init(_ reader: inout JSONReader) throws(WireError) {
        var fields = RecordFields()
        try reader.beginObject()
        while let name = try reader.nextMember() {
            if try !fields.take(name, &reader) { try reader.skip() }
        }
        guard let key = fields.key, let revision = fields.revision else {
            throw .unexpectedJSON("a record takes at least 'key' and 'revision'")
        }
        let modified = fields.modified ?? Timestamp(milliseconds: 0)
        if let content = fields.content {
            self.init(key: key, revision: revision, content: content, modified: modified)
        } else {
            self.init(
                key: key, revision: revision, contentType: fields.contentType ?? Content.json, size: fields.size ?? 0, modified: modified)
        }
    }
}

extension Record {
    /// Reads the next record of several. One that is JSON, but that this reader does not understand, does not stop the others: it is
    /// read as a record whose value was left out. Then copies of other revisions are stale, and a client reads it separately.
    /// - Throws: ``WireError`` if its key or its revision is not understood either: it is not known which copies are stale then.
    static func element(_ reader: inout JSONReader) throws(WireError) -> Record {
        let start = reader.mark
        do { return try Record(&reader) } catch {
            reader.rewind(to: start)
            return try outline(&reader, error)
        }
    }

    private static func outline(_ reader: inout JSONReader, _ error: WireError) throws(WireError) -> Record {
        var key: RecordKey?
        var revision: Revision?
        try reader.beginObject()
        while let name = try reader.nextMember() {
            switch name {
            case "key": key = try reader.key()
            case "revision": revision = try reader.revision()
            default: try reader.skip()
            }
        }
        guard let key, let revision else { throw error }
        return Record(key: key, revision: revision, contentType: Content.json, size: 0, modified: Timestamp(milliseconds: 0))
    }
}

/// The members that record objects and changes have in common.
struct RecordFields {
    var key: RecordKey?
    var revision: Revision?
    var content: Content?
    var contentType: String?
    var size: Int?
    var modified: Timestamp?

    /// Takes the member's value if it is one of these, and returns true; otherwise leaves the value unread.
    mutating func take(_ name: JSONName, _ reader: inout JSONReader) throws(WireError) -> Bool {
        switch name {
        case "key": key = try reader.key()
        case "revision": revision = try reader.revision()
        case "value": content = Content(checkedJSON: try reader.rawValue())
        case "body":
            let body = try Content.body(&reader)
            // A device writes JSON into its rows unchanged.
            if body.isJSON { try JSONReader.validate(body.bytes, profile: .json) }
            content = body
        case "contentType":
            let type = try reader.string()
            // No value that a server stores has another one.
            contentType = Content.isFieldValue(type) ? type : nil
        case "size": size = Int(try reader.integer())
        case "modified": modified = Timestamp(try reader.string())
        default: return false
        }
        return true
    }
}

extension [Record] {
    /// About as many bytes as the records take as JSON, at least where their values are large.
    var expectedLength: Int {
        reduce(0) { sum, record in
            let value = record.content.map { $0.isJSON ? $0.bytes.count : $0.bytes.count / 3 * 4 } ?? 0
            return sum + value + record.key.id.utf8.count + 256
        }
    }
}
