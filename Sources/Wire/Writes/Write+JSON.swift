extension Write: WireMessage {
    /// `{"number":7,"op":"put","key":…,"value":…,"ifRevision"?:…}`
    public func write(to writer: inout JSONWriter) {
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
        case .increment(let path, let amount):
            writer.member("path", path.description)
            writer.member("by")
            writer.raw(amount.description.utf8)
        }
        if let ifRevision { writer.member("ifRevision", ifRevision.number) }
        writer.endObject()
    }

    /// Reads what ``write(to:)`` writes.
    public init(_ reader: inout JSONReader) throws(WireError) {
        var number: Int64?
        var operation: JSONName?
        var key: RecordKey?
        var content: Content?
        var path: JSONPointer?
        var amount: JSONNumber?
        var ifRevision: Revision?
        try reader.beginObject()
        while let name = try reader.nextMember() {
            switch name {
            case "number": number = try reader.integer()
            case "op": operation = try reader.word()
            case "path": path = try JSONPointer(try reader.string())
            case "by":
                let literal = try reader.number()
                amount = JSONNumber(literal: literal)
                guard amount != nil else { throw .unexpectedJSON("'by' is \(literal.shortened), which is beyond the range of numbers") }
            case "ifRevision": ifRevision = try reader.takeNull() ? nil : try reader.revision()
            case "key": key = try reader.key()
            case "value", "body":
                guard content == nil else { throw .unexpectedJSON("a write takes 'value' or 'body', not both") }
                content = name == "value" ? Content(checkedJSON: try reader.rawValue()) : try Content.body(&reader)
            default: try reader.skip()
            }
        }
        guard let number, (1...Revision.maximum.number).contains(number) else {
            throw .unexpectedJSON("a write takes 'number', a whole number from 1 to 2^53-1")
        }
        guard let key else { throw .unexpectedJSON("write \(number) lacks 'key'") }
        self.init(
            number: number, key: key, operation: try Self.operation(operation, number, content, path, amount), ifRevision: ifRevision
        )
    }

    private static func operation(
        _ name: JSONName?, _ number: Int64, _ content: Content?, _ path: JSONPointer?, _ amount: JSONNumber?
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
            guard let path, let amount else { throw .unexpectedJSON("write \(number) is an increment and takes 'path' and 'by'") }
            return .increment(path: path, by: amount)
        default:
            throw .unexpectedJSON("write \(number) has the 'op' '\(name.text.shortened)': it takes put, patch, delete or increment")
        }
    }
}
