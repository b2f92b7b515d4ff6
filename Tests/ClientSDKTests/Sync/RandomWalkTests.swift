// swift-format-ignore-file: NeverUseForceTry, NeverForceUnwrap

import FreshetWire
import Glibc
import Testing

@testable import FreshetClient

/// Several devices and a server take random steps: replies late, lost, doubled, disks full, crashes between any two steps, resets.
/// After each step, and at the end, the rules of sync must hold.
@Suite struct RandomWalkTests {
    /// For the hunt: `WALK=1234 swift test --filter trace`.
    @Test(.enabled(if: ProcessInfo.seed != nil)) func trace() {
        guard let seed = ProcessInfo.seed else { return }
        var walk = RandomWalk(seed: seed)
        walk.isTraced = true
        walk.run(steps: 250)
        #expect(walk.faults.isEmpty, "\(walk.faults.joined(separator: "\n"))")
    }

    @Test(arguments: 0..<(ProcessInfo.hundreds * 10))
    func theRulesHold(tenth: Int) {
        for part in 0..<10 {
            let seed = UInt64(tenth * 10 + part)
            var walk = RandomWalk(seed: seed)
            walk.run(steps: 250)
            #expect(walk.faults.isEmpty, "seed \(seed): \(walk.faults.joined(separator: "\n"))")
        }
    }
}

struct RandomWalk {
    var random: UInt64
    let seed: UInt64
    var server = ModelServer()
    /// The server as it was at some times, in any of its histories.
    var backups: [ModelServer] = []
    /// The decisions of histories that are over.
    var past: [Epoch: [ClientIdentifier: [Int64: ModelServer.Decision]]] = [:]
    /// The write for which each number of a device has been sent, in any history.
    var named: [ClientIdentifier: [Int64: Write]] = [:]
    var nextNumbers: [ClientIdentifier: Int64] = [:]
    var devices: [ModelDevice] = []
    var faults: [String] = []
    var step = 0
    var lastToken: Int64 = 0
    var lastValue = 0
    var hasReset = false
    var isTraced = false

    let registers = (0..<3).map { try! RecordKey("registers/\($0)") }
    let counters = (0..<2).map { try! RecordKey("counters/\($0)") }
    /// Outside of the devices' filters, where they have any.
    let others = [try! RecordKey("others/0")]

    /// Writes by token, until their answer.
    struct Written {
        var key: RecordKey
        var mark: String
        var isIncrement: Bool
    }
    var asked: [Int: [CallerID: Written]] = [:]
    /// Accepted writes, by device and receipt.
    var accepted: [Int: [LocalWriteID: Written]] = [:]
    var undecided: [Int: Set<LocalWriteID>] = [:]
    /// Marks that must never vanish from what a device shows: increments that took effect.
    var applied: [Int: [Written]] = [:]
    var highest: [Int: [RecordKey: (Epoch, Revision)]] = [:]
    var written: Set<String> = []
    var clears = 0

    init(seed: UInt64) {
        self.seed = seed
        random = seed &* 0x9E37_79B9_7F4A_7C15 &+ 12_345
        server.kept = seed % 5 == 0 ? 2 : .max
        for index in 0..<2 {
            var settings = SyncSettings()
            settings.following = (seed >> UInt64(index)) & 1 == 0 ? .everything : .cachedKeys
            settings.pageLimit = 2
            settings.batchCount = 3
            settings.revalidationKeys = 2
            settings.fetchAttempts = 3
            if seed % 3 == 0 { settings.filter = try! ChangeFilter(collections: ["registers", "counters"]) }
            var device = ModelDevice(settings, client: "device\(index)")
            device.random = seed &+ UInt64(index)
            device.start()
            devices.append(device)
        }
    }

    mutating func below(_ bound: Int) -> Int {
        random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((random >> 33) % UInt64(bound))
    }

    mutating func pick<T>(_ items: [T]) -> T { items[below(items.count)] }

    mutating func run(steps: Int) {
        for index in 0..<steps {
            step = index
            if isTraced { print("--- step \(index)") }
            for place in devices.indices { devices[place].isTraced = isTraced }
            check(takeStep())
            if !faults.isEmpty { return }
        }
        finish()
    }

    // MARK: Steps

    /// Gives the device that took it.
    private mutating func takeStep() -> Int {
        let device = below(devices.count)
        switch below(100) {
        case 0..<14: write(device)
        case 14..<20: fetch(device)
        case 20..<40: deliver(device)
        case 40..<60: devices[device].commitNext()
        case 60..<66: devices[device].answerQuery()
        case 66..<72: foreignWrite()
        case 72..<80: devices[device].fireTimer()
        case 80..<84: fail(device)
        case 84..<86: devices[device].failNext()
        case 86..<89: crash(device)
        case 89: devices[device].handle(.wake)
        case 90..<92: processGhost(device)
        case 92..<94: merge(device)
        case 94: evict(device)
        case 95 where below(2) == 0: backUp()
        case 95: server.forgetDeletes()
        case 96 where seed % 4 == 1 && below(4) == 0: changeEpoch()
        // Often, so that histories meet that know very different numbers.
        case 96..<98 where seed % 4 == 3 && below(2) == 0: changeEpoch()
        case 97 where seed % 4 == 2 && below(4) == 0: clear(device)
        default: deliver(device)
        }
        collect()
        return device
    }

    private mutating func write(_ index: Int) {
        lastToken += 1
        lastValue += 1
        let callerID = CallerID(lastToken)
        let key = pick(registers + counters + others)
        let mark = "d\(index)v\(lastValue)"
        let isIncrement = key.collection == "counters" || (key.collection == "others" && seed % 2 == 0)
        var operation: WriteOperation
        var policy = ConflictPolicy.lastWriterWins
        if isIncrement {
            operation = .increment(path: try! JSONPointer("/\(mark)"), by: .integer(1))
        } else {
            let filler = below(6) == 0 ? String(repeating: "x", count: 300) : ""
            operation = .put(Content(checkedJSON: Array("\"\(mark)\(filler)\"".utf8)))
            if below(5) == 0 { operation = .delete }
            policy = [.lastWriterWins, .lastWriterWins, .rejectIfChanged, .merge(MergeName("m"))][below(4)]
        }
        asked[index, default: [:]][callerID] = Written(key: key, mark: mark, isIncrement: isIncrement)
        written.insert(mark)
        let base = devices[index].isCleared ? nil : devices[index].store.entries[key]
        devices[index].handle(.set(SetRequest(callerID: callerID, key: key, operation: operation, policy: policy, base: base)))
    }

    private mutating func fetch(_ index: Int) {
        lastToken += 1
        var keys = [pick(registers + counters + others)]
        let other = pick(registers)
        if below(2) == 0, other != keys[0] { keys.append(other) }
        let stored = devices[index].isCleared ? [:] : devices[index].store.entries
        devices[index].handle(.fetch(FetchRequest(callerID: CallerID(lastToken), items: keys.map { .init(key: $0, known: stored[$0]) })))
        if below(10) == 0 { devices[index].handle(.abandon(CallerID(lastToken))) }
    }

    /// Replies that the server gave and that have not come yet, so that they can be overtaken.
    var late: [(device: Int, id: RequestID, reply: Reply, lastWrite: Int64?)] = []

    private mutating func deliver(_ index: Int) {
        let mine = late.indices.filter { late[$0].device == index }
        if below(4) == 0, !mine.isEmpty {
            let (_, id, reply, lastWrite) = late.remove(at: pick(mine))
            devices[index].reply(id, reply, lastWrite: lastWrite)
            return
        }
        let open = devices[index].open.filter { description in !late.contains { $0.device == index && $0.id == description.id } }
        guard !open.isEmpty else { return }
        let description = pick(open)
        var kind = description.kind
        if case .changes(let since, let filter, _, let limit, let client) = kind, below(8) == 0 {
            kind = .changes(since: since, filter: filter, wait: 0, limit: limit, client: client)
        }
        guard let reply = devices[index].answer(kind, by: &server) else { return }
        let lastWrite = server.lastWrite(for: kind)
        if case .writes = kind, below(6) == 0 { _ = server.answer(kind) }
        if below(3) == 0 {
            late.append((index, description.id, reply, lastWrite))
        } else {
            devices[index].reply(description.id, reply, lastWrite: lastWrite)
        }
    }

    /// A request whose sender has given it up arrives all the same.
    private mutating func processGhost(_ index: Int) {
        let ghosts = devices[index].calls.indices.filter { devices[index].calls[$0].isCancelled }
        guard !ghosts.isEmpty else { return }
        let call = devices[index].calls.remove(at: pick(ghosts))
        if let reply = server.answer(call.description.kind), !call.isOrphaned, below(2) == 0 {
            let lastWrite = server.lastWrite(for: call.description.kind)
            devices[index].handle(.replied(call.description.id, reply, lastWrite: lastWrite))
        }
    }

    /// The request or its answer is lost; or the server or the network refuses.
    private mutating func fail(_ index: Int) {
        guard let description = devices[index].open.randomly(below(1_000)) else { return }
        if below(2) == 0 { _ = server.answer(description.kind) }
        late.removeAll { $0.device == index && $0.id == description.id }
        let problems: [Reply] = [
            .failure(.interrupted("lost")), .failure(.unreachable("no route")), .garbage("not JSON"),
            .problem(Problem(.overloaded, "busy"), cursor: server.cursor, retryAfter: 700),
            .problem(Problem(.unauthorized, "token"), cursor: nil, retryAfter: nil),
        ]
        devices[index].reply(description.id, pick(problems))
    }

    private mutating func crash(_ index: Int) {
        // Some of the pending transactions may be on disk.
        for _ in 0..<below(2) { devices[index].commitNext(silently: true) }
        late.removeAll { $0.device == index }
        devices[index].crash()
        asked[index] = [:]
        let waiting = Set(devices[index].store.rows.values.filter(\.isPending).map(\.writeID))
        undecided[index] = waiting
    }

    private mutating func foreignWrite() {
        lastValue += 1
        let mark = "s\(lastValue)"
        written.insert(mark)
        switch below(6) {
        case 0: server.invalidate(.key(pick(registers + counters)))
        case 1: server.invalidate(pick([.everything, .collection("registers", prefix: ""), .collection("registers", prefix: "1")]))
        case 2: server.write(pick(registers), nil)
        case 3:
            let key = pick(counters)
            let old = server.records[key]?.content.map { try! JSONDocument($0.bytes) } ?? .object([])
            server.write(key, Content(checkedJSON: try! Increment(path: JSONPointer("/\(mark)"), by: .integer(1)).applied(to: old).bytes))
        default: server.write(pick(registers + others), Content(checkedJSON: Array("\"\(mark)\"".utf8)))
        }
    }

    /// Evicts a record. No part remembers its revision, so while the feed is behind, it may bring an earlier one.
    private mutating func evict(_ index: Int) {
        let key = pick(registers + counters)
        devices[index].evict(key)
        if devices[index].store.entries[key] == nil { highest[index]?[key] = nil }
    }

    private mutating func merge(_ index: Int) {
        guard !devices[index].merges.isEmpty else { return }
        let request = devices[index].merges.removeFirst()
        let resolution: Resolution = below(4) == 0 ? .takeTheirs : ModelDevice.resolve(request)
        devices[index].handle(.merged(request.writeID, resolution, generation: request.generation))
    }

    private mutating func backUp() {
        backups.append(server)
        if backups.count > 6 { backups.remove(at: below(backups.count)) }
    }

    /// Begins another history. Requests that were sent in the old one may still arrive.
    private mutating func changeEpoch() {
        hasReset = true
        let fresh = Epoch("e\(step)")!
        past[server.epoch] = server.decisions
        let old = server
        switch below(4) {
        case 0:
            server = ModelServer(epoch: fresh.token)
            server.kept = old.kept
        case 1, 2:
            // A back-up is restored, of this history or of an earlier one, and older or newer than the current state.
            server = backups.isEmpty ? ModelServer(epoch: fresh.token) : pick(backups)
            server.kept = old.kept
        default:
            // A back-up of the current state is restored: all decided writes stay, and the history is another.
            break
        }
        server.lineage = server.epoch != fresh && below(2) == 0 ? (server.epoch, server.head) : nil
        server.epoch = fresh
        // The old state may come back.
        if below(2) == 0 { backups.append(old) }
        let texts = counters.map { server.record($0, full: true)?.content.map { String(decoding: $0.bytes, as: UTF8.self) } ?? "" }
        applied = applied.mapValues { $0.filter { write in texts.contains { $0.contains("\"\(write.mark)\":1") } } }
    }

    private mutating func clear(_ index: Int) {
        clears += 1
        lastToken += 1
        late.removeAll { $0.device == index }
        let keepsOutbox = below(2) == 0
        devices[index].handle(
            .clear(newClient: try! ClientIdentifier("device\(index)-\(clears)"), keepsOutbox: keepsOutbox, CallerID(lastToken)))
        guard !keepsOutbox else { return }
        asked[index] = [:]
        accepted[index] = [:]
        undecided[index] = []
        applied[index] = []
        highest[index] = [:]
    }
}

extension Array {
    func randomly(_ number: Int) -> Element? { isEmpty ? nil : self[number % count] }
}

private enum ProcessInfo {
    /// The walk to trace.
    static var seed: UInt64? { getenv("WALK").flatMap { UInt64(String(cString: $0)) } }
    /// How many hundreds of walks to take.
    static var hundreds: Int { getenv("WALKS").flatMap { Int(String(cString: $0)) } ?? 2 }
}
