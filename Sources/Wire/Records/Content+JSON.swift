extension Content {
    /// Writes `"value":…` for JSON and `"body":{"base64":…,"contentType":…}` for anything else.
    package func write(to writer: inout JSONWriter) {
        guard !isJSON else {
            writer.member("value")
            return writer.raw(bytes)
        }
        writer.member("body")
        writer.beginObject()
        writer.member("base64", Base64.encode(bytes))
        writer.member("contentType", type)
        writer.endObject()
    }

    /// Reads the value of `body`.
    package static func body(_ reader: inout JSONReader) throws(WireError) -> Content {
        var bytes: [UInt8]?
        var type = "application/octet-stream"
        try reader.beginObject()
        while let name = try reader.nextMember() {
            switch name {
            case "base64":
                guard let decoded = Base64.decode(try reader.string()) else {
                    throw .unexpectedJSON("'base64' under 'body' is not base64 (RFC 4648 §4)")
                }
                bytes = decoded
            case "contentType": type = try reader.string()
            default: try reader.skip()
            }
        }
        guard let bytes else { throw .unexpectedJSON("'body' takes {\"base64\":…,\"contentType\":…}") }
        guard Self.isFieldValue(type) else { throw .unexpectedJSON("'contentType' under 'body' is no media type") }
        return Content(bytes: bytes, type: type)
    }

    /// Checks the rules that every stored value obeys. O(n) in its length.
    /// - Throws: ``WireError`` if bytes under the type of JSON are not JSON that can be stored, or if the type is no media type.
    package func check() throws(WireError) {
        guard !isJSON else { return try JSONReader.validate(bytes) }
        guard Self.isFieldValue(type) else {
            throw .unexpectedJSON(
                "'\(type.shortened)' is no media type: it takes 1 to 255 characters of visible ASCII and spaces, such as image/png")
        }
    }

    /// Whether a text can stand in a `Content-Type` field as it is: visible ASCII and spaces, 1 to 255 bytes.
    package static func isFieldValue(_ type: String) -> Bool {
        (1...255).contains(type.utf8.count) && type.utf8.allSatisfy { (0x20..<0x7F).contains($0) }
    }
}
