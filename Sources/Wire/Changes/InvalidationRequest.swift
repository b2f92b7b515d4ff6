/// The body of `POST /v1/{ns}/invalidations`: `{"keys":[…]}`, `{"collection":"c","prefix":"eu-"}` or `{"all":true}`.
package struct InvalidationRequest: WireMessage {
    /// The most keys of one request.
    package static let maximumCount = 10_000

    /// The scopes to invalidate; never empty.
    package var scopes: [InvalidationScope]

    /// A request for `scopes`: either keys alone or one sweep, as the wire has no form for a mixture.
    package init(scopes: [InvalidationScope]) { self.scopes = scopes }

    /// Writes the form that fits, of three.
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        switch scopes.first {
        case .collection(let collection, let prefix)?:
            writer.member("collection", collection)
            if !prefix.isEmpty { writer.member("prefix", prefix) }
        case .everything?: writer.member("all", true)
        case .key?, nil:
            writer.member("keys")
            writer.beginArray()
            for case .key(let key) in scopes { writer.string(key.description) }
            writer.endArray()
        }
        writer.endObject()
    }

    /// Reads one of the three forms; a mixture or nothing is an error.
    package init(_ reader: inout JSONReader) throws(WireError) {
        var keys: [RecordKey]?
        var collection: String?
        var prefix: String?
        var all: Bool?
        try reader.beginObject()
        while let name = try reader.nextMember() {
            switch name {
            case "keys": keys = try reader.elements(atMost: Self.maximumCount, "keys") { reader throws(WireError) in try reader.key() }
            case "collection": collection = try reader.string()
            case "prefix": prefix = try reader.string()
            case "all": all = try reader.boolean()
            default: throw .unexpectedJSON("'\(name.text.shortened)' is unknown: \(Self.forms)")
            }
        }
        switch (keys, collection, all) {
        case (let keys?, nil, nil) where !keys.isEmpty && prefix == nil: scopes = keys.map { .key($0) }
        case (nil, let collection?, nil):
            try RecordKey.check(collection: collection)
            scopes = [.collection(collection, prefix: try RecordKey.check(prefix: prefix ?? ""))]
        case (nil, nil, true?) where prefix == nil: scopes = [.everything]
        default: throw .unexpectedJSON(Self.forms)
        }
    }

    private static let forms =
        "an invalidation takes one of {\"keys\":[\"collection/id\",…]}, {\"collection\":…,\"prefix\"?:…}, {\"all\":true}"
}
