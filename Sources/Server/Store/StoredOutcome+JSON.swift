package import FreshetWire

extension StoredOutcome {
    /// The most outcomes of one row. All of a row are decoded to find one, so a repeat of one write must not read the whole
    /// batch that it was in.
    private static let rowCount = 32

    /// Divides outcomes with consecutive numbers into the rows of a table.
    ///
    /// - Parameter body: takes the outcomes of a row, and the number of its last one.
    package static func forEachRow(_ outcomes: [StoredOutcome], _ body: (ArraySlice<StoredOutcome>, Int64) throws -> Void) rethrows {
        for start in stride(from: 0, to: outcomes.count, by: rowCount) {
            let row = outcomes[start..<min(start + rowCount, outcomes.count)]
            if let last = row.last { try body(row, last.number) }
        }
    }

    /// Encodes outcomes with consecutive numbers as one JSON array: a revision for an applied write, `null` for one
    /// without effect, `{"problem":…,"current"?:true}` for a rejected one. If the write had a nonce, the element is an
    /// array of that and the nonce. `{"from":…}` stands for all numbers from that one on that were left out.
    package static func encode(_ outcomes: ArraySlice<StoredOutcome>) -> [UInt8] {
        var writer = JSONWriter(capacity: outcomes.count * 12 + 2)
        writer.beginArray()
        for outcome in outcomes {
            if outcome.nonce != nil { writer.beginArray() }
            switch outcome.verdict {
            case .applied(let revision?): writer.integer(revision.number)
            case .settled where outcome.leavesOutFrom != nil:
                writer.beginObject()
                writer.member("from", outcome.numbers.lowerBound)
                writer.endObject()
            case .applied(nil), .settled: writer.null()
            case .rejected(let problem):
                writer.beginObject()
                writer.member("problem")
                problem.write(to: &writer)
                if outcome.showsRecord { writer.member("current", true) }
                writer.endObject()
            }
            if let nonce = outcome.nonce {
                writer.integer(nonce)
                writer.endArray()
            }
        }
        writer.endArray()
        return writer.bytes
    }

    /// - Parameter last: the number of the last outcome.
    package static func decode(_ bytes: [UInt8], last: Int64) throws(WireError) -> [StoredOutcome] {
        var outcomes: [StoredOutcome] = []
        var reader = JSONReader(bytes)
        try reader.beginArray()
        while try reader.nextElement() { outcomes.append(try outcome(&reader)) }
        let first = last - Int64(outcomes.count) + 1
        for index in outcomes.indices { outcomes[index].number = first + Int64(index) }
        return outcomes
    }

    /// One element, without its number.
    private static func outcome(_ reader: inout JSONReader) throws(WireError) -> StoredOutcome {
        if try reader.takeNull() { return StoredOutcome(number: 0, verdict: .applied(nil)) }
        let value = try reader.rawValue()
        switch value.first {
        case UInt8(ascii: "["):
            var pair = JSONReader(value)
            try pair.beginArray()
            guard try pair.nextElement() else { throw .unexpectedJSON("a kept outcome is empty") }
            var outcome = try outcome(&pair)
            if try pair.nextElement() { outcome.nonce = try pair.integer() }
            return outcome
        case UInt8(ascii: "{"):
            return try outcome(ofObject: value)
        default:
            var number = JSONReader(value)
            return StoredOutcome(number: 0, verdict: .applied(Revision(try number.integer())))
        }
    }

    private static func outcome(ofObject bytes: [UInt8]) throws(WireError) -> StoredOutcome {
        var problem: Problem?
        var first: Int64?
        var showsRecord = false
        var reader = JSONReader(bytes)
        try reader.beginObject()
        while let name = try reader.nextMember() {
            switch name {
            case "problem": problem = try Problem(&reader)
            case "from": first = try reader.integer()
            default:
                // The member was called 'key' at first, and had the record's key.
                showsRecord = showsRecord || name == "current" || name == "key"
                try reader.skip()
            }
        }
        if let first {
            var outcome = StoredOutcome(number: 0, verdict: .settled)
            outcome.leavesOutFrom = first
            return outcome
        }
        guard let problem else { throw .unexpectedJSON("a kept rejection lacks its problem") }
        return StoredOutcome(number: 0, verdict: .rejected(problem), showsRecord: showsRecord)
    }
}
