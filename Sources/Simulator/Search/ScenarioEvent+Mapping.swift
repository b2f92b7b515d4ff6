import FreshetWire

extension ScenarioEvent {
    /// The same about other keys.
    func mappingKeys(_ map: (RecordKey) -> RecordKey) -> ScenarioEvent {
        switch self {
        case .write(let device, let key, let operation, let conflict):
            .write(device: device, map(key), operation, conflict)
        case .read(let device, let key): .read(device: device, map(key))
        case .fetch(let device, let keys): .fetch(device: device, Self.unique(keys.map(map)))
        case .evict(let device, let key): .evict(device: device, map(key))
        case .serverWrite(let key, let operation): .serverWrite(map(key), operation)
        case .invalidate(.key(let key)): .invalidate(.key(map(key)))
        default: self
        }
    }

    /// The same at another device; itself where no device takes part, and where it is a device's first appearance.
    func moved(to device: Int) -> ScenarioEvent {
        switch self {
        case .join: self
        default: self.device == nil ? self : renamed(to: device)
        }
    }

    private static func unique(_ keys: [RecordKey]) -> [RecordKey] {
        keys.enumerated().filter { index, key in !keys[..<index].contains(key) }.map(\.element)
    }

    /// The same with each of its times between 0 and twice what it was.
    func stretched(_ random: inout RandomSource) -> ScenarioEvent {
        func time(_ old: Int64) -> Int64 { old < 1_000_000_000 ? Int64(random.below(Int(old) * 2 + 1)) : old }
        return switch self {
        case .crash(let device, let down): .crash(device: device, down: time(down))
        case .postponeClosures(let device, let delay): .postponeClosures(device: device, time(delay))
        case .sleep(let device, let duration): .sleep(device: device, time(duration))
        case .disk(let process, let trouble, let duration): .disk(process, trouble, time(duration))
        case .partition(let device, let direction, let duration): .partition(device: device, direction, time(duration))
        case .unplug(let device, let duration): .unplug(device: device, time(duration))
        case .slow(let device, let duration): .slow(device: device, time(duration))
        case .intercept(let device, let status, let duration): .intercept(device: device, status: status, time(duration))
        case .messageFault(let device, let way, .duplicate(let after)):
            .messageFault(device: device, way, .duplicate(after: time(after)))
        case .messageFault(let device, let way, .delay(let more)): .messageFault(device: device, way, .delay(time(more)))
        case .crashServer(let down): .crashServer(down: time(down))
        case .crashOneServer(let server, let down): .crashOneServer(server, down: time(down))
        case .peers(let server, let fault, let duration): .peers(server: server, fault, time(duration))
        case .refuse(_, .tokenExpired, _): self
        case .refuse(let device, let refusal, let duration): .refuse(device: device, refusal, time(duration))
        default: self
        }
    }
}
