// swift-format-ignore-file: NeverUseForceTry, NeverForceUnwrap

import FreshetWire

@testable import FreshetClient

/// Devices on copies of one disk, some of which are rolled back, take random steps: they write, answers are lost, processes die. At the end every
/// write that some disk has kept must have had its effect once, and none may be confirmed that had none.
///
/// With `hasOwners`, names belong to principals, and the principal of a device changes now and then. A device may then wait for the principal of
/// its name, and must not lose a write meanwhile.
struct CopyWalk {
    private static let counter = Scene.key("counters/1")

    /// The faults found at the end.
    private(set) var faults: [String] = []
    private var server = ModelServer()
    private var devices: [ModelDevice] = []
    private var random: SeededRandom
    private var last: Int64 = 0
    /// The disks that devices go back to, each once.
    private var snapshots: [Int: (disk: VolatileStore, written: Int64)] = [:]
    /// The writes of each device, and their reported verdicts.
    private var written: [[Int64]] = []
    private let hasOwners: Bool
    /// How many devices had to wait at the end for the principal of their name.
    private(set) var waitingForOwner = 0

    init(seed: UInt64, ignoresNonces: Bool = false, hasOwners: Bool = false) {
        random = SeededRandom(seed)
        server.ignoresNonces = ignoresNonces
        self.hasOwners = hasOwners
        // An image that was in use or not, with writes that wait or not.
        var image = Self.device(on: VolatileStore(client: try! ClientIdentifier("kiosk")), random: seed)
        var known: [Int64] = []
        image.principal = principal()
        for _ in 0..<random.below(3) { known.append(write(&image)) }
        if random.below(2) == 0 { image.run(with: &server) }
        for _ in 0..<random.below(3) { known.append(write(&image)) }
        image.settleDisk()
        for number in 1...5 {
            devices.append(Self.device(on: image.store, random: seed &* 1_000 &+ UInt64(number)))
            devices[number - 1].principal = principal()
            written.append(known)
        }
        for _ in 0..<150 { step() }
        finish()
    }

    /// A device that sends few writes at once.
    private static func device(on disk: VolatileStore, random: UInt64) -> ModelDevice {
        ModelDevice.onCopy(of: disk, random: random) { $0.batchCount = 3 }
    }

    private mutating func principal() -> String? { hasOwners ? random.below(2) == 0 ? "a" : "b" : nil }

    private mutating func write(_ device: inout ModelDevice) -> Int64 {
        last += 1
        let operation = WriteOperation.increment(path: try! JSONPointer("/n"), by: .integer(last))
        device.handle(
            .set(
                SetRequest(callerID: CallerID(last), key: Self.counter, operation: operation, base: device.store.entries[Self.counter])))
        device.settleDisk()
        return last
    }

    private mutating func step() {
        let index = Int(random.below(Int64(devices.count)))
        switch random.below(hasOwners ? 13 : 12) {
        case 0...2:
            var device = devices[index]
            written[index].append(write(&device))
            devices[index] = device
        case 3...7: answerAll(index)
        case 8: devices[index].fireTimer()
        case 9: devices[index].handle(.wake)
        case 10: if random.below(4) == 0 { devices[index].crash() }
        case 12: if random.below(4) == 0 { devices[index].principal = principal() }
        default: rollBack(index)
        }
    }

    private mutating func answerAll(_ index: Int) {
        for call in devices[index].open {
            guard let answer = devices[index].answer(call.kind, by: &server) else { continue }
            let reply: Reply = random.below(4) == 0 ? .failure(.interrupted("lost")) : answer
            devices[index].reply(call.id, reply, lastWrite: server.lastWrite(for: call.kind))
            // The disk may be behind.
            if random.below(4) > 0 { devices[index].settleDisk() }
        }
    }

    /// Takes a snapshot, or goes back to it, once. A snapshot is of a device that does not know yet that its name is shared, and has no write waiting: what it
    /// has refused already would be sent by both (docs/decisions/0040-copied-devices.md).
    private mutating func rollBack(_ index: Int) {
        guard let snapshot = snapshots[index] else {
            guard devices[index].store.rows.isEmpty, devices[index].transactions.isEmpty else { return }
            snapshots[index] = (devices[index].store, Int64(written[index].count))
            return
        }
        guard snapshot.written >= 0, random.below(3) == 0 else { return }
        snapshots[index]?.written = -1
        // Writes that only the lost disk had need not take effect, but those that were sent may have.
        written[index].removeSubrange(Int(snapshot.written)...)
        devices[index] = Self.device(on: snapshot.disk, random: devices[index].random &+ 77)
        devices[index].principal = principal()
    }

    /// Lets the principals return to whose names devices wait for.
    private mutating func returnOwners() {
        for index in devices.indices where !devices[index].store.rows.isEmpty {
            guard case .refused(let problem)? = devices[index].status?.writeTrouble, problem.code == .clientTaken else { continue }
            waitingForOwner += 1
            devices[index].principal = server.owners[devices[index].store.state.client]
            devices[index].handle(.wake)
        }
    }

    private mutating func finish() {
        for _ in 1...6 where hasOwners {
            // A device that waits for a principal does not come to rest before that.
            for index in devices.indices { devices[index].run(with: &server, rounds: 30) }
            returnOwners()
        }
        for _ in 1...3 { for index in devices.indices { devices[index].run(with: &server) } }
        var applied: [Int64: Int] = [:]
        for decision in server.decisions.values.flatMap(\.values) {
            guard case .applied(.some) = decision.verdict, case .increment(let increment) = decision.write.operation,
                case .integer(let amount) = increment.amount
            else { continue }
            applied[amount, default: 0] += 1
        }
        for (amount, count) in applied.sorted(by: { $0.key < $1.key }) where count > 1 {
            faults.append("write \(amount) took effect \(count) times")
        }
        for amount in Set(written.joined()).sorted() where applied[amount] == nil { faults.append("write \(amount) never took effect") }
        for (index, device) in devices.enumerated() where !device.store.rows.isEmpty || device.status?.connection != .live {
            faults.append("device \(index) does not come to rest")
        }
        let sum = applied.reduce(0) { $0 + $1.key * Int64($1.value) }
        for (index, device) in devices.enumerated() where sum > 0 {
            let text = device.view(Self.counter).value.content.map { String(decoding: $0.bytes, as: UTF8.self) }
            if text != "{\"n\":\(sum)}" { faults.append("device \(index) shows \(text ?? "nothing"), not \(sum)") }
        }
        for call in server.repeated { faults.append("number \(call.number) was decided twice") }
    }
}
