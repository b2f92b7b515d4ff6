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

    /// The most keys that are looked at.
    private static var mostKeys: Int { 4 }

    /// - Parameter requests: what the device waits for from the server.
    init(_ device: SimulatedDevice, waitingFor requests: [RequestDescription.Kind]) {
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

        let rows = Dictionary(grouping: device.store.rows.values, by: \.key)
        for key in rows.keys.sorted().prefix(Self.mostKeys) {
            let value = Self.value(of: rows[key] ?? [], on: device.store.entries[key], device.store.watermarks[key], in: state.epoch)
            if !keys.contains(value) { keys.append(value) }
        }
    }

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
        case .reads, .record: 8
        case .clientStatus: 16
        }
    }

    /// The record, the first write and the last one; the writes between them seldom differ.
    private static func value(of rows: [OutboxRow], on entry: Entry?, _ watermark: WriteWatermark?, in epoch: Epoch?) -> UInt64 {
        let rows = rows.sorted { $0.writeID < $1.writeID }
        var bits = PackedBits()
        bits.add(entry.map { $0.content == nil ? 1 : 2 } ?? 0, width: 2)
        bits.add(entry.map { $0.epoch != epoch } ?? false)
        if let first = rows.first { bits.add(Self.value(of: first, watermark, in: epoch), width: 9) }
        if rows.count > 1, let last = rows.last { bits.add(Self.value(of: last, watermark, in: epoch), width: 9) }
        return bits.value
    }

    /// Nine bits, never 0.
    private static func value(of row: OutboxRow, _ watermark: WriteWatermark?, in epoch: Epoch?) -> UInt64 {
        var bits = PackedBits()
        switch row.operation {
        case .put, .delete: bits.add(1, width: 2)
        case .patch: bits.add(2, width: 2)
        case .increment: bits.add(3, width: 2)
        }
        let (progress, decided): (UInt64, Epoch?) =
            switch row.state {
            case .pending, .held: (0, nil)
            case .applied(let position): (1, position.epoch)
            case .settled(let position): (2, position.epoch)
            case .merging(let epoch): (3, epoch)
            }
        bits.add(progress, width: 2)
        bits.add(decided != nil && decided != epoch)
        bits.add(watermark.map { $0.epoch == epoch ? 1 : 2 } ?? 0, width: 2)
        bits.add(watermark.map { row.number <= $0.number } ?? false)
        bits.add(row.precondition != .none)
        return bits.value
    }
}

/// Small numbers side by side in one word.
private struct PackedBits {
    private(set) var value: UInt64 = 0

    mutating func add(_ bits: UInt64, width: UInt64) { value = value << width | bits }

    mutating func add(_ flag: Bool) { add(flag ? 1 : 0, width: 1) }
}
