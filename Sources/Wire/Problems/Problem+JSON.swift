extension Problem: WireMessage {
    /// Writes the problem object with its extensions.
    package func write(to writer: inout JSONWriter) {
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
        if let needs {
            writer.member("needs")
            needs.write(to: &writer)
        }
        if let continuation {
            writer.member("fork", continuation.fork.number)
            writer.member("cursor", continuation.cursor.description)
        }
        writer.endObject()
    }

    /// The most bytes, as JSON, that a reader keeps of ``detail`` and of the code. Problems are stored, logged and shown.
    private static let longestDetail = 4_096
    private static let longestCode = 64
    /// The most bytes of a right that a reader keeps. An id has 512, its collection and namespace 127.
    private static let longestNeed = 1_024

    /// Reads a problem object. One of another type than Freshet's keeps its type as the code.
    ///
    /// Texts that are longer than those of a server are shortened, and ``needs`` is left out then: in a response they have no bound
    /// but that of its bytes.
    package init(_ reader: inout JSONReader) throws(WireError) { self = try Self.read(&reader).problem }

    /// The problem in a document whose `type` is one of Freshet's; `nil` if another program wrote the document.
    package static func own(json bytes: [UInt8]) throws(WireError) -> Problem? {
        var reader = JSONReader(bytes, profile: .json)
        let document = try read(&reader)
        try reader.end()
        return document.isOurs ? document.problem : nil
    }

    private static func read(_ reader: inout JSONReader) throws(WireError) -> (problem: Problem, isOurs: Bool) {
        var type = "about:blank"
        var status = 500
        var detail = ""
        var current: Record?
        var expected: Int64?
        var needs: Need?
        var fork: Revision?
        var cursor: Cursor?
        try reader.beginObject()
        while let name = try reader.nextMember() {
            switch name {
            case "type": type = try reader.string()
            case "status": status = Int(try reader.integer())
            case "detail": detail = try reader.string().shortened(toJSONBytes: longestDetail)
            case "current": current = try reader.takeNull() ? nil : try Record(&reader)
            case "expected": expected = try reader.integer()
            case "needs": needs = try Need(&reader)
            case "fork": fork = Revision(try reader.integer())
            case "cursor": cursor = try Cursor(try reader.string())
            default: try reader.skip()
            }
        }
        // By bytes: a combining character after the prefix would be one character with its last.
        let isOurs = type.utf8.starts(with: typePrefix.utf8)
        let text = isOurs ? String(Substring(type.utf8.dropFirst(typePrefix.utf8.count))) : type
        let code = ProblemCode(text: text.shortened(toJSONBytes: longestCode), status: status)
        var problem = Problem(code, detail, status: status, current: current, expected: expected)
        if let needs, needs.may.utf8.count + needs.of.utf8.count <= longestNeed { problem.needs = needs }
        if let fork, let cursor { problem.continuation = Continuation(fork: fork, cursor: cursor) }
        return (problem, isOurs)
    }
}

extension Problem.Need: WireMessage {
    /// `{"may":…,"of":…}`
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("may", may)
        writer.member("of", of)
        writer.endObject()
    }

    /// Reads what ``write(to:)`` writes.
    package init(_ reader: inout JSONReader) throws(WireError) {
        var (may, of) = ("", "")
        try reader.beginObject()
        while let name = try reader.nextMember() {
            switch name {
            case "may": may = try reader.string()
            case "of": of = try reader.string()
            default: try reader.skip()
            }
        }
        self.init(may: may, of: of)
    }
}
