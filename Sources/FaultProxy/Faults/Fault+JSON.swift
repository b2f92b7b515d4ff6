package import FreshetWire

extension Fault {
    /// Reads a fault from a test's request. Unlike a message of the protocol, JSON with an unknown or superfluous
    /// member is refused: a fault other than the one meant makes a test pass that should fail.
    package init(json bytes: [UInt8]) throws(Problem) {
        let members: Members
        do throws(WireError) { members = try Members(bytes) } catch {
            throw Problem(.invalidRequest, "\(error). A fault is, for example, {\"effect\":\"drop-reply\",\"on\":\"writes\"}.")
        }
        guard let name = FaultEffect.Name(rawValue: try members.required("effect")) else {
            throw Self.unknown("effect", FaultEffect.Name.allCases.map(\.rawValue))
        }
        guard let target = FaultTarget(rawValue: members.texts["on"] ?? FaultTarget.any.rawValue) else {
            throw Self.unknown("on", FaultTarget.allCases.map(\.rawValue))
        }
        let device = members.texts["device"]
        guard name != .expireToken || device?.isEmpty == false else {
            throw Problem(.invalidRequest, "'device' is missing: expire-token takes the device whose tokens expire")
        }
        let effect = try Self.effect(name, members)
        // A token is refused until the device has a fresh one, however often the token comes.
        let isUnlimited = members.booleans["untilLifted"] == true || name == .expireToken
        guard !(isUnlimited && members.numbers["times"] != nil) else {
            throw Problem(.invalidRequest, "'times' goes with neither 'untilLifted' nor expire-token: leave one of them out")
        }
        let times = try members.number("times", in: 1...1_000_000) ?? 1
        self.init(effect, on: target, device: device, times: isUnlimited ? nil : times)
        try members.checkAllIsKnown(for: name)
    }

    private static func effect(_ name: FaultEffect.Name, _ members: Members) throws(Problem) -> FaultEffect {
        switch name {
        case .dropRequest: return .dropRequest
        case .dropReply: return .dropReply
        case .cutReply: return .cutReply
        case .duplicate: return .duplicate
        case .freeze: return .freeze
        case .delayRequest: return .delayRequest(milliseconds: try delay(members))
        case .delayReply: return .delayReply(milliseconds: try delay(members))
        case .answer:
            guard let status = try members.number("status", in: FaultEffect.statuses) else {
                throw Problem(.invalidRequest, "'status' is missing: answer takes a status from 400 to 599")
            }
            return .answer(status: status, retryAfter: try members.number("retryAfter", in: FaultEffect.pauses) ?? 0)
        case .expireToken: return .expireToken(generation: try members.number("generation", in: 0...Int64.max))
        }
    }

    private static func delay(_ members: Members) throws(Problem) -> Int {
        guard let delay = try members.number("milliseconds", in: FaultEffect.delays) else {
            throw Problem(.invalidRequest, "'milliseconds' is missing: a delay takes 0 to \(FaultEffect.delays.upperBound)")
        }
        return delay
    }

    private static func unknown(_ member: String, _ names: [String]) -> Problem {
        Problem(.invalidRequest, "'\(member)' is none of its names: it takes \(names.joined(separator: ", "))")
    }
}

/// The members of a fault's JSON, by type.
private struct Members {
    var texts: [String: String] = [:]
    var numbers: [String: Int64] = [:]
    var booleans: [String: Bool] = [:]

    init(_ bytes: [UInt8]) throws(WireError) {
        var reader = JSONReader(bytes, profile: .interoperable)
        try reader.beginObject()
        while let name = try reader.nextMember() {
            switch name {
            case "effect", "on", "device": texts[name.text] = try reader.string()
            case "times", "milliseconds", "status", "retryAfter", "generation": numbers[name.text] = try reader.integer()
            case "untilLifted": booleans[name.text] = try reader.boolean()
            default:
                throw .unexpectedJSON(
                    "'\(name.text.shortened)' is no member of a fault: it takes effect, on, device, times, untilLifted, milliseconds, status, retryAfter, generation"
                )
            }
        }
        try reader.end()
    }

    func required(_ name: String) throws(Problem) -> String {
        guard let text = texts[name] else {
            let names = FaultEffect.Name.allCases.map(\.rawValue).joined(separator: ", ")
            throw Problem(.invalidRequest, "'\(name)' is missing: it takes \(names)")
        }
        return text
    }

    func number<Number: FixedWidthInteger>(_ name: String, in range: ClosedRange<Number>) throws(Problem) -> Number? {
        guard let number = numbers[name] else { return nil }
        guard let exact = Number(exactly: number), range.contains(exact) else {
            throw Problem(
                .invalidRequest, "'\(name)' is \(number): it takes a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return exact
    }

    /// Refuses members that belong to other effects, since they would do nothing.
    func checkAllIsKnown(for effect: FaultEffect.Name) throws(Problem) {
        let known: Set<String> =
            switch effect {
            case .delayRequest, .delayReply: ["milliseconds", "times"]
            case .answer: ["status", "retryAfter", "times"]
            case .expireToken: ["generation", "times"]
            default: ["times"]
            }
        for name in numbers.keys.sorted() where !known.contains(name) {
            throw Problem(.invalidRequest, "'\(name)' does not go with \(effect.rawValue): leave it out")
        }
    }
}

extension ArmedFault {
    /// `{"id":…,"effect":…,"on":…,…,"strikes":…}`
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("id", Int64(identifier))
        writer.member("effect", fault.effect.name.rawValue)
        writer.member("on", fault.target.rawValue)
        if let device = fault.device { writer.member("device", device) }
        switch fault.effect {
        case .delayRequest(let milliseconds), .delayReply(let milliseconds): writer.member("milliseconds", Int64(milliseconds))
        case .answer(let status, let retryAfter):
            writer.member("status", Int64(status))
            writer.member("retryAfter", Int64(retryAfter))
        case .expireToken(let generation?): writer.member("generation", generation)
        default: break
        }
        if let times = fault.times { writer.member("times", Int64(times)) } else { writer.member("untilLifted", true) }
        writer.member("strikes", Int64(matchCount))
        writer.endObject()
    }
}
