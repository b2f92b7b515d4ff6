import FreshetWire

/// The words of a scenario's text.
extension ScenarioEvent {
    /// The incident as a line of a scenario, for example `A puts notes/1 {"v":1}`.
    /// - Parameter name: the name of a device by its number.
    func text(_ name: (Int) -> String) -> String {
        func process(_ process: Process) -> String { if case .device(let number) = process { name(number) } else { "server" } }
        switch self {
        case .write(let device, let key, let operation, let conflict):
            return "\(name(device)) \(Self.text(operation, key))\(conflict.words.map { " \($0)" } ?? "")"
        case .read(let device, let key): return "\(name(device)) reads \(key.word)"
        case .fetch(let device, let keys): return "\(name(device)) fetches \(keys.map(\.word).joined(separator: " "))"
        case .list(let device, let collection, let listing):
            return "\(name(device)) lists \(ScenarioWord.of(collection))\(listing == .records ? "" : " \(listing.rawValue)")"
        case .retryRejected(let device): return "\(name(device)) retries"
        case .discardRejected(let device): return "\(name(device)) discards"
        case .evict(let device, let key): return "\(name(device)) evicts \(key.word)"
        case .clear(let device): return "clear \(name(device))"
        case .serverWrite(let key, let operation): return "server \(Self.text(operation, key))"
        case .invalidate(let scope): return "server invalidates \(scope.text)"
        case .join(let device): return "join \(name(device))"
        case .crash(let device, let down): return "crash \(name(device))\(Self.lasting(down))"
        case .start(let who): return "start \(process(who))"
        case .postponeClosures(let device, let delay): return "postpone closures of \(name(device))\(Self.lasting(delay))"
        case .follow(let device, let collections):
            return "\(name(device)) switches to \(collections.isEmpty ? "everything" : collections.joined(separator: " "))"
        case .copyDisk(let device): return "copy disk of \(name(device))"
        case .replaceDisk(let device): return "replace disk of \(name(device))"
        case .sleep(let device, let duration): return "sleep \(name(device))\(Self.lasting(duration))"
        case .wake(let device): return "wake \(name(device))"
        case .reconnect(let device): return "reconnect \(name(device))"
        case .setClock(let owner, let change):
            return "clock \(process(owner)) \(change < 0 ? "back" : "forward") \(DurationText.of(change.magnitude))"
        case .disk(let owner, let trouble, let duration): return "disk \(process(owner)) \(trouble.rawValue)\(Self.lasting(duration))"
        case .partition(let device, let direction, let duration):
            let words = direction == .both ? "" : " \(direction.rawValue)"
            return "partition \(name(device))\(words)\(Self.lasting(duration))"
        case .unplug(let device, let duration): return "unplug \(name(device))\(Self.lasting(duration))"
        case .heal(let device): return "heal \(name(device))"
        case .slow(let device, let duration): return "slow \(name(device))\(Self.lasting(duration))"
        case .intercept(let device, let status, let duration):
            return "intercept \(name(device)) with \(status)\(Self.lasting(duration))"
        case .cutConnections(let device): return "cut connections of \(name(device))"
        case .messageFault(let device, let way, let messageFault):
            let direction = way == .request ? "from" : "to"
            return "\(messageFault.verb) next \(way.rawValue) \(direction) \(name(device))\(messageFault.time)"
        case .crashServer(let down): return "crash server\(Self.lasting(down))"
        case .crashOneServer(let server, let down): return "crash server \(server + 1)\(Self.lasting(down))"
        case .roam(let device, let server): return "\(name(device)) moves to server \(server + 1)"
        case .peers(let server, let fault, let duration):
            return "announcements to server \(server + 1) \(fault.rawValue)\(Self.lasting(duration))"
        case .refuse(let device, .tokenExpired, _): return "expire token of \(name(device))"
        case .refuse(let device, let refusal, let duration): return "refuse \(name(device)) \(refusal.rawValue)\(Self.lasting(duration))"
        case .grant(let device, let access): return "grant \(name(device)) \(access.text)"
        case .revoke(let device): return "revoke token of \(name(device))"
        case .backUp: return "back up server"
        case .restore: return "restore server"
        case .promote(let isBehind): return isBehind ? "promote standby behind" : "promote standby"
        case .compact: return "compact server"
        case .drop: return "drop server"
        case .healAll: return "heal everything"
        case .settle: return "settle"
        case .expect(let expectation): return "expect \(expectation.text(name))"
        }
    }

    private static func lasting(_ duration: Int64) -> String {
        duration == untilUndone ? "" : " for \(DurationText.of(duration.magnitude))"
    }

    private static func text(_ operation: WriteOperation, _ key: RecordKey) -> String {
        switch operation {
        case .put(let content): return "puts \(key.word) \(ScenarioWord.value(content.bytes, content.type))"
        case .patch(let patch): return "merges \(key.word) \(ScenarioWord.value(patch))"
        case .delete: return "deletes \(key.word)"
        case .increment(let increment): return "increments \(key.word) \(increment.words)"
        }
    }

    /// How long a fault of this kind lasts, in milliseconds.
    var duration: Int64? {
        switch self {
        case .crash(_, let duration), .postponeClosures(_, let duration), .sleep(_, let duration), .disk(_, _, let duration),
            .partition(_, _, let duration), .unplug(_, let duration), .slow(_, let duration), .crashServer(let duration),
            .crashOneServer(_, let duration), .peers(_, _, let duration),
            .refuse(_, _, let duration), .intercept(_, _, let duration):
            duration
        default: nil
        }
    }

    /// Whether it ends faults that last ``untilUndone``.
    var undoes: Bool {
        switch self {
        case .heal, .start, .wake: true
        default: false
        }
    }
}

extension Increment {
    /// For example `/n by 3 if there min 0`.
    var words: String {
        var words = path.description.isEmpty ? [] : [ScenarioWord.of(path.description)]
        words.append("by \(amount)")
        switch onMissing {
        case .reject: words.append("if there")
        case .create(nil): break
        case .create(let initial?): words.append("from \(ScenarioWord.value(initial))")
        }
        if let minimum { words.append("min \(minimum)") }
        if let maximum { words.append("max \(maximum)") }
        return words.joined(separator: " ")
    }
}

extension ScenarioEvent.Conflict {
    /// The words for it at the end of a line; `nil` for the default.
    var words: String? {
        switch self {
        case .overwrite: nil
        case .reject: "unless changed"
        case .merge: "merged if changed"
        }
    }
}

extension ScenarioEvent.MessageFault {
    fileprivate var verb: String {
        switch self {
        case .drop: "drop"
        case .duplicate: "duplicate"
        case .delay: "delay"
        case .cut: "cut"
        case .garble: "garble"
        }
    }

    fileprivate var time: String {
        switch self {
        case .duplicate(let after): " by \(DurationText.of(after.magnitude))"
        case .delay(let duration): " by \(DurationText.of(duration.magnitude))"
        case .drop, .cut, .garble: ""
        }
    }
}

extension Expectation {
    func text(_ name: (Int) -> String) -> String {
        switch self {
        case .shows(let device, let key, let bytes?): "\(name(device)) sees \(key.word) \(ScenarioWord.value(bytes))"
        case .shows(let device, let key, nil): "\(name(device)) sees nothing at \(key.word)"
        case .knowsNothing(let device, let key): "\(name(device)) knows nothing of \(key.word)"
        case .pending(let device, let key, let isPending): "\(name(device)) sees \(key.word) \(isPending ? "pending" : "settled")"
        case .status(let device, let standing): "\(name(device)) is \(standing.words)"
        case .server(let key, let bytes?): "server has \(key.word) \(ScenarioWord.value(bytes))"
        case .server(let key, nil): "server has nothing at \(key.word)"
        }
    }
}

extension Expectation.Standing {
    var words: String { self == .catchingUp ? "catching up" : rawValue }
}

extension ScenarioEvent.Access {
    /// `everything`, `nothing` or `read notes/* write notes/1`, and for how long.
    var text: String {
        let time = life.map { " for \(DurationText.of($0.magnitude))" } ?? ""
        if (read, write) == ([.everything], [.everything]) { return "everything\(time)" }
        let parts = [("read", read), ("write", write)].filter { !$0.1.isEmpty }
        let words = parts.isEmpty ? "nothing" : parts.map { "\($0) \($1.map(\.text).joined(separator: " "))" }.joined(separator: " ")
        return words + time
    }
}

extension InvalidationScope {
    /// `notes/1`, `notes/1*`, `notes/*` or `everything`.
    var text: String {
        switch self {
        // A star at the end of a bare word means all that begins so.
        case .key(let key): key.id.utf8.last == UInt8(ascii: "*") ? ScenarioWord.quoted(key.description) : key.word
        case .collection(let collection, let prefix): "\(ScenarioWord.of("\(collection)/\(prefix)"))*"
        case .everything: "everything"
        }
    }
}

extension RecordKey {
    /// The key as a word of a scenario.
    var word: String { ScenarioWord.of(description) }
}
