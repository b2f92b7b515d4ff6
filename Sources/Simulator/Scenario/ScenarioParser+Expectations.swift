import FreshetWire

/// What a scenario claims.
extension ScenarioParser {
    mutating func expectation(_ line: inout ScenarioLine) throws(ScenarioError) -> Expectation {
        if line.take("server") { return try serverHas(&line) }
        let device = try device(&line, "'expect' takes a device or the server, as in 'expect A is live'")
        let rule = "after the device comes 'sees', 'knows nothing of' or 'is', as in 'expect A sees notes/1 {\"v\":1}'"
        switch try line.choice([("sees", 0), ("knows", 1), ("is", 2)], rule) {
        case 0: return try sees(device, &line)
        case 1:
            let rule = "that is 'knows nothing of' and a key, as in 'expect A knows nothing of notes/1'"
            guard line.take("nothing", "of") else { throw .invalid(line: nil, rule) }
            let key = try key(&line, rule)
            try line.end(rule)
            return .knowsNothing(device: device, key)
        default:
            let rule = "a device is 'live', 'catching up' or 'offline'"
            let standing = try line.choice(
                [("live", Expectation.Standing.live), ("catching", .catchingUp), ("catching-up", .catchingUp), ("offline", .offline)], rule)
            if standing == .catchingUp { _ = line.take("up") }
            try line.end(rule)
            return .status(device: device, standing)
        }
    }

    private mutating func sees(_ device: Int, _ line: inout ScenarioLine) throws(ScenarioError) -> Expectation {
        let rule = "after 'sees' come a key and a value, 'pending' or 'settled', or 'nothing at' and a key"
        if line.take("nothing", "at") {
            let key = try key(&line, rule)
            try line.end(rule)
            return .shows(device: device, key, nil)
        }
        let key = try key(&line, rule)
        for (word, isPending) in [("pending", true), ("settled", false)] where line.take(word) {
            try line.end(rule)
            return .pending(device: device, key, isPending)
        }
        return .shows(device: device, key, try expected(key, &line, rule))
    }

    private mutating func serverHas(_ line: inout ScenarioLine) throws(ScenarioError) -> Expectation {
        let rule = "after 'server' comes 'has' with a key and a value, or 'has nothing at' and a key"
        guard line.take("has") else { throw .invalid(line: nil, rule) }
        if line.take("nothing", "at") {
            let key = try key(&line, rule)
            try line.end(rule)
            return .server(key, nil)
        }
        let key = try key(&line, rule)
        return .server(key, try expected(key, &line, rule))
    }

    /// The value that the line names, or what was put there last.
    private func expected(_ key: RecordKey, _ line: inout ScenarioLine, _ rule: String) throws(ScenarioError) -> [UInt8]? {
        if line.isAtEnd {
            guard let last = lastValues[key] else {
                throw .invalid(line: nil, "no line before says which value \(key.word) has; name it: \(rule)")
            }
            return last
        }
        let bytes = try value(&line, rule).bytes
        try line.end(rule)
        return bytes
    }
}

extension Expectation {
    /// Whether a value equals the expected one as JSON; white space does not matter.
    static func matches(_ found: [UInt8]?, _ wanted: [UInt8]?) -> Bool {
        if found == wanted { return true }
        guard let found, let wanted, let left = try? JSONDocument(found), let right = try? JSONDocument(wanted) else { return false }
        return left == right
    }
}
