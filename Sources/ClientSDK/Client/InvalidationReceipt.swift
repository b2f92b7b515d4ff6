internal import FreshetWire

/// The response to an invalidation: `{"revision":…}`.
struct InvalidationReceipt: WireMessage {
    var revision: Revision

    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("revision", revision.number)
        writer.endObject()
    }

    init(_ reader: inout JSONReader) throws(WireError) {
        var revision: Revision?
        try reader.beginObject()
        while let name = try reader.nextMember() {
            if name == "revision" { revision = Revision(try reader.integer()) } else { try reader.skip() }
        }
        guard let revision else { throw .unexpectedJSON("the answer to an invalidation takes 'revision'") }
        self.revision = revision
    }
}
