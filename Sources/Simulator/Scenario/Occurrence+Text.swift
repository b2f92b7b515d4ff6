import FreshetWire

/// The words of a scenario's text.
extension Occurrence {
    /// The incident as a line of a scenario, for example `A puts notes/1 {"v":1}`.
    /// - Parameter name: the name of a device by its number.
    func text(_ name: (Int) -> String) -> String {
        func party(_ party: Party) -> String { if case .device(let number) = party { name(number) } else { "server" } }
        switch self {
        case .write(let device, let key, let operation, let conflict):
            return "\(name(device)) \(Self.text(operation, key))" + (conflict == .overwrite ? "" : " or \(conflict.rawValue)")
        case .read(let device, let key): return "\(name(device)) reads \(key.word)"
        case .fetch(let device, let keys): return "\(name(device)) fetches \(keys.map(\.word).joined(separator: " "))"
        case .evict(let device, let key): return "\(name(device)) evicts \(key.word)"
        case .clear(let device): return "clear \(name(device))"
        case .serverWrite(let key, let operation): return "server \(Self.text(operation, key))"
        case .invalidate(let scope): return "server invalidates \(scope.text)"
        case .join(let device): return "join \(name(device))"
        case .crash(let device, let down): return "crash \(name(device)) for \(DurationText.of(down))"
        case .sleep(let device, let duration): return "sleep \(name(device)) for \(DurationText.of(duration))"
        case .reconnect(let device): return "reconnect \(name(device))"
        case .setClock(let owner, let change): return "clock \(party(owner)) by \(DurationText.of(change))"
        case .disk(let owner, let trouble, let duration): return "disk \(party(owner)) \(trouble.rawValue) for \(DurationText.of(duration))"
        case .partition(let device, let direction, let duration):
            let words = direction == .both ? "" : " \(direction.rawValue)"
            return "partition \(name(device))\(words) for \(DurationText.of(duration))"
        case .unplug(let device, let duration): return "unplug \(name(device)) for \(DurationText.of(duration))"
        case .heal(let device): return "heal \(name(device))"
        case .slow(let device, let duration): return "slow \(name(device)) for \(DurationText.of(duration))"
        case .cutConnections(let device): return "cut connections \(name(device))"
        case .mishap(let device, let way, let mishap): return "\(Self.text(mishap)) next \(way.rawValue) \(name(device))" + mishap.time
        case .crashServer(let down): return "crash server for \(DurationText.of(down))"
        case .refuse(let device, .tokenExpired, _): return "expire token \(name(device))"
        case .refuse(let device, let refusal, let duration):
            return "refuse \(name(device)) \(refusal.rawValue) for \(DurationText.of(duration))"
        case .backUp: return "back up server"
        case .restore: return "restore server"
        case .compact: return "compact server"
        case .drop: return "drop server"
        case .settle: return "settle"
        case .expect(let expectation): return "expect \(expectation.text(name))"
        }
    }

    private static func text(_ operation: WriteOperation, _ key: RecordKey) -> String {
        switch operation {
        case .put(let content): "puts \(key.word) \(String(decoding: content.bytes, as: UTF8.self))"
        case .patch(let patch): "merges \(key.word) \(String(decoding: patch, as: UTF8.self))"
        case .delete: "deletes \(key.word)"
        case .increment(let path, let amount): "increments \(key.word) \(path) by \(amount)"
        }
    }

    private static func text(_ mishap: Mishap) -> String {
        switch mishap {
        case .drop: "drop"
        case .duplicate: "duplicate"
        case .delay: "delay"
        case .cut: "cut"
        case .garble: "garble"
        }
    }

    /// How long a fault of this kind lasts.
    var duration: Int64? {
        switch self {
        case .crash(_, let duration), .sleep(_, let duration), .disk(_, _, let duration), .partition(_, _, let duration),
            .unplug(_, let duration), .slow(_, let duration), .crashServer(let duration), .refuse(_, _, let duration):
            duration
        default: nil
        }
    }
}

extension Occurrence.Mishap {
    fileprivate var time: String {
        switch self {
        case .duplicate(let after): " by \(DurationText.of(after))"
        case .delay(let duration): " by \(DurationText.of(duration))"
        case .drop, .cut, .garble: ""
        }
    }
}

extension Expectation {
    func text(_ name: (Int) -> String) -> String {
        func value(_ bytes: [UInt8]?) -> String { bytes.map { String(decoding: $0, as: UTF8.self) } ?? "nothing" }
        switch self {
        case .shows(let device, let key, let bytes): return "\(name(device)) sees \(key.word) \(value(bytes))"
        case .knowsNothing(let device, let key): return "\(name(device)) sees \(key.word) unknown"
        case .pending(let device, let key, let isPending): return "\(name(device)) sees \(key.word) \(isPending ? "pending" : "settled")"
        case .status(let device, let standing): return "\(name(device)) is \(standing.words)"
        case .server(let key, let bytes): return "server has \(key.word) \(value(bytes))"
        }
    }
}

extension Expectation.Standing {
    var words: String { self == .catchingUp ? "catching-up" : rawValue }
}

extension InvalidationScope {
    /// `notes/1`, `notes/1*`, `notes/*` or `everything`.
    var text: String {
        switch self {
        case .key(let key): key.word
        case .collection(let collection, let prefix): "\(collection)/\(prefix)*"
        case .everything: "everything"
        }
    }
}

extension RecordKey {
    var word: String { description }
}

/// Durations as people write them: `250ms`, `5s`, `90m`, `3h`, `2d`, with a sign where there is one.
enum DurationText {
    private static let units: [(name: String, milliseconds: Int64)] = [
        ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1),
    ]

    static func of(_ milliseconds: Int64) -> String {
        guard milliseconds != 0 else { return "0s" }
        let unit = units.first { milliseconds % $0.milliseconds == 0 } ?? ("ms", 1)
        return "\(milliseconds / unit.milliseconds)\(unit.name)"
    }

    /// Milliseconds; `nil` for what is no duration.
    static func read(_ text: some StringProtocol) -> Int64? {
        let digits = text.prefix { $0 == "-" || $0.isNumber }
        guard let number = Int64(digits), let unit = units.first(where: { $0.name == text.dropFirst(digits.count) }) else { return nil }
        let (product, overflow) = number.multipliedReportingOverflow(by: unit.milliseconds)
        return overflow ? nil : product
    }
}
