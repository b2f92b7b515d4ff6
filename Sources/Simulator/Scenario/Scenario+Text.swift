import FreshetWire

extension Scenario {
    /// Parses a scenario's text: one statement a line, `#` before a comment. `docs/simulator.md` describes the language.
    ///
    /// ```swift
    /// let scenario = try Scenario(
    ///     text: """
    ///         A puts customers/7 {"name":"Ada"}
    ///         settle
    ///         expect A sees customers/7 {"name":"Ada"}
    ///         """)
    /// ```
    /// O(n) in the length of the text.
    /// - Throws: ``ScenarioError/invalid(line:_:)`` with the line, the words found in it, and the valid alternatives.
    public init(text: String) throws(ScenarioError) {
        var parser = ScenarioParser()
        for (number, bytes) in text.utf8.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
            try parser.read(ScenarioLine(bytes), number: number + 1)
        }
        self = try parser.finish()
    }

    /// The scenario as ``init(text:)`` reads it: for every scenario that can be run, `try Scenario(text: scenario.text) == scenario`.
    public var text: String {
        var lines: [String] = []
        if let seed { lines.append("seed \(seed)") }
        if isServerSmall { lines.append("server small") }
        if servers != 1 { lines.append("servers \(servers)") }
        if hasWideDelays { lines.append("delays wide") }
        lines += devices.map(\.text)
        for incident in incidents {
            if incident.delay > 0 { lines.append("wait \(DurationText.of(incident.delay.magnitude))") }
            lines.append(incident.event.text { devices.indices.contains($0) ? devices[$0].name : "no-device-\($0)" })
        }
        return lines.map { $0 + "\n" }.joined()
    }

    /// Whether it can be run, and written as text.
    /// - Throws: ``ScenarioError/invalid(line:_:)`` for devices that share a name or do not exist, for invalid names, and for times beyond
    ///   a hundred years.
    public func check() throws(ScenarioError) {
        for (number, device) in devices.enumerated() {
            try device.check()
            if devices[..<number].contains(where: { $0.name == device.name }) {
                throw .invalid(line: nil, "two devices have the name \(device.name); give one of them another")
            }
        }
        guard Self.serverCounts.contains(servers) else { throw .invalid(line: nil, "\(servers) servers do not fit: there are 1 to 9") }
        var time: Int64 = 0
        for incident in incidents {
            if let number = incident.event.device, !devices.indices.contains(number) {
                throw .invalid(line: nil, "there is no device number \(number): the scenario has \(devices.count), and the first is 0")
            }
            if case .list(_, let collection, _) = incident.event { try RecordKey.check(collection) }
            if let number = incident.event.server, !(0..<servers).contains(number) {
                throw .invalid(
                    line: nil,
                    "there is no server \(number + 1): the scenario has \(servers); 'servers \(number + 1)' at the top makes more")
            }
            for span in [incident.delay, incident.event.time] where span < 0 || span > ScenarioEvent.untilUndone {
                throw .invalid(line: nil, "a time of \(span) ms does not fit: times are within 0 and a hundred years")
            }
            time += incident.delay
            guard time <= ScenarioEvent.untilUndone else {
                throw .invalid(line: nil, "the incidents take more than a hundred years in all")
            }
        }
    }
}

extension Scenario {
    static let serverCounts = 1...9
}

extension Scenario.Device {
    fileprivate var text: String {
        let place = collections.isEmpty ? "" : " in \(collections.joined(separator: " "))"
        var parts: [String] = []
        if following == .everything { parts.append("follows everything\(place)") }
        if following == .held, !collections.isEmpty { parts.append("follows what it holds\(place)") }
        if hasSmallSteps { parts.append("small steps") }
        if joinsLater { parts.append("joins later") }
        return "device \(name)" + (parts.isEmpty ? "" : " " + parts.joined(separator: ", "))
    }

    func check() throws(ScenarioError) {
        let bytes = Array(name.utf8)
        func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }
        let isName =
            (1...32).contains(bytes.count) && isLetter(bytes[0])
            && bytes.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "-") }
        guard isName else {
            throw .invalid(line: nil, "'\(name)' is no name of a device: it takes a letter, then letters, digits or '-', 32 at most")
        }
        guard !Vocabulary.reserved.contains(name) else {
            throw .invalid(line: nil, "'\(name)' is a word of the language: give the device another name")
        }
        for collection in collections {
            try RecordKey.check(collection)
        }
    }
}

extension ScenarioEvent {
    /// The time that it speaks of, without a sign, in milliseconds; 0 for none.
    fileprivate var time: Int64 {
        switch self {
        case .setClock(_, let change): Int64(clamping: change.magnitude)
        case .messageFault(_, _, .duplicate(let time)), .messageFault(_, _, .delay(let time)): time
        default: duration ?? 0
        }
    }
}
