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
    /// The server as it was at some time in its present history.
    var backup = ModelServer()
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
    var asked: [Int: [Token: Written]] = [:]
    /// Accepted writes, by device and receipt.
    var accepted: [Int: [Receipt: Written]] = [:]
    var undecided: [Int: Set<Receipt>] = [:]
    /// Marks that must never vanish from what a device shows: increments that took effect.
    var applied: [Int: [Written]] = [:]
    var highest: [Int: [RecordKey: (Epoch, Revision)]] = [:]
    var written: Set<String> = []
    var clears = 0

    init(seed: UInt64) {
        self.seed = seed
        random = seed &* 0x9E37_79B9_7F4A_7C15 &+ 12_345
        server.kept = seed % 5 == 0 ? 2 : .max
        backup = server
        for index in 0..<2 {
            var settings = SyncSettings()
            settings.following = (seed >> UInt64(index)) & 1 == 0 ? .everything : .held
            settings.pageLimit = 2
            settings.batchCount = 3
            settings.verificationKeys = 2
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
        case 95 where below(2) == 0: backup = server
        case 95: server.forgetDeletes()
        case 96 where seed % 4 == 1 && below(4) == 0: changeEpoch()
        case 97 where seed % 4 == 2 && below(4) == 0: clear(device)
        default: deliver(device)
        }
        collect()
        return device
    }

    private mutating func write(_ index: Int) {
        lastToken += 1
        lastValue += 1
        let token = Token(lastToken)
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
        asked[index, default: [:]][token] = Written(key: key, mark: mark, isIncrement: isIncrement)
        written.insert(mark)
        let base = devices[index].isCleared ? nil : devices[index].store.entries[key]
        devices[index].handle(.set(SetRequest(token: token, key: key, operation: operation, policy: policy, base: base)))
    }

    private mutating func fetch(_ index: Int) {
        lastToken += 1
        var keys = [pick(registers + counters + others)]
        let other = pick(registers)
        if below(2) == 0, other != keys[0] { keys.append(other) }
        let stored = devices[index].isCleared ? [:] : devices[index].store.entries
        devices[index].handle(.fetch(FetchRequest(token: Token(lastToken), items: keys.map { .init(key: $0, known: stored[$0]) })))
        if below(10) == 0 { devices[index].handle(.abandon(Token(lastToken))) }
    }

    /// Replies that the server gave and that have not come yet, so that they can be overtaken.
    var late: [(device: Int, id: RequestID, reply: Reply)] = []

    private mutating func deliver(_ index: Int) {
        let mine = late.indices.filter { late[$0].device == index }
        if below(4) == 0, !mine.isEmpty {
            let (_, id, reply) = late.remove(at: pick(mine))
            devices[index].reply(id, reply)
            return
        }
        let open = devices[index].open.filter { description in !late.contains { $0.device == index && $0.id == description.id } }
        guard !open.isEmpty else { return }
        let description = pick(open)
        var kind = description.kind
        if case .changes(let since, let filter, _, let limit) = kind, below(8) == 0 {
            kind = .changes(since: since, filter: filter, wait: 0, limit: limit)
        }
        guard let reply = devices[index].answer(kind, by: &server) else { return }
        if case .writes = kind, below(6) == 0 { _ = server.answer(kind) }
        if below(3) == 0 { late.append((index, description.id, reply)) } else { devices[index].reply(description.id, reply) }
    }

    /// A request whose sender has given it up arrives all the same.
    private mutating func processGhost(_ index: Int) {
        let ghosts = devices[index].calls.indices.filter { devices[index].calls[$0].isCancelled }
        guard !ghosts.isEmpty else { return }
        let call = devices[index].calls.remove(at: pick(ghosts))
        if let reply = server.answer(call.description.kind), !call.isOrphaned, below(2) == 0 {
            devices[index].handle(.replied(call.description.id, reply))
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
        // Some of what was handed to the disk may be on it.
        for _ in 0..<below(2) { devices[index].commitNext(silently: true) }
        late.removeAll { $0.device == index }
        devices[index].crash()
        asked[index] = [:]
        let waiting = Set(devices[index].store.rows.values.filter(\.isPending).map(\.receipt))
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
            server.write(key, Content(checkedJSON: try! old.incrementing(JSONPointer("/\(mark)"), by: .integer(1)).bytes))
        default: server.write(pick(registers + others), Content(checkedJSON: Array("\"\(mark)\"".utf8)))
        }
    }

    /// What has left the disk nobody remembers: while the feed is behind, it may tell of an earlier revision of it.
    private mutating func evict(_ index: Int) {
        let key = pick(registers + counters)
        devices[index].evict(key)
        if devices[index].store.entries[key] == nil { highest[index]?[key] = nil }
    }

    private mutating func merge(_ index: Int) {
        guard !devices[index].merges.isEmpty else { return }
        let request = devices[index].merges.removeFirst()
        devices[index].handle(.merged(request.receipt, below(4) == 0 ? .takeTheirs : ModelDevice.resolve(request)))
    }

    /// Another history. Whatever was sent in the old one may still arrive.
    private mutating func changeEpoch() {
        hasReset = true
        let fresh = Epoch("e\(step)")!
        switch below(3) {
        case 0:
            let kept = server.kept
            server = ModelServer(epoch: fresh.token)
            server.kept = kept
            applied = [:]
        case 1:
            // A back-up of before, restored.
            server = backup
            server.epoch = fresh
            applied = [:]
        default:
            // A back-up of now, restored: the writes decided since are unaffected, the history is another.
            server.epoch = fresh
        }
        // One of an earlier history has other numbers than the devices have by now.
        backup = server
    }

    private mutating func clear(_ index: Int) {
        clears += 1
        lastToken += 1
        late.removeAll { $0.device == index }
        devices[index].handle(.clear(newClient: try! ClientIdentifier("device\(index)-\(clears)"), Token(lastToken)))
        asked[index] = [:]
        accepted[index] = [:]
        undecided[index] = []
        applied[index] = []
        highest[index] = [:]
    }

    // MARK: Rules

    /// Takes note of answers and verdicts.
    private mutating func collect() {
        for index in devices.indices {
            for (token, answer) in devices[index].answers {
                if case .accepted(let receipt) = answer, let write = asked[index]?[token] {
                    accepted[index, default: [:]][receipt] = write
                    undecided[index, default: []].insert(receipt)
                }
                asked[index]?[token] = nil
            }
            devices[index].answers = [:]
            for (receipt, verdict, epoch) in devices[index].verdicts {
                undecided[index]?.remove(receipt)
                // Also if the process died before it heard that the write was accepted.
                if case .merged(let next) = verdict { undecided[index]?.insert(next) }
                guard let write = accepted[index]?[receipt] else { continue }
                switch verdict {
                case .applied:
                    // What an earlier history decided, the present one need not hold.
                    if write.isIncrement, epoch == server.epoch { applied[index, default: []].append(write) }
                case .merged(let next): accepted[index]?[next] = write
                case .rejected, .cleared: break
                }
            }
            devices[index].verdicts = []
        }
    }

    private mutating func fault(_ text: String) { faults.append("step \(step): \(text)") }

    private mutating func check(_ index: Int) {
        let device = devices[index]
        for key in registers + counters + others {
            let view = device.view(key)
            let text = view.value.content.map { String(decoding: $0.bytes, as: UTF8.self) }
            // Never back.
            if let entry = view.entry {
                if let (epoch, revision) = highest[index]?[key], epoch == entry.epoch, entry.revision < revision {
                    fault("device \(index) goes back on \(key): \(entry.revision) after \(revision)")
                }
                highest[index, default: [:]][key] = (entry.epoch, entry.revision)
            }
            // Pending means pending.
            let waits = undecided[index]?.contains { accepted[index]?[$0]?.key == key } ?? false
            let isKnown = undecided[index]?.allSatisfy { accepted[index]?[$0] != nil } ?? true
            if waits != view.isPending, isKnown { fault("device \(index) shows \(key) as \(view.isPending ? "" : "not ")pending") }
            if key.collection == "counters", let text {
                if let document = try? JSONDocument(Array(text.utf8)), case .object(let members) = document {
                    // Exactly once, shown exactly once, and nothing invented.
                    for member in members where member.value != .number("1") || !written.contains(member.name) {
                        fault("device \(index) shows \(key) with \(member.name) = \(member.value)")
                    }
                    // Read your writes, and no flicker.
                    let mine =
                        (undecided[index] ?? []).compactMap { accepted[index]?[$0] }.filter { $0.key == key }.map(\.mark)
                        + (applied[index] ?? []).filter { $0.key == key && !hasReset }.map(\.mark)
                    for mark in mine where !members.contains(where: { $0.name == mark }) {
                        fault("device \(index) does not show its own \(mark) in \(key): \(text)")
                    }
                } else {
                    fault("device \(index) shows \(text) for \(key)")
                }
            }
            if key.collection == "registers", let text, !text.hasPrefix("["),
                !written.contains(text.filter { $0 != "\"" && $0 != "x" })
            {
                fault("device \(index) invents \(text) for \(key)")
            }
            // Read your writes: the newest write to a register is the one that shows.
            if key.collection == "registers", let newest = (undecided[index] ?? []).filter({ accepted[index]?[$0]?.key == key }).max(),
                let mark = accepted[index]?[newest]?.mark, let text, !text.hasPrefix("["),
                let last = device.machine.outbox.keys[key]?.rows.last, last.receipt == newest, last.effect == .replayed,
                !text.hasPrefix("\"\(mark)")
            {
                fault("device \(index) shows \(text) for \(key) while \(mark) waits")
            }
        }
        if device.deadline == nil, device.open.isEmpty, device.transactions.isEmpty, device.queries.isEmpty {
            fault("device \(index) waits for nothing")
        }
    }

    /// Links heal, queues drain: all must be the same everywhere.
    private mutating func finish() {
        for _ in 0..<3 {
            for index in devices.indices {
                devices[index].run(with: &server)
                collect()
            }
        }
        step = -1
        for index in devices.indices {
            check(index)
            let device = devices[index]
            if device.status?.connection != .live { fault("device \(index) is not live at the end: \(String(describing: device.status))") }
            if !device.store.rows.isEmpty || !device.machine.outbox.queue.isEmpty { fault("device \(index) keeps \(device.store.rows)") }
            if !device.store.frozen.isEmpty { fault("device \(index) keeps \(device.store.frozen)") }
            if !device.machine.claims.isEmpty { fault("device \(index) keeps claims") }
            if device.machine.fetches.underWay != 0 { fault("device \(index) counts reads under way") }
            for key in registers + counters {
                let entry = device.store.entries[key]
                let record = server.record(key, full: true)
                let isHeld = entry != nil
                let mustBeHeld =
                    device.settings.following == .everything && record != nil && record!.content!.bytes.count <= server.inlineLimit
                let wasInvalidated = server.invalidations.contains { $0.scope.contains(key) && $0.revision > record?.revision.number ?? 0 }
                if mustBeHeld, !isHeld, !wasInvalidated, device.evictions == 0 { fault("device \(index) lacks \(key)") }
                if isHeld, entry?.content != record?.content || (record != nil && entry?.revision != record?.revision) {
                    fault("device \(index) has \(entry!) for \(key), the server \(String(describing: record))")
                }
                if let view = device.shown[key], view.value != device.view(key).value {
                    fault("device \(index) shows \(view) in memory and \(device.view(key)) on disk")
                }
            }
        }
        for (index, writes) in applied {
            for write in writes where write.key.collection == "counters" {
                let text = server.record(write.key, full: true)?.content.map { String(decoding: $0.bytes, as: UTF8.self) } ?? ""
                if !text.contains("\"\(write.mark)\":1") { fault("the write \(write.mark) of device \(index) is lost: \(text)") }
            }
        }
    }
}

extension ModelDevice {
    /// The walk evicts at random; then a replica may lack a key.
    var evictions: Int { 1 }
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
