import FreshetClient
import FreshetWire

/// An abstraction of a device's state. Searches use it to distinguish states that no run has reached yet from those that many have.
///
/// It is small on purpose: states that differ in numbers, times or contents alone are equal. It looks at what the device has stored and what
/// it waits for, not into its machine, so that the machine may change.
struct DeviceCoverage: Hashable, Sendable {
    /// What the device is doing: what it waits for from the disk and from the server, and how far it has verified what it holds.
    private(set) var activity: UInt64 = 0
    /// Whether a clear or a reconciliation is to come, and whether all is read again: a small part of ``activity``, at most three bits.
    private(set) var mode: UInt64 = 0
    /// How far the writes of each key in the outbox have come, each value once, in the order of the keys; at most 60 bits.
    private(set) var keys: [UInt64] = []

    /// How far each write in the outbox has come, each value once, in the order of the writes; at most 11 bits.
    private(set) var writes: [UInt64] = []
    /// Late things: responses for which the device no longer waits, and work that is due or waits for the clock; nine bits.
    private(set) var lateness: UInt64 = 0

    /// The most keys that are looked at.
    private static var mostKeys: Int { 4 }

    /// - Parameters:
    ///   - requests: what the device waits for from the server.
    ///   - late: whether answers may come to requests that the device has given up: 1, and 2 to some from before a clear.
    init(_ device: SimulatedDevice, waitingFor requests: [RequestDescription.Kind], late: UInt64, at now: Int64) {
        let state = device.store.state
        var mode = PackedBits()
        mode.add(device.isCleared)
        mode.add(state.mustReconcile)
        mode.add(state.cursor == nil)
        self.mode = mode.value

        var activity = mode
        switch state.revalidation {
        case .complete: activity.add(0, width: 2)
        case .fromStart: activity.add(1, width: 2)
        case .ofCachedKeys: activity.add(2, width: 2)
        }
        activity.add(device.commits.first.map(Self.kind) ?? 0, width: 3)
        activity.add(requests.reduce(0) { $0 | Self.bit(of: $1) }, width: 5)
        self.activity = activity.value
        lateness = Self.lateness(device, mode.value, late: late, at: now)

        let rows = Dictionary(grouping: device.store.rows.values, by: \.key)
        for key in rows.keys.sorted().prefix(Self.mostKeys) {
            let rows = (rows[key] ?? []).sorted { $0.writeID < $1.writeID }
            let (entry, watermark) = (device.store.entries[key], device.store.watermarks[key])
            let value = Self.value(of: rows, on: entry, watermark, in: state.epoch)
            if !keys.contains(value) { keys.append(value) }
            addWrites(rows, entry, watermark, device)
        }
    }

    /// Work is late where no event has begun it, as after a sleep, and waits for the clock where nothing else is under way.
    private static func lateness(_ device: SimulatedDevice, _ mode: UInt64, late: UInt64, at now: Int64) -> UInt64 {
        var bits = PackedBits()
        bits.add(mode, width: 3)
        bits.add(late, width: 2)
        bits.add(device.timer.map { $0.deadline <= device.uptime(at: now) } ?? false)
        bits.add(device.withMachine { $0.inspection.isResetting })
        bits.add(device.open.isEmpty)
        bits.add(device.commits.isEmpty)
        return bits.value
    }

    /// Adds the first writes to a key, each with the device's knowledge of it.
    private mutating func addWrites(
        _ rows: [OutboxRow], _ entry: Entry?, _ watermark: WriteWatermark?, _ device: SimulatedDevice
    ) {
        var isBehindValue = false
        for row in rows.prefix(Self.mostWrites) {
            var bits = PackedBits()
            bits.add(entry.map { $0.content == nil ? 1 : 2 } ?? 0, width: 2)
            bits.add(Self.kind(of: row.operation), width: 2)
            bits.add(Self.progress(of: row).kind, width: 2)
            bits.add(watermark.map { row.number <= $0.number } ?? false)
            // An earlier process may have sent it.
            bits.add(row.number < device.firstNumber)
            bits.add(row.number <= device.lastSent)
            bits.add(isBehindValue)
            if !writes.contains(bits.value) { writes.append(bits.value) }
            if row.isPending, Self.kind(of: row.operation) == 1 { isBehindValue = true }
        }
    }

    /// The most writes to a key that are looked at one by one.
    private static var mostWrites: Int { 4 }

    /// What a transaction changes: all, writes, records or the position alone.
    private static func kind(_ transaction: DiskTransaction) -> UInt64 {
        if transaction.clear != nil { return 4 }
        if !transaction.outbox.isEmpty { return 3 }
        return transaction.entries.isEmpty ? 1 : 2
    }

    private static func bit(of request: RequestDescription.Kind) -> UInt64 {
        switch request {
        case .changes(_, _, wait: 0, _, _): 1
        case .changes: 2
        case .writes: 4
        case .reads, .record, .list: 8
        case .clientStatus: 16
        }
    }

    /// The record, the first write and the last one; the writes between them seldom differ.
    private static func value(of rows: [OutboxRow], on entry: Entry?, _ watermark: WriteWatermark?, in epoch: Epoch?) -> UInt64 {
        var bits = PackedBits()
        bits.add(entry.map { $0.content == nil ? 1 : 2 } ?? 0, width: 2)
        bits.add(entry.map { $0.epoch != epoch } ?? false)
        if let first = rows.first { bits.add(Self.value(of: first, watermark, in: epoch), width: 9) }
        if rows.count > 1, let last = rows.last { bits.add(Self.value(of: last, watermark, in: epoch), width: 9) }
        return bits.value
    }

    /// Nine bits, never 0.
    private static func value(of row: OutboxRow, _ watermark: WriteWatermark?, in epoch: Epoch?) -> UInt64 {
        let (progress, decided) = progress(of: row)
        var bits = PackedBits()
        bits.add(kind(of: row.operation), width: 2)
        bits.add(progress, width: 2)
        bits.add(decided != nil && decided != epoch)
        bits.add(watermark.map { $0.epoch == epoch ? 1 : 2 } ?? 0, width: 2)
        bits.add(watermark.map { row.number <= $0.number } ?? false)
        bits.add(row.precondition != .none)
        return bits.value
    }

    /// 1 for a whole value, and others for changes of one.
    private static func kind(of operation: WriteOperation) -> UInt64 {
        switch operation {
        case .put, .delete: 1
        case .patch: 2
        case .increment: 3
        }
    }

    private static func progress(of row: OutboxRow) -> (kind: UInt64, decidedIn: Epoch?) {
        switch row.state {
        case .pending, .held: (0, nil)
        case .applied(let position): (1, position.epoch)
        case .settled(let position): (2, position.epoch)
        case .merging(let epoch): (3, epoch)
        }
    }
}

/// Small numbers side by side in one word.
private struct PackedBits {
    private(set) var value: UInt64 = 0

    mutating func add(_ bits: UInt64, width: UInt64) { value = value << width | bits }

    mutating func add(_ flag: Bool) { add(flag ? 1 : 0, width: 1) }
}
