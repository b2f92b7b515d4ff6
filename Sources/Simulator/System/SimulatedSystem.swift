import FreshetClient
import FreshetServer
import FreshetWire

/// Everything that takes part in a run, and the virtual time that moves it. Not for more than one thread.
final class SimulatedSystem {
    /// Something that is to happen at a time.
    enum Event {
        case request(message: Int)
        indirect case reply(message: Int, Reply, lastWrite: Int64?)
        case disconnect(message: Int)
        case disk(device: Int, run: Int)
        indirect case cachedKeys(device: Int, run: Int, CachedKeyQuery)
        case timer(device: Int, run: Int, serial: Int)
        indirect case merge(device: Int, run: Int, MergeRequest)
        case register(device: Int, run: Int)
        case start(device: Int, run: Int)
        case wakeUp(device: Int, run: Int)
        case noticeWake(device: Int, run: Int)
        case sync(device: Int, run: Int)
        case serverSync(ServerProcess)
        indirect case serverPublish(ServerProcess, SimulatedServer.Commit)
        indirect case serverReadRejected(ServerProcess, message: Int, WriteResults, lastWrite: Int64?)
        case serverScan(ServerProcess, message: Int, Since, deadline: Int64)
        case serverPark(ServerProcess, message: Int, Since, deadline: Int64)
        case serverExpire(ServerProcess)
        case serverStart(ServerProcess)
        /// Something between servers.
        indirect case peer(ServerProcess, PeerEvent)
    }

    /// One process of a server. Events for an earlier process have no effect.
    struct ServerProcess: Hashable {
        var server: Int
        var run: Int
    }

    /// A request on its way, with its state.
    final class Message {
        let device: Int
        /// The server to which it goes.
        let server: Int
        let run: Int
        let generation: Int
        let id: RequestID
        let kind: RequestDescription.Kind
        let token: Int
        let sent: Int64
        /// When it reaches the server.
        var arrival: Int64
        let timeout: Int64
        /// The device's position when it sent the request.
        let position: Cursor?
        /// The request for changes as the server limits it; `nil` for all that it names.
        var subscription: Subscription?
        /// The writes that it carries, by their numbers, as the oracle numbers them.
        let origins: [Int64: Int]

        init(_ description: RequestDescription, _ device: SimulatedDevice, origins: [Int64: Int], at now: Int64) {
            server = device.server
            (self.device, run, generation, token) = (device.number, device.run, device.generation, device.token)
            (id, kind, timeout) = (description.id, description.kind, description.timeout)
            (self.origins, sent, arrival, position) = (origins, now, now, device.store.state.cursor)
        }
    }

    /// A caller that waits for the machine's answer.
    enum Caller {
        case write(device: Int, RecordKey)
        case fetch(device: Int, keys: [RecordKey], floors: [Oracle.Point], since: Int64)
        case list(device: Int, collection: String, ScenarioEvent.Listing, since: Oracle.Point)
        case discard(device: Int, LocalWriteID)
        case clear(device: Int)
    }

    static var wallOrigin: Int64 { 1_767_225_600_000 }

    let seed: UInt64?
    let hasWideDelays: Bool
    let bug: InjectedBug?
    let recorder: Recorder?
    /// `nil` outside of searches.
    let coverage: CoverageRecorder?
    let shared: SharedState
    let servers: [SimulatedServer]
    let devices: [SimulatedDevice]
    let oracle: Oracle

    var now: Int64 = 0
    var step = 0
    var queue = EventQueue<Event>()
    var digest = RunDigest()
    var access = AccessCounts()
    var messages: [Message] = []
    /// The last copy of a device's disk.
    var diskCopy: DiskCopy?
    var callers: [CallerID: Caller] = [:]
    var lastCallerID: Int64 = 0
    /// When requests arrive that the network delays or doubles, or whose disconnect it loses, and how long the server may hold them, in milliseconds.
    var orphanedPolls: [(arrival: Int64, hold: Int64)] = []
    var lastTimer = 0
    private var lastDraw: (time: Int64, count: UInt64) = (0, 0)

    init(_ scenario: Scenario, keys: [RecordKey], bug: InjectedBug?, recorder: Recorder?, coverage: CoverageRecorder?)
        throws(ScenarioError)
    {
        seed = scenario.seed
        hasWideDelays = scenario.hasWideDelays
        self.bug = bug
        self.recorder = recorder
        self.coverage = coverage
        let namespace: Namespace
        do { namespace = try Namespace("simulated") } catch { throw .invalid(line: nil, "\(error)") }
        let shared = SharedState(namespace, isSmall: scenario.isServerSmall, seed: RandomSource.mix(scenario.seed ?? 1))
        self.shared = shared
        servers = (0..<scenario.servers).map { SimulatedServer($0, shared) }
        var devices: [SimulatedDevice] = []
        for (number, declaration) in scenario.devices.enumerated() {
            do {
                let filter = try Self.filter(declaration, isWide: scenario.isServerSmall && number % 4 == 1)
                let client = try ClientIdentifier("\(declaration.name)-0")
                // One device in four of a small server is small itself.
                let limit = scenario.isServerSmall && number % 4 == 3 ? 2 : Int.max
                var settings = Self.settings(declaration, filter)
                if bug == .endlessRead { settings.readTimeout = .max }
                devices.append(SimulatedDevice(number, declaration, settings, client, answerLimit: limit))
            } catch { throw .invalid(line: nil, "device \(declaration.name): \(error)") }
        }
        for device in devices { device.server = device.number % scenario.servers }
        self.devices = devices
        oracle = Oracle(keys: keys.sorted(), devices: devices.count)
        oracle.open(shared.state.cursor)
        for server in servers { connectPeers(server) }
        for device in devices where !device.declaration.joinsLater { start(device) }
    }

    /// Lets the device follow these collections from its next start.
    func follow(_ collections: [String], _ device: SimulatedDevice) {
        var declaration = device.declaration
        declaration.collections = collections
        // The names were checked with the scenario.
        if let filter = try? Self.filter(declaration, isWide: device.settings.filter.collections.count > ChangeFilter.maximumCollections) {
            device.nextFilter = filter
        }
    }

    /// - Parameter isWide: whether it names more collections than a request may, most of which there are not.
    private static func filter(_ declaration: Scenario.Device, isWide: Bool) throws -> ChangeFilter {
        let others = isWide && !declaration.collections.isEmpty ? (1...ChangeFilter.maximumCollections).map { "unused-\($0)" } : []
        return try ChangeFilter(collections: declaration.collections + others)
    }

    private static func settings(_ declaration: Scenario.Device, _ filter: ChangeFilter) -> SyncSettings {
        var settings = SyncSettings()
        settings.filter = filter
        settings.following = declaration.following == .everything ? .everything : .cachedKeys
        settings.longestDelay = 5_000
        settings.historyCapacity = 256
        if declaration.hasSmallSteps {
            settings.rejectionCount = 2
            (settings.pageLimit, settings.batchCount, settings.revalidationKeys, settings.fetchKeys) = (2, 3, 2, 2)
            (settings.hold, settings.grace, settings.requestTimeout) = (5, 3_000, 8_000)
        }
        return settings
    }

    // MARK: Time and chance

    /// Random bits that follow from the seed, the time, and the number of earlier calls at this time. So an incident that is left out
    /// of a scenario changes little of the later course.
    func random() -> UInt64 {
        lastDraw = lastDraw.time == now ? (now, lastDraw.count + 1) : (now, 0)
        return RandomSource.mix((seed ?? 0) ^ RandomSource.mix(UInt64(bitPattern: now) &* 4_096 &+ lastDraw.count))
    }

    /// How long something takes, in milliseconds: `usual`, or with a seed anything around it.
    func delay(_ usual: Int64) -> Int64 {
        guard seed != nil else { return usual }
        let bits = random()
        // One in thirty takes ten times as long; with wide delays, half of all take eight times as long or longer.
        let scale: Int64 = hasWideDelays ? 2 << Int64((bits >> 40) % 7) : (bits >> 32) % 30 == 0 ? 20 : 2
        return Int64(bits % UInt64(usual * scale + 1))
    }

    func push(_ event: Event, after delay: Int64 = 0) { queue.push(event, at: now + max(0, delay)) }

    // MARK: Steps

    /// Lets the next thing happen. False when nothing is left.
    func advance() throws(Violation) -> Bool {
        guard let (time, event) = queue.pop() else { return false }
        now = max(now, time)
        if case .peer(let process, let event) = event {
            // The endless messages of servers are no steps: the length of a run is that of its incidents.
            if servers[process.server].process == process { try take(event, servers[process.server]) }
            return true
        }
        step += 1
        digest.mix(now)
        try take(event)
        return true
    }

    private func take(_ event: Event) throws(Violation) {
        if let sleeper = sleeper(of: event) { return sleeper.postponed.append(event) }
        switch event {
        case .request(let message): try requestArrives(message)
        case .reply(let message, let reply, let lastWrite): try replyArrives(message, reply, lastWrite)
        case .disconnect(let message): disconnect(message)
        case .disk(let number, let run): if let device = device(number, run) { try commitNext(device) }
        case .cachedKeys(let number, let run, let query): if let device = device(number, run) { try loadCachedKeys(device, query) }
        case .timer(let number, let run, let serial): if let device = device(number, run) { try fireTimer(device, serial) }
        case .merge(let number, let run, let request): if let device = device(number, run) { try resolve(device, request) }
        case .register(let number, let run): if let device = device(number, run) { try registerClosures(device) }
        case .start(let number, let run): if devices[number].run == run, devices[number].phase == .down { restart(devices[number]) }
        case .wakeUp(let number, let run): if devices[number].run == run { try wakeUp(devices[number]) }
        case .noticeWake(let number, let run): if let device = device(number, run) { try handle(device, .wake) }
        case .sync(let number, let run): if devices[number].run == run { devices[number].durable = nil }
        case .serverSync(let process): if let server = server(process) { try sync(server) }
        case .serverPublish(let process, let commit): if let server = server(process) { try publish(commit, server) }
        case .serverReadRejected(let process, let message, let results, let lastWrite):
            if server(process) != nil { readRejected(message, results, lastWrite) }
        case .serverScan(let process, let message, let since, let deadline):
            if server(process) != nil { scan(message, since, deadline: deadline) }
        case .serverPark(let process, let message, let since, let deadline):
            if server(process) != nil { holdPoll(message, since, deadline: deadline) }
        case .serverExpire(let process): if let server = server(process) { expire(server) }
        case .serverStart(let process): if let server = server(process) { try startServer(server) }
        case .peer: break
        }
    }

    /// The server if that process is its present one.
    private func server(_ process: ServerProcess) -> SimulatedServer? {
        let server = servers[process.server]
        return server.process == process ? server : nil
    }

    /// The device if that process still runs.
    private func device(_ number: Int, _ run: Int) -> SimulatedDevice? {
        let device = devices[number]
        return device.run == run && device.phase == .running ? device : nil
    }

    /// The device that would have to be awake for this.
    private func sleeper(of event: Event) -> SimulatedDevice? {
        switch event {
        case .disk(let number, let run), .cachedKeys(let number, let run, _), .timer(let number, let run, _),
            .merge(let number, let run, _),
            .register(let number, let run), .noticeWake(let number, let run):
            let device = devices[number]
            return device.run == run && device.phase == .asleep ? device : nil
        default: return nil
        }
    }

    func fail(_ rule: Rule, _ device: Int?, _ text: String) -> Violation {
        Violation(rule: rule, step: step, time: now, device: device, text: text)
    }
}
