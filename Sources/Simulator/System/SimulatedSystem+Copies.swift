import FreshetClient
import FreshetWire

/// Disks that are copied: images of which several devices are made, snapshots to which one is rolled back
/// (docs/decisions/0040-copied-devices.md).
extension SimulatedSystem {
    /// A device's disk as it was at a moment, with the oracle's record of the device.
    struct DiskCopy {
        var store: VolatileStore
        var record: Oracle.DeviceRecord
        var scope: String
        var hasEvicted: Bool
    }

    func copyDisk(of device: SimulatedDevice) {
        let store = device.store
        let client = store.state.client
        guard device.phase != .absent, !device.isCleared, device.durable == nil, store.state.renamesAfter == nil else { return }
        let isFirst = !oracle.copiedNames.contains(client)
        guard store.rows.isEmpty || isFirst && store.rows.values.allSatisfy({ $0.state == .pending && !$0.isDisplaced }) else { return }
        oracle.copied(device)
        diskCopy = DiskCopy(
            store: store, record: oracle.records[device.number], scope: device.settings.scope, hasEvicted: device.hasEvicted)
    }

    /// Whether a device holds writes that it will send under another name. A history that ends in this time would leave out
    /// the numbers of the writes that depend on them, and a copy would send these under another name too
    /// (docs/decisions/0040-copied-devices.md).
    var isSendingUnderAnotherName: Bool {
        devices.contains { device in
            oracle.copiedNames.contains(device.store.state.client) && device.store.rows.values.contains(where: \.isDisplaced)
        }
    }

    func replaceDisk(of device: SimulatedDevice) {
        guard let copy = diskCopy, device.phase != .absent, device.settings.scope == copy.scope else { return }
        for message in device.open.values.sorted() { abandon(message) }
        device.phase = .down
        device.run += 1
        device.durable = nil
        device.isCleared = false
        device.store = copy.store
        device.hasEvicted = copy.hasEvicted
        oracle.replaced(device, by: copy.record)
        // A write that waits in several copies takes effect in each of them if its number is left out after a restore
        // (docs/decisions/0040-copied-devices.md).
        if !copy.store.rows.isEmpty { diskCopy = nil }
        recorder?.mark(device.number, at: now, "has another disk")
        push(.start(device: device.number, run: device.run), after: 100)
    }
}
