import FreshetWire

/// What a line can say.
extension ScenarioParser {
    mutating func statement(_ line: inout ScenarioLine) throws(ScenarioError) {
        let first = try line.word("a statement")
        switch first.text {
        case "seed": try seed(&line)
        case "wait": try wait(&line)
        case "device":
            let name = try line.word("after 'device' comes a name, as in 'device A'").text
            if let verb = line.peek(), Vocabulary.verbs.contains(verb) { return try deviceActs(name, &line) }
            try declare(name.hasSuffix(",") ? String(name.dropLast()) : name, &line)
        case "server":
            if line.take("small") { return try smallServer(&line) }
            try serverActs(&line)
        case "servers": try servers(&line)
        case "delays": try wideDelays(&line)
        case "expect": add(.expect(try expectation(&line)))
        case "settle":
            try line.end("'settle' stands alone")
            add(.settle)
        default:
            if let fault = try fault(first.text, &line) { return add(fault) }
            try deviceActs(first.text, &line)
        }
    }

    // MARK: Users

    private mutating func deviceActs(_ name: String, _ line: inout ScenarioLine) throws(ScenarioError) {
        guard let verb = line.peek(), Vocabulary.verbs.contains(verb) else { throw .invalid(line: nil, Self.advice(name, line)) }
        _ = line.take(verb)
        let number = try device(named: name)
        switch verb {
        case "reads", "evicts":
            let rule = "'\(verb)' takes one key, as in '\(name) \(verb) notes/1'"
            let key = try key(&line, rule)
            try line.end(rule)
            add(verb == "reads" ? .read(device: number, key) : .evict(device: number, key))
        case "retries", "discards":
            try line.end("'\(verb)' is about the oldest write of \(name) that was rejected, and takes nothing more")
            add(verb == "retries" ? .retryRejected(device: number) : .discardRejected(device: number))
        case "moves":
            let rule = "that is '\(name) moves to server 2'"
            guard line.take("to", "server"), let server = try serverNumber(&line) else { throw .invalid(line: nil, rule) }
            try line.end(rule)
            add(.roam(device: number, server: server))
        case "switches":
            let rule = "that is '\(name) switches to notes counters', from its next start, or '\(name) switches to everything'"
            guard line.take("to") else { throw .invalid(line: nil, rule) }
            if line.take("everything") {
                try line.end(rule)
                return add(.follow(device: number, []))
            }
            var collections: [String] = []
            repeat { collections.append(try line.word(rule).text) } while !line.isAtEnd
            for collection in collections { try RecordKey.check(collection) }
            add(.follow(device: number, collections))
        case "lists":
            let collection = try line.word("'lists' takes a collection, as in '\(name) lists notes'").text
            try RecordKey.check(collection)
            let listing: ScenarioEvent.Listing =
                line.take("ids", "only")
                ? .ids : line.take("without", "cache") ? .fresh : line.take("for", "an", "observer") ? .observed : .records
            try line.end("after the collection come at most 'ids only', 'without cache' or 'for an observer'")
            add(.list(device: number, collection, listing))
        case "fetches":
            var keys = [try key(&line, "'fetches' takes keys, as in '\(name) fetches notes/1 notes/2'")]
            while !line.isAtEnd { keys.append(try key(&line, "")) }
            add(.fetch(device: number, keys))
        default:
            let (key, operation) = try operation(verb, name, &line)
            let conflict: ScenarioEvent.Conflict
            if line.take("unless", "changed") {
                conflict = .reject
            } else {
                conflict = line.take("merged", "if", "changed") ? .merge : .overwrite
            }
            try line.end("after a write come at most 'unless changed' or 'merged if changed'")
            add(.write(device: number, key, operation, conflict))
        }
    }

    /// A suggestion for a line that begins with no known word and continues with no known verb.
    private static func advice(_ first: String, _ line: ScenarioLine) -> String {
        if let meant = Vocabulary.nearest(to: first, in: Vocabulary.openings) {
            return "no statement begins with '\(first)'; did you mean '\(meant)'?"
        }
        let verbs = Vocabulary.verbs.joined(separator: ", ")
        guard let second = line.peek() else {
            return "'\(first)' says nothing alone: after a device comes one of \(verbs), as in '\(first) reads notes/1'"
        }
        if let meant = Vocabulary.nearest(to: second, in: Vocabulary.verbs) {
            return "'\(second)' is nothing that a device does; did you mean '\(meant)'?"
        }
        let stem = second.hasSuffix("s") ? String(second.dropLast()) : second
        if let meant = Vocabulary.nearest(to: stem, in: Vocabulary.openings) { return "write '\(meant) \(first)', the other way round" }
        return "'\(second)' is nothing that a device does: that is one of \(verbs)"
    }

    private mutating func serverActs(_ line: inout ScenarioLine) throws(ScenarioError) {
        let verb = try line.choice(
            Vocabulary.serverVerbs.map { ($0, $0) },
            "after 'server' comes 'small' or one of \(Vocabulary.serverVerbs.joined(separator: ", "))")
        guard verb == "invalidates" else {
            let (key, operation) = try operation(verb, "server", &line)
            try line.end("nothing comes after the backend's write")
            return add(.serverWrite(key, operation))
        }
        let rule =
            "'invalidates' takes a key, the beginning of one with a star, or everything: 'notes/1', 'notes/1*', 'notes/*', 'everything'"
        let word = try line.word(rule)
        try line.end(rule)
        add(.invalidate(try Self.scope(word, rule)))
    }

    /// A key, the beginning of one with a star, or everything.
    static func scope(_ word: ScenarioLine.Word, _ rule: String) throws(ScenarioError) -> InvalidationScope {
        if !word.isQuoted, word.text == "everything" { return .everything }
        guard word.hasStar else { return .key(try key(word.text, rule)) }
        let start = word.isQuoted ? word.text : String(word.text.dropLast())
        guard let slash = start.utf8.firstIndex(of: UInt8(ascii: "/")) else { throw .invalid(line: nil, "'\(start)' has no '/': \(rule)") }
        let collection = String(start[..<slash])
        try RecordKey.check(collection)
        return .collection(collection, prefix: String(start[start.utf8.index(after: slash)...]))
    }

    // MARK: Writes

    private mutating func operation(
        _ verb: String, _ author: String, _ line: inout ScenarioLine
    ) throws(ScenarioError) -> (RecordKey, WriteOperation) {
        let key = try key(&line, "'\(verb)' takes a key, as in '\(author) \(verb) notes/1'")
        switch verb {
        case "deletes":
            lastValues[key] = .some(nil)
            return (key, .delete)
        case "increments":
            lastValues[key] = nil
            return (key, try increment(&line, "as in '\(author) increments counters/1 /n by 3'"))
        case "merges":
            lastValues[key] = nil
            return (
                key, .patch(try value(&line, "'merges' takes a key and a merge patch, as in '\(author) merges notes/1 {\"v\":2}'").bytes)
            )
        default:
            let isUnnamed = line.isAtEnd || line.peek() == "unless" || line.peek() == "merged"
            if verb == "writes", isUnnamed { unnamedWrites += 1 }
            let content =
                verb == "writes" && isUnnamed
                ? Content(checkedJSON: Array("{\"by\":\"\(author)\",\"write\":\(unnamedWrites)}".utf8))
                : try value(&line, "'\(verb)' takes a key and a JSON value, as in '\(author) \(verb) notes/1 {\"v\":1}'")
            lastValues[key] = content.bytes
            return (key, .put(content))
        }
    }

    private func increment(_ line: inout ScenarioLine, _ example: String) throws(ScenarioError) -> WriteOperation {
        var pointer = ""
        if !line.isAtEnd, !["by", "if", "from", "min", "max"].contains(line.peek()) { pointer = try line.word(example).text }
        var increment: Increment
        do { increment = Increment(path: try JSONPointer(pointer), by: .integer(1)) } catch {
            throw .invalid(line: nil, "\(error.description); \(example)")
        }
        while true {
            if line.take("by") {
                increment.amount = try number("by", &line, example)
            } else if line.take("min") {
                increment.minimum = try number("min", &line, "as in 'min 0'")
            } else if line.take("max") {
                increment.maximum = try number("max", &line, "as in 'max 100'")
            } else if line.take("if", "there") {
                increment.onMissing = .reject
            } else if line.take("from") {
                let initial = try value(&line, "after 'from' comes the JSON that a missing record begins from, as in 'from {\"n\":0}'")
                guard initial.isJSON else { throw .invalid(line: nil, "a record that an increment makes begins from JSON") }
                increment.onMissing = .create(from: initial.bytes)
            } else {
                break
            }
        }
        guard !increment.hasCrossedBounds else { throw .invalid(line: nil, "'min' is above 'max': no sum would do") }
        return .increment(increment)
    }

    private func number(_ word: String, _ line: inout ScenarioLine, _ example: String) throws(ScenarioError) -> JSONNumber {
        let rule = "after '\(word)' comes a JSON number, \(example)"
        guard !line.isAtEnd else { throw .invalid(line: nil, "the line ends too soon: \(rule)") }
        let literal = String(decoding: try line.json(), as: UTF8.self)
        guard let first = literal.utf8.first, first == UInt8(ascii: "-") || (0x30...0x39).contains(first),
            let number = JSONNumber(literal: literal)
        else { throw .invalid(line: nil, "'\(literal)' is no number that can be added: \(rule)") }
        return number
    }

    func key(_ line: inout ScenarioLine, _ rule: String) throws(ScenarioError) -> RecordKey {
        try Self.key(try line.word(rule).text, rule)
    }

    private static func key(_ text: String, _ rule: String) throws(ScenarioError) -> RecordKey {
        do { return try RecordKey(text) } catch { throw .invalid(line: nil, error.description + (rule.isEmpty ? "" : "; \(rule)")) }
    }

    /// A JSON value, or `bytes BASE64 as TYPE`.
    func value(_ line: inout ScenarioLine, _ rule: String) throws(ScenarioError) -> Content {
        guard !line.isAtEnd else { throw .invalid(line: nil, "the value is missing: \(rule)") }
        guard line.take("bytes") else { return Content(checkedJSON: try line.json()) }
        let word = try line.word("after 'bytes' comes base64, as in 'bytes AAEC as image/png'")
        guard let bytes = Base64.decode(word.text) else { throw .invalid(line: nil, "'\(word.text)' is no base64 (RFC 4648, section 4)") }
        let type = line.take("as") ? try line.word("after 'as' comes a media type, as in 'as image/png'").text : Content.json
        guard Content.isJSON(type) else {
            guard Content.isFieldValue(type) else { throw .invalid(line: nil, "'\(type)' is no media type") }
            return Content(bytes: bytes, type: type)
        }
        do { return try Content(json: bytes) } catch {
            throw .invalid(line: nil, "the bytes are no JSON (\(error.description)); say what they are, as in 'as image/png'")
        }
    }
}
