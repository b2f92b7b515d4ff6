package import FreshetWire

extension Rights {
    /// Reads an array of grants: at most ``maximumGrants`` with ``maximumRanges`` ranges in all.
    /// - Throws: ``TrustError``, with the place in `bytes`.
    package init(json bytes: [UInt8]) throws(TrustError) {
        var reader = StrictReader(bytes)
        try self.init(&reader)
        try reader.end()
    }

    init(_ reader: inout StrictReader) throws(TrustError) {
        var grants: [Grant] = []
        var remaining = Self.maximumRanges
        try reader.array(atMost: Self.maximumGrants, "grants") { reader throws(TrustError) in
            let text = try GrantText(&reader, remaining: &remaining)
            switch text.grant() {
            case .success(let grant): grants.append(grant)
            case .failure(let error): throw reader.fail(error.description)
            }
        }
        self.init(grants)
    }

    /// Writes the array that ``init(json:)`` reads.
    package func write(to writer: inout JSONWriter) {
        writer.beginArray()
        for grant in grants {
            writer.beginObject()
            writer.member("ns", grant.namespaces.description)
            writer.member("in")
            writer.beginArray()
            for range in grant.ranges.ranges { writer.string(range.rangeText) }
            writer.endArray()
            writer.member("may")
            writer.beginArray()
            for verb in grant.verbs.verbs { writer.string(verb.rawValue) }
            writer.endArray()
            writer.endObject()
        }
        writer.endArray()
    }

    /// The array as JSON.
    package var json: [UInt8] {
        var writer = JSONWriter()
        write(to: &writer)
        return writer.bytes
    }
}
