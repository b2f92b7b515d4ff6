internal import FreshetWire

extension KeptOutcome {
    /// Outcomes whose numbers follow each other, as one JSON array: a revision for an applied write, `null` for one without effect,
    /// `{"problem":…,"current"?:true}` for a rejected one.
    static func encode(_ outcomes: [KeptOutcome]) -> [UInt8] {
        var writer = JSONWriter(capacity: outcomes.count * 12 + 2)
        writer.beginArray()
        for outcome in outcomes {
            switch outcome.verdict {
            case .applied(let revision?): writer.integer(revision.number)
            case .applied(nil), .settled: writer.null()
            case .rejected(let problem):
                writer.beginObject()
                writer.member("problem")
                problem.write(to: &writer)
                if outcome.showsRecord { writer.member("current", true) }
                writer.endObject()
            }
        }
        writer.endArray()
        return writer.bytes
    }

    /// - Parameter last: the number of the last of them.
    static func decode(_ bytes: [UInt8], last: Int64) throws(WireError) -> [KeptOutcome] {
        var verdicts: [(WriteOutcome.Verdict, showsRecord: Bool)] = []
        var reader = JSONReader(bytes)
        try reader.beginArray()
        while try reader.nextElement() {
            if try reader.takeNull() {
                verdicts.append((.applied(nil), false))
                continue
            }
            let value = try reader.rawValue()
            if value.first == UInt8(ascii: "{") {
                verdicts.append(try rejection(value))
            } else {
                var number = JSONReader(value)
                verdicts.append((.applied(Revision(try number.integer())), false))
            }
        }
        let first = last - Int64(verdicts.count) + 1
        return verdicts.enumerated().map { KeptOutcome(number: first + Int64($0), verdict: $1.0, showsRecord: $1.showsRecord) }
    }

    private static func rejection(_ bytes: [UInt8]) throws(WireError) -> (WriteOutcome.Verdict, showsRecord: Bool) {
        var problem: Problem?
        var showsRecord = false
        var reader = JSONReader(bytes)
        try reader.beginObject()
        while let name = try reader.nextMember() {
            switch name {
            case "problem": problem = try Problem(&reader)
            default:
                // Its name was 'key' at first, with the record's key.
                showsRecord = showsRecord || name == "current" || name == "key"
                try reader.skip()
            }
        }
        guard let problem else { throw .unexpectedJSON("a kept rejection lacks its problem") }
        return (.rejected(problem), showsRecord)
    }
}
