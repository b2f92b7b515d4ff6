extension WriteOutcome: WireMessage {
    /// `{"number":7,"status":"applied","revision":1043}` or `{"number":8,"status":"rejected","problem":{…}}`
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("number", number)
        switch verdict {
        case .applied(let revision):
            writer.member("status", word: "applied")
            if let revision { writer.member("revision", revision.number) }
        case .rejected(let problem):
            writer.member("status", word: "rejected")
            writer.member("problem")
            problem.write(to: &writer)
        case .settled: writer.member("status", word: "settled")
        }
        writer.endObject()
    }

    /// Reads what ``write(to:)`` writes.
    package init(_ reader: inout JSONReader) throws(WireError) {
        var number: Int64?
        var status: JSONName?
        var revision: Revision?
        var problem: Problem?
        try reader.beginObject()
        while let name = try reader.nextMember() {
            switch name {
            case "number": number = try reader.integer()
            case "status": status = try reader.word()
            case "revision": revision = try reader.takeNull() ? nil : try reader.revision()
            case "problem": problem = try Problem(&reader)
            default: try reader.skip()
            }
        }
        guard let number else { throw .unexpectedJSON("an outcome lacks 'number'") }
        guard let status else { throw .unexpectedJSON("the outcome of write \(number) lacks 'status'") }
        switch (status, problem) {
        case ("applied", _): self.init(number: number, verdict: .applied(revision))
        case ("rejected", let problem?): self.init(number: number, verdict: .rejected(problem))
        case ("settled", _): self.init(number: number, verdict: .settled)
        default: throw .unexpectedJSON("the outcome of write \(number) takes 'status' applied, rejected with a 'problem', or settled")
        }
    }
}
