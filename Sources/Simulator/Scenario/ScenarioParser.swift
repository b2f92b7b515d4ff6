import FreshetWire

/// Reads a scenario's text line by line.
struct ScenarioParser {
    var scenario = Scenario()
    private var numbers: [String: Int] = [:]
    /// There is a `device` line, so that all devices need one.
    private var hasDeclarations = false
    private var delay: Int64?
    private var total: Int64 = 0
    private var lastLine = 0
    /// The last value put at each key, as far as the text alone shows it, for expectations that name no value.
    var lastValues: [RecordKey: [UInt8]?] = [:]
    /// How many writes named no value.
    var unnamedWrites = 0

    mutating func read(_ line: ScenarioLine, number: Int) throws(ScenarioError) {
        var rest = line
        guard !rest.isAtEnd else { return }
        lastLine = number
        do throws(ScenarioError) {
            try statement(&rest)
        } catch {
            guard case .invalid(_, let text) = error else { throw error }
            throw .invalid(line: number, "'\(line.excerpt)': \(text)")
        }
    }

    func finish() throws(ScenarioError) -> Scenario {
        if delay != nil {
            throw .invalid(
                line: lastLine, "nothing comes after 'wait', which says when the next thing happens: add 'settle' or an expectation")
        }
        try scenario.check()
        return scenario
    }

    mutating func add(_ event: ScenarioEvent) {
        scenario.add(event, after: delay ?? 0)
        delay = nil
    }

    // MARK: The header

    mutating func seed(_ line: inout ScenarioLine) throws(ScenarioError) {
        let rule = "'seed' takes a whole number within 0 and 2^64-1, as in 'seed 17'"
        let word = try line.word(rule)
        guard let seed = UInt64(word.text) else { throw .invalid(line: nil, "'\(word.text)' is no seed: \(rule)") }
        guard scenario.seed == nil else { throw .invalid(line: nil, "there is a seed already; a scenario has one") }
        try line.end(rule)
        try checkHeader("seed")
        scenario.seed = seed
    }

    mutating func smallServer(_ line: inout ScenarioLine) throws(ScenarioError) {
        try line.end("'server small' is all")
        try checkHeader("server small")
        scenario.isServerSmall = true
    }

    mutating func servers(_ line: inout ScenarioLine) throws(ScenarioError) {
        let rule = "'servers' takes a number from 1 to \(Scenario.serverCounts.upperBound), as in 'servers 3'"
        guard let number = Int(try line.word(rule).text), Scenario.serverCounts.contains(number) else { throw .invalid(line: nil, rule) }
        try line.end(rule)
        try checkHeader("servers")
        scenario.servers = number
    }

    mutating func wideDelays(_ line: inout ScenarioLine) throws(ScenarioError) {
        let rule = "'delays wide' is all"
        guard try line.word(rule).text == "wide" else { throw .invalid(line: nil, rule) }
        try line.end(rule)
        try checkHeader("delays wide")
        scenario.hasWideDelays = true
    }

    private func checkHeader(_ word: String) throws(ScenarioError) {
        guard scenario.incidents.isEmpty, delay == nil else {
            throw .invalid(line: nil, "'\(word)' stands before all that happens; move the line up")
        }
    }

    // MARK: Devices

    /// Parses the rest of a line after `device NAME`: `follows everything in notes counters, small steps, joins later`.
    mutating func declare(_ name: String, _ line: inout ScenarioLine) throws(ScenarioError) {
        try checkHeader("device")
        guard hasDeclarations || numbers.isEmpty else {
            throw .invalid(line: nil, "an earlier line names a device already; 'device' lines stand before all others that name one")
        }
        guard numbers[name] == nil else { throw .invalid(line: nil, "there is a device \(name) already; give this one another name") }
        var device = Scenario.Device(name)
        var parts: [[String]] = [[]]
        while let word = try line.word() {
            for (place, part) in word.text.split(separator: ",", omittingEmptySubsequences: false).enumerated() {
                if place > 0 { parts.append([]) }
                if !part.isEmpty { parts[parts.count - 1].append(String(part)) }
            }
        }
        for part in parts where !part.isEmpty { try Self.apply(part, to: &device) }
        try device.check()
        hasDeclarations = true
        numbers[name] = scenario.devices.count
        scenario.devices.append(device)
    }

    private static func apply(_ part: [String], to device: inout Scenario.Device) throws(ScenarioError) {
        let words = part[0] == "with" || part[0] == "and" ? Array(part.dropFirst()) : part
        switch words {
        case ["small", "steps"]: device.hasSmallSteps = true
        case ["joins", "later"]: device.joinsLater = true
        default:
            let end = words.firstIndex(of: "in") ?? words.count
            switch Array(words[..<end]) {
            case ["follows", "everything"]: device.following = .everything
            case ["follows", "what", "it", "holds"]: device.following = .held
            default:
                throw .invalid(
                    line: nil,
                    "'\(part.joined(separator: " "))' does not fit: after the name come, with commas between them, 'follows everything' or "
                        + "'follows what it holds' (and 'in' with collections), 'small steps', 'joins later'")
            }
            device.collections = Array(words[end...].dropFirst())
            guard end == words.count || !device.collections.isEmpty else {
                throw .invalid(line: nil, "after 'in' come collections, as in 'follows everything in notes counters'")
            }
        }
    }

    /// A device by its name.
    mutating func device(_ line: inout ScenarioLine, _ rule: String) throws(ScenarioError) -> Int {
        _ = line.take("device")
        return try device(named: try line.word(rule).text)
    }

    mutating func device(named name: String, joinsLater: Bool = false) throws(ScenarioError) -> Int {
        if let number = numbers[name] { return number }
        let device = Scenario.Device(name, joinsLater: joinsLater)
        try device.check()
        guard !hasDeclarations else {
            let names = scenario.devices.map(\.name)
            let hint = Vocabulary.nearest(to: name, in: names).map { "did you mean \($0)?" } ?? "add the line 'device \(name)' at the top"
            throw .invalid(line: nil, "there is no device \(name), only \(names.joined(separator: ", ")); \(hint)")
        }
        numbers[name] = scenario.devices.count
        scenario.devices.append(device)
        return scenario.devices.count - 1
    }

    // MARK: Time

    mutating func wait(_ line: inout ScenarioLine) throws(ScenarioError) {
        let rule = "'wait' takes a duration, as in 'wait 5s'"
        let time = try duration(&line, rule)
        try line.end(rule)
        total += time
        guard total <= ScenarioEvent.untilUndone else {
            throw .invalid(line: nil, "that makes more than a hundred years in all, the longest there is")
        }
        delay = (delay ?? 0) + time
    }

    func duration(_ line: inout ScenarioLine, _ rule: String) throws(ScenarioError) -> Int64 {
        let word = try line.word(rule)
        guard let time = DurationText.read(word.text) else {
            throw .invalid(line: nil, "'\(word.text)' is no duration, which is a whole number with ms, s, m, h or d: \(rule)")
        }
        guard time <= ScenarioEvent.untilUndone else {
            throw .invalid(line: nil, "'\(word.text)' is more than a hundred years, the longest there is")
        }
        return time
    }

    /// `for 5m` at the end of a line, or nothing where the fault can be undone.
    func lasting(_ line: inout ScenarioLine, undoneBy undo: String?, after subject: String = "the device") throws(ScenarioError) -> Int64 {
        if undo != nil, line.isAtEnd { return ScenarioEvent.untilUndone }
        let rule =
            "after \(subject) comes 'for' and a duration, as in 'for 5m'" + (undo.map { ", or nothing: then it lasts until '\($0)'" } ?? "")
        let word = try line.word(rule)
        guard word.text == "for" else { throw .invalid(line: nil, "'\(word.text)' does not fit here: \(rule)") }
        let time = try duration(&line, rule)
        try line.end(rule)
        return time
    }
}
