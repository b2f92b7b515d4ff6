extension Problem: WireMessage {
    /// Writes the problem object with its extensions.
    public func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("type", Self.typePrefix + code.text)
        writer.member("title", code.title)
        writer.member("status", Int64(status))
        writer.member("detail", detail)
        if let current {
            writer.member("current")
            current.write(to: &writer)
        }
        if let expected { writer.member("expected", expected) }
        writer.endObject()
    }

    /// Reads a problem object; one of another type than ours keeps its type as the code.
    public init(_ reader: inout JSONReader) throws(WireError) {
        var type = "about:blank"
        var status = 500
        var detail = ""
        var current: Record?
        var expected: Int64?
        try reader.beginObject()
        while let name = try reader.nextMember() {
            switch name {
            case "type": type = try reader.string()
            case "status": status = Int(try reader.integer())
            case "detail": detail = try reader.string()
            case "current": current = try reader.takeNull() ? nil : try Record(&reader)
            case "expected": expected = try reader.integer()
            default: try reader.skip()
            }
        }
        // By bytes: a combining character after the prefix would be one character with its last.
        let isOurs = type.utf8.starts(with: Self.typePrefix.utf8)
        let text = isOurs ? String(Substring(type.utf8.dropFirst(Self.typePrefix.utf8.count))) : type
        self.init(ProblemCode(text: text, status: status), detail, status: status, current: current, expected: expected)
    }
}
