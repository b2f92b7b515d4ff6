import FreshetServer
import FreshetWire

/// What a random run is like: how many devices, how long, and what may go wrong.
public struct Workload: Hashable, Sendable {
    /// How many devices, 1 to 26.
    public var devices: Int { didSet { devices = Self.devices(devices) } }
    /// How many steps until the faults end, at least 1. A step is one thing that happens: a call, a message's arrival, a disk's answer, a timer.
    public var steps: Int { didSet { steps = max(1, steps) } }
    /// The kinds of faults that may happen.
    public var faults: Set<FaultKind>
    /// How many servers there are over one store, 1 to 9.
    public var servers: Int { didSet { servers = Self.servers(servers) } }
    /// Whether devices have tokens whose rights are narrowed and widened, and which are revoked. Runs without are the same as before.
    public var hasRights: Bool
    /// Whether devices list collections. Runs without are the same as before.
    public var hasLists: Bool

    /// A workload; by default with all faults, one server, and without rights.
    public init(
        devices: Int = 5, steps: Int = 5_000, faults: Set<FaultKind> = Set(FaultKind.allCases), servers: Int = 1, hasRights: Bool = false,
        hasLists: Bool = false
    ) {
        self.servers = Self.servers(servers)
        self.devices = Self.devices(devices)
        self.steps = max(1, steps)
        self.faults = faults
        self.hasRights = hasRights
        self.hasLists = hasLists
    }

    /// Each has a letter for its name.
    private static func devices(_ number: Int) -> Int { min(max(1, number), 26) }

    private static func servers(_ number: Int) -> Int {
        min(max(Scenario.serverCounts.lowerBound, number), Scenario.serverCounts.upperBound)
    }
}

/// The random course of one seed: it looks at nothing but its own numbers, so that what it has planned can be run again without it.
struct WorkloadGenerator {
    let workload: Workload
    private(set) var scenario: Scenario
    private var random: RandomSource
    /// For rights, so that the course without them does not depend on them.
    private var rights: RandomSource
    /// For lists, so that the course without them does not depend on them.
    private var lists: RandomSource
    /// For the server's store that does not say whether it has committed, so that the rest of the course does not depend on it.
    private var stores: RandomSource
    /// For updates of apps that follow other collections.
    private var updates: RandomSource
    /// The mean time between incidents, in milliseconds.
    private let tempo: Int64
    /// In milliseconds.
    private let longestFault: Int64
    /// One in so many incidents is a fault.
    private let faultRate: Int
    private let kinds: [FaultKind]
    /// How many times as often the faults of several servers occur as others, since most have no effect for long.
    private static let serverWeight = 4
    private var serial: Int
    private var waiting: [Scenario.Incident] = []

    private let hot: [RecordKey]
    private let cold: [RecordKey]

    /// - Parameters:
    ///   - serial: the number of the last write that was made up earlier; each further one has the next.
    ///   - meanDelay: the mean time between incidents in milliseconds; `nil` lets the seed choose.
    ///   - longestFault: the longest that a fault lasts in milliseconds; `nil` derives it from the mean delay.
    init(_ workload: Workload, seed: UInt64, serial: Int = 0, meanDelay: Int64? = nil, longestFault: Int64? = nil) {
        self.workload = workload
        self.serial = serial
        var random = RandomSource(seed: seed, stream: 1)
        rights = RandomSource(seed: seed, stream: 4)
        stores = RandomSource(seed: seed, stream: 5)
        lists = RandomSource(seed: seed, stream: 6)
        updates = RandomSource(seed: seed, stream: 7)
        let chosen: Int64 = random.pick([15, 60, 250, 2_000])
        tempo = meanDelay ?? chosen
        self.longestFault = longestFault ?? min(tempo * 400, 120_000)
        faultRate = random.pick([3, 5, 10, 25])
        kinds = FaultKind.allCases.filter(workload.faults.contains).flatMap { kind in
            Array(repeating: kind, count: kind != .servers ? 1 : workload.servers > 1 ? Self.serverWeight : 0)
        }
        func keys(_ names: [String]) -> [RecordKey] { names.compactMap { try? RecordKey($0) } }
        hot = keys(["notes/1", "notes/2", "counters/1", "documents/1"])
        cold = keys(["notes/30", "notes/31", "counters/30", "documents/30"])
        let hasJoiners = random.chance(oneIn: 4)
        var devices: [Scenario.Device] = []
        for number in 0..<workload.devices {
            devices.append(
                Scenario.Device(
                    String(Character(UnicodeScalar(UInt8(65 + number)))), following: random.chance(oneIn: 2) ? .everything : .held,
                    collections: random.chance(oneIn: 4) ? ["counters", "notes"] : [],
                    joinsLater: number > 0 && hasJoiners && random.chance(oneIn: 2), hasSmallSteps: random.chance(oneIn: 2)))
        }
        scenario = Scenario(seed: seed, devices: devices, isServerSmall: random.chance(oneIn: 2), servers: workload.servers)
        // From a separate source, so that the course of a seed does not depend on the delays.
        var delays = RandomSource(seed: seed, stream: 3)
        scenario.hasWideDelays = delays.chance(oneIn: 2)
        if hasJoiners {
            let delay = Int64(random.below(Int(tempo) * 100))
            for (number, device) in devices.enumerated() where device.joinsLater {
                waiting.append(Scenario.Incident(after: number == 1 ? delay : 0, .join(device: number)))
            }
        }
        self.random = random
    }

    /// All keys that it uses.
    var keys: [RecordKey] { hot + cold }

    mutating func next() -> Scenario.Incident {
        if !waiting.isEmpty, random.chance(oneIn: 4) { return waiting.removeFirst() }
        if workload.hasRights, rights.chance(oneIn: 12) {
            return Scenario.Incident(after: Int64(rights.below(Int(tempo) * 2 + 1)), changeOfRights())
        }
        if workload.hasLists, lists.chance(oneIn: 12) {
            let event = ScenarioEvent.list(
                device: lists.below(workload.devices), lists.pick(["notes", "counters", "documents"]),
                lists.pick(ScenarioEvent.Listing.allCases))
            return Scenario.Incident(after: Int64(lists.below(Int(tempo) * 2 + 1)), event)
        }
        let delay = Int64(random.below(Int(tempo) * 2 + 1))
        if !kinds.isEmpty, random.chance(oneIn: faultRate) { return Scenario.Incident(after: delay, fault(random.pick(kinds))) }
        return Scenario.Incident(after: random.chance(oneIn: 3) ? 0 : delay, work())
    }

    private mutating func device() -> Int { random.below(workload.devices) }

    private mutating func key() -> RecordKey { random.chance(oneIn: 4) ? random.pick(cold) : random.pick(hot) }

    // MARK: Work

    private mutating func work() -> ScenarioEvent {
        serial += 1
        let key = key()
        switch random.below(100) {
        case 0..<55: return write(key)
        case 55: return .retryRejected(device: device())
        case 56: return .discardRejected(device: device())
        case 57..<68: return .read(device: device(), key)
        case 68..<78:
            let (device, other) = (device(), random.pick(hot))
            // Often someone else on the device wants the same soon after.
            if random.chance(oneIn: 2) { waiting.append(Scenario.Incident(after: Int64(random.below(40)), .fetch(device: device, [key]))) }
            return .fetch(device: device, other == key || random.chance(oneIn: 2) ? [key] : [key, other])
        case 78..<92: return .serverWrite(key, operation(key, "server"))
        case 92..<97: return .invalidate(.key(key))
        case 97..<99: return .invalidate(.collection(key.collection, prefix: random.chance(oneIn: 2) ? "3" : ""))
        default: return .invalidate(.everything)
        }
    }

    private mutating func write(_ key: RecordKey) -> ScenarioEvent {
        let device = device()
        let operation = operation(key, scenario.devices[device].name)
        if case .increment = operation { return .write(device: device, key, operation, .overwrite) }
        return .write(device: device, key, operation, random.pick([.overwrite, .overwrite, .overwrite, .reject, .merge]))
    }

    private mutating func operation(_ key: RecordKey, _ author: String) -> WriteOperation {
        let kind = random.below(20)
        switch key.collection {
        case "counters":
            if kind == 0 { return .delete }
            return increment("/n")
        case "documents":
            if kind < 2 { return .delete }
            if kind < 5 { return increment("/n") }
            if kind < 14 { return .patch(Array("{\"\(author)\":\(serial)}".utf8)) }
        default:
            if kind < 3 { return .delete }
            if kind < 5 { return .patch(Array("{\"by\":\"\(author)-\(serial)\"}".utf8)) }
        }
        let filler = random.chance(oneIn: 8) ? String(repeating: "x", count: 150) : ""
        return .put(Content(checkedJSON: Array("{\"v\":\"\(author)-\(serial)\(filler)\"}".utf8)))
    }

    /// Each has another amount, so that a sum shows which were counted. Some have bounds, some demand a record, some begin from a value.
    private func increment(_ path: String) -> WriteOperation {
        guard let pointer = try? JSONPointer(path) else { return .delete }
        let amount = Int64(serial)
        var increment = Increment(path: pointer, by: .integer(amount))
        switch serial % 4 {
        case 0: increment.onMissing = .reject
        case 1: increment.onMissing = .create(from: Array("{\"n\":\(2 * amount)}".utf8))
        default: break
        }
        switch serial % 7 {
        case 0: (increment.amount, increment.minimum) = (.integer(-amount), .integer(0))
        case 1: increment.maximum = .integer(10 * amount)
        default: break
        }
        return .increment(increment)
    }

    // MARK: Rights

    private mutating func changeOfRights() -> ScenarioEvent {
        let device = rights.below(workload.devices)
        switch rights.below(10) {
        case 0..<3: return .revoke(device: device)
        case 3: return .grant(device: device, .everything)
        default:
            let ranges = ["notes", "counters", "documents"].flatMap { collection in
                ["", "1", "3"].map { InvalidationScope.collection(collection, prefix: $0) }
            }
            let read = ranges.filter { _ in rights.chance(oneIn: 3) }
            let write = read.filter { _ in !rights.chance(oneIn: 3) }
            let life = rights.chance(oneIn: 2) ? rights.duration(2_000, 60_000) : nil
            return .grant(device: device, ScenarioEvent.Access(read: read, write: write, life: life))
        }
    }

    // MARK: Faults

    private mutating func duration() -> Int64 { random.duration(tempo, longestFault) }

    private mutating func fault(_ kind: FaultKind) -> ScenarioEvent {
        let device = device()
        switch kind {
        case .network:
            switch random.below(6) {
            case 0, 1: return .partition(device: device, random.pick(ScenarioEvent.Direction.allCases), duration())
            case 2: return .unplug(device: device, duration())
            case 3: return .slow(device: device, duration())
            case 4: return .heal(device: device)
            default: return .cutConnections(device: device)
            }
        case .proxies: return .intercept(device: device, status: random.pick(Self.proxyStatuses), duration())
        case .messages: return .messageFault(device: device, random.pick(ScenarioEvent.Way.allCases), messageFault())
        case .crashes:
            let crash = ScenarioEvent.crash(device: device, down: random.duration(10, duration() + 10))
            if updates.chance(oneIn: 4) {
                waiting.append(Scenario.Incident(after: 0, crash))
                return .follow(
                    device: device, updates.pick([[], ["counters", "notes"], ["notes"], ["documents"], ["counters", "documents"]]))
            }
            guard random.chance(oneIn: 3) else { return crash }
            waiting.append(Scenario.Incident(after: 0, crash))
            return .postponeClosures(device: device, duration() + 10)
        case .sleep:
            if random.chance(oneIn: 3) { return .reconnect(device: device) }
            if random.chance(oneIn: 12) { return night(device) }
            return .sleep(device: device, duration() + 1_000)
        case .disks: return .disk(.device(device), random.pick(ScenarioEvent.DiskFault.ofDevices), duration())
        case .clocks:
            let change = random.duration(1_000, 100 * 86_400_000) * (random.chance(oneIn: 2) ? 1 : -1)
            return .setClock(random.chance(oneIn: 3) ? .server : .device(device), by: change)
        case .server:
            if random.chance(oneIn: 3) {
                let (trouble, duration) = (random.pick(ScenarioEvent.DiskFault.ofDevices), duration())
                return .disk(.server, stores.chance(oneIn: 2) ? .unsure : trouble, duration)
            }
            return .crashServer(down: random.duration(10, 5_000))
        case .refusals:
            let (refusal, duration) = (random.pick(ScenarioEvent.Refusal.allCases), duration())
            return .refuse(device: device, refusal, refusal == .tokenExpired ? 0 : duration)
        case .restores:
            let event = random.pick([ScenarioEvent.backUp, .backUp, .restore, .promote(isBehind: true), .drop])
            guard case .promote = event else { return event }
            return .promote(isBehind: stores.chance(oneIn: 2))
        case .compaction: return .compact
        case .clears: return .clear(device: device)
        case .evictions: return .evict(device: device, key())
        case .servers: return serverFault(device)
        case .copies: return random.chance(oneIn: 3) ? .copyDisk(device: device) : .replaceDisk(device: device)
        }
    }

    /// The statuses with which proxies answer. Half of them would be refusals of the request if the server sent them.
    private static let proxyStatuses = [
        200, 204, 302, 304, 400, 400, 403, 404, 407, 409, 410, 413, 413, 415, 422, 422, 429, 500, 502, 503, 504, 511,
    ]

    private mutating func messageFault() -> ScenarioEvent.MessageFault {
        switch random.below(8) {
        case 0, 1, 2: .drop
        case 3: .duplicate(after: random.duration(1, 60_000))
        case 4, 5: .delay(random.duration(20, 600_000))
        case 6: .cut
        default: .garble
        }
    }

    private mutating func serverFault(_ device: Int) -> ScenarioEvent {
        let server = random.below(workload.servers)
        switch random.below(8) {
        case 0..<4: return .roam(device: device, server: server)
        case 4: return .crashOneServer(server, down: random.duration(10, 5_000))
        // A silent connection is noticed after a while.
        default:
            return .peers(server: server, random.pick(ScenarioEvent.PeerFault.allCases), HeadFollower.silence + duration())
        }
    }

    /// All sleep for days; for minutes beside several servers, whose messages to each other never end.
    private mutating func night(_ first: Int) -> ScenarioEvent {
        let duration = workload.servers > 1 ? random.duration(60_000, 600_000) : random.duration(3_600_000, 40 * 86_400_000)
        for device in 0..<workload.devices where device != first {
            waiting.append(Scenario.Incident(after: 0, .sleep(device: device, duration)))
        }
        return .sleep(device: first, duration)
    }
}
