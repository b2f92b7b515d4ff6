extension Write: WireMessage {
    /// `{"number":7,"op":"put","key":…,"value":…,"ifRevision"?:…,"nonce"?:…,"origin"?:…}`
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("number", number)
        writer.member("op", operation.name)
        writer.member("key", key)
        switch operation {
        case .put(let content): content.write(to: &writer)
        case .patch(let patch):
            writer.member("value")
            writer.raw(patch)
        case .delete: break
        case .increment(let increment): increment.write(to: &writer)
        }
        if let ifRevision { writer.member("ifRevision", ifRevision.number) }
        if let nonce { writer.member("nonce", nonce) }
        if let origin {
            writer.member("origin")
            origin.write(to: &writer)
        }
        writer.endObject()
    }

    /// Reads what ``write(to:)`` writes.
    package init(_ reader: inout JSONReader) throws(WireError) { try self.init(&reader, numberedFrom: 1) }

    /// - Parameter lowest: the lowest number that the write may have: a stored one may have lost its number.
    package init(_ reader: inout JSONReader, numberedFrom lowest: Int64) throws(WireError) {
        var number: Int64?
        var operation: JSONName?
        var key: RecordKey?
        var content: Content?
        var increment = IncrementMembers()
        var ifRevision: Revision?
        var nonce: Int64?
        var origin: Origin?
        try reader.beginObject()
        while let name = try reader.nextMember() {
            switch name {
            case "number": number = try reader.integer()
            case "op": operation = try reader.word()
            case "key": key = try reader.key()
            case "value", "body":
                guard content == nil else { throw .unexpectedJSON("a write takes 'value' or 'body', not both") }
                content = name == "value" ? Content(checkedJSON: try reader.rawValue()) : try Content.body(&reader)
            case "ifRevision": ifRevision = try reader.takeNull() ? nil : try reader.revision()
            case "nonce": nonce = try reader.takeNull() ? nil : try reader.integer()
            case "origin": origin = try reader.takeNull() ? nil : try Origin(&reader)
            case "path", "by", "onMissing", "min", "max": try increment.read(name, &reader)
            default: try reader.skip()
            }
        }
        guard let number, (lowest...Revision.maximum.number).contains(number) else {
            throw .unexpectedJSON("a write takes 'number', a whole number from 1 to 2^53-1")
        }
        guard let key else { throw .unexpectedJSON("write \(number) lacks 'key'") }
        guard nonce.map((1...Revision.maximum.number).contains) ?? true else {
            throw .unexpectedJSON("write \(number) has a 'nonce' that is no whole number from 1 to 2^53-1")
        }
        self.init(
            number: number, key: key, operation: try Self.operation(operation, number, content, increment), ifRevision: ifRevision,
            nonce: nonce, origin: origin)
    }

    private static func operation(
        _ name: JSONName?, _ number: Int64, _ content: Content?, _ increment: IncrementMembers
    ) throws(WireError) -> WriteOperation {
        guard let name else { throw .unexpectedJSON("write \(number) lacks 'op': it takes put, patch, delete or increment") }
        switch name {
        case "put":
            guard let content else { throw .unexpectedJSON("write \(number) is a put and lacks 'value' (or 'body', if it is not JSON)") }
            return .put(content)
        case "patch":
            guard let content, content.isJSON else { throw .unexpectedJSON("write \(number) is a patch and lacks 'value', a merge patch") }
            return .patch(content.bytes)
        case "delete": return .delete
        case "increment":
            return .increment(try increment.increment(number, content))
        default:
            throw .unexpectedJSON("write \(number) has the 'op' '\(name.text.shortened)': it takes put, patch, delete or increment")
        }
    }
}

extension Write.Origin: WireMessage {
    /// `{"client":"till-1","number":7}`
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("client", client.text)
        writer.member("number", number)
        writer.endObject()
    }

    /// Reads what ``write(to:)`` writes.
    package init(_ reader: inout JSONReader) throws(WireError) {
        var client: ClientIdentifier?
        var number: Int64?
        try reader.beginObject()
        while let name = try reader.nextMember() {
            switch name {
            case "client": client = try ClientIdentifier(try reader.string())
            case "number": number = try reader.integer()
            default: try reader.skip()
            }
        }
        guard let client, let number, (1...Revision.maximum.number).contains(number) else {
            throw .unexpectedJSON("an origin takes 'client' and 'number', a whole number from 1 to 2^53-1")
        }
        self.init(client: client, number: number)
    }
}
