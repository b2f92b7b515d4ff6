/// The faults of devices, links and the server.
extension ScenarioParser {
    /// The fault that begins with this word; `nil` if none does.
    mutating func fault(_ verb: String, _ line: inout ScenarioLine) throws(ScenarioError) -> ScenarioEvent? {
        switch verb {
        case "partition":
            let device = try device(&line, "'partition' takes a device, as in 'partition A for 5m'")
            var direction = ScenarioEvent.Direction.both
            for candidate in [ScenarioEvent.Direction.requests, .replies] where line.take(candidate.rawValue) { direction = candidate }
            return .partition(device: device, direction, try lasting(&line, undoneBy: "heal"))
        case "unplug":
            return .unplug(
                device: try device(&line, "'unplug' takes a device, as in 'unplug A for 5m'"), try lasting(&line, undoneBy: "heal"))
        case "slow":
            return .slow(device: try device(&line, "'slow' takes a device, as in 'slow A for 5m'"), try lasting(&line, undoneBy: "heal"))
        case "sleep":
            return .sleep(device: try device(&line, "'sleep' takes a device, as in 'sleep A for 3h'"), try lasting(&line, undoneBy: "wake"))
        case "crash":
            let process = try process(&line, "'crash' takes a device or the server, as in 'crash A for 2s' or 'crash server for 2s'")
            let one = process == .server ? try serverNumber(&line) : nil
            let time = try lasting(&line, undoneBy: "start", after: "who crashes")
            if let one { return .crashOneServer(one, down: time) }
            if case .device(let number) = process { return .crash(device: number, down: time) }
            return .crashServer(down: time)
        case "postpone":
            let rule = "that is 'postpone closures of A for 5s'"
            guard line.take("closures", "of") else { throw .invalid(line: nil, rule) }
            return .postponeClosures(device: try device(&line, rule), try lasting(&line, undoneBy: nil, after: "the device"))
        case "announcements": return try peerFault(&line)
        case "refuse": return try refusal(&line)
        case "intercept": return try interception(&line)
        case "disk":
            let rule = "'disk' takes a device or the server, and what is wrong, as in 'disk A full for 5s'"
            let process = try process(&line, rule)
            let trouble =
                try process == .server
                ? line.choice(
                    ScenarioEvent.DiskFault.allCases.map { ($0.rawValue, $0) },
                    "the server's disk is full, failing, slow or unsure, as in 'disk server full for 5s'")
                : line.choice(
                    ScenarioEvent.DiskFault.ofDevices.map { ($0.rawValue, $0) },
                    "a device's disk is full, failing or slow, as in 'disk A full for 5s'")
            return .disk(process, trouble, try lasting(&line, undoneBy: nil, after: "the trouble"))
        case "clock":
            let rule = "'clock' takes a device or the server and a change, as in 'clock A forward 3h' or 'clock server back 2d'"
            let process = try process(&line, rule)
            let sign = try line.choice([("forward", Int64(1)), ("back", Int64(-1))], rule)
            let time = try duration(&line, rule)
            try line.end(rule)
            return .setClock(process, by: sign * time)
        case "delay", "duplicate", "garble": return try messageFault(verb, &line)
        case "cut", "drop":
            if verb == "drop", line.take("server") { return try alone(.drop, &line) }
            guard verb == "cut", line.take("connections") else { return try messageFault(verb, &line) }
            _ = line.take("of")
            return try alone(.cutConnections(device: try device(&line, "'cut connections of' takes a device")), &line)
        default: return try simple(verb, &line)
        }
    }

    /// Statements of a word and who it is about.
    private mutating func simple(_ verb: String, _ line: inout ScenarioLine) throws(ScenarioError) -> ScenarioEvent? {
        let rule = "'\(verb)' takes a device, as in '\(verb) A', and nothing more"
        switch verb {
        case "heal":
            if line.take("everything") { return try alone(.healAll, &line) }
            return try alone(.heal(device: try device(&line, rule)), &line)
        case "wake": return try alone(.wake(device: try device(&line, rule)), &line)
        case "reconnect": return try alone(.reconnect(device: try device(&line, rule)), &line)
        case "copy", "replace":
            let rule = "that is '\(verb) disk of A'"
            guard line.take("disk", "of") else { throw .invalid(line: nil, rule) }
            let device = try device(&line, rule)
            return try alone(verb == "copy" ? .copyDisk(device: device) : .replaceDisk(device: device), &line)
        case "clear": return try alone(.clear(device: try device(&line, rule)), &line)
        case "start": return try alone(.start(try process(&line, "'start' takes a device or the server, as in 'start server'")), &line)
        case "join":
            _ = line.take("device")
            return try alone(.join(device: try device(named: try line.word(rule).text, joinsLater: true)), &line)
        case "expire":
            let rule = "that is 'expire token of A'"
            guard line.take("token") else { throw .invalid(line: nil, rule) }
            _ = line.take("of")
            return try alone(.refuse(device: try device(&line, rule), .tokenExpired, 0), &line)
        case "revoke":
            let rule = "that is 'revoke token of A'"
            guard line.take("token", "of") else { throw .invalid(line: nil, rule) }
            return try alone(.revoke(device: try device(&line, rule)), &line)
        case "grant": return .grant(device: try device(&line, Self.grantRule), try access(&line))
        case "back":
            guard line.take("up", "server") else { throw .invalid(line: nil, "that is 'back up server'") }
            return try alone(.backUp, &line)
        case "promote":
            guard line.take("standby") else { throw .invalid(line: nil, "that is 'promote standby' or 'promote standby behind'") }
            return try alone(.promote(isBehind: line.take("behind")), &line)
        case "restore", "compact":
            guard line.take("server") else { throw .invalid(line: nil, "that is '\(verb) server'") }
            return try alone(verb == "restore" ? .restore : .compact, &line)
        default: return nil
        }
    }

    private static let grantRule =
        "'grant' takes a device and its rights, as in 'grant A read notes/* write notes/1', 'nothing' or 'everything', and 'for 30s' behind them"

    private func access(_ line: inout ScenarioLine) throws(ScenarioError) -> ScenarioEvent.Access {
        var access = ScenarioEvent.Access(read: [], write: [])
        for (word, found) in [("everything", ScenarioEvent.Access.everything), ("nothing", access)] where line.take(word) {
            return try lasting(found, &line)
        }
        guard !line.isAtEnd else { throw .invalid(line: nil, "the line ends too soon: \(Self.grantRule)") }
        for (verb, ranges) in [("read", \ScenarioEvent.Access.read), ("write", \ScenarioEvent.Access.write)] where line.take(verb) {
            repeat {
                access[keyPath: ranges].append(try Self.scope(try line.word(Self.grantRule), Self.grantRule))
            } while !line.isAtEnd && line.peek() != "write" && line.peek() != "for"
        }
        return try lasting(access, &line)
    }

    private func lasting(_ access: ScenarioEvent.Access, _ line: inout ScenarioLine) throws(ScenarioError) -> ScenarioEvent.Access {
        var access = access
        if line.take("for") { access.life = try duration(&line, Self.grantRule) }
        try line.end(Self.grantRule)
        return access
    }

    private func alone(_ event: ScenarioEvent, _ line: inout ScenarioLine) throws(ScenarioError) -> ScenarioEvent {
        try line.end("the statement ends before it")
        return event
    }

    private mutating func process(_ line: inout ScenarioLine, _ rule: String) throws(ScenarioError) -> ScenarioEvent.Process {
        line.take("server") ? .server : .device(try device(&line, rule))
    }

    private mutating func refusal(_ line: inout ScenarioLine) throws(ScenarioError) -> ScenarioEvent {
        let device = try device(&line, "'refuse' takes a device and how, as in 'refuse A overloaded for 5s'")
        let refusal = try line.choice(
            [("overloaded", ScenarioEvent.Refusal.overloaded), ("unauthorized", .unauthorized)],
            "after the device comes 'overloaded' or 'unauthorized'; an expired token is 'expire token of A'")
        return .refuse(device: device, refusal, try lasting(&line, undoneBy: "heal", after: "the refusal"))
    }

    /// The number of a server among several, if one comes next.
    func serverNumber(_ line: inout ScenarioLine) throws(ScenarioError) -> Int? {
        guard let word = line.peek(), let number = Int(word) else { return nil }
        _ = line.take(word)
        guard Scenario.serverCounts.contains(number) else {
            throw .invalid(line: nil, "there is no server \(number): their numbers are 1 to \(Scenario.serverCounts.upperBound)")
        }
        return number - 1
    }

    private mutating func peerFault(_ line: inout ScenarioLine) throws(ScenarioError) -> ScenarioEvent {
        let rule = "that is 'announcements to server 2 lost for 5s', or doubled, late, silent or cut"
        guard line.take("to", "server"), let server = try serverNumber(&line) else { throw .invalid(line: nil, rule) }
        let fault = try line.choice(ScenarioEvent.PeerFault.allCases.map { ($0.rawValue, $0) }, rule)
        return .peers(server: server, fault, try lasting(&line, undoneBy: "heal everything", after: "the fault"))
    }

    private mutating func interception(_ line: inout ScenarioLine) throws(ScenarioError) -> ScenarioEvent {
        let rule = "'intercept' takes a device and the status of the answers, 200 to 599, as in 'intercept A with 413 for 5s'"
        let device = try device(&line, rule)
        guard line.take("with"), let status = Int(try line.word(rule).text), (200...599).contains(status) else {
            throw .invalid(line: nil, rule)
        }
        return .intercept(device: device, status: status, try lasting(&line, undoneBy: "heal", after: "the status"))
    }

    /// `drop next reply to A`, `delay next request from A by 5s`.
    private mutating func messageFault(_ verb: String, _ line: inout ScenarioLine) throws(ScenarioError) -> ScenarioEvent {
        let needsTime = verb == "delay" || verb == "duplicate"
        let time = needsTime ? " by 5s" : ""
        let others = verb == "cut" ? ", or 'cut connections of A'" : verb == "drop" ? ", or 'drop server'" : ""
        let rule = "that is '\(verb) next reply to A\(time)' or '\(verb) next request from A\(time)'\(others)"
        _ = line.take("the")
        guard line.take("next") else { throw .invalid(line: nil, rule) }
        let way = try line.choice([("request", ScenarioEvent.Way.request), ("reply", .reply)], rule)
        if !line.take("to"), !line.take("from") { _ = line.take("of") }
        let device = try device(&line, rule)
        var duration: Int64 = 0
        if needsTime {
            guard line.take("by") else { throw .invalid(line: nil, rule) }
            duration = try self.duration(&line, rule)
        }
        try line.end(rule)
        let messageFault: ScenarioEvent.MessageFault =
            switch verb {
            case "duplicate": .duplicate(after: duration)
            case "delay": .delay(duration)
            case "cut": .cut
            case "garble": .garble
            default: .drop
            }
        return .messageFault(device: device, way, messageFault)
    }
}
