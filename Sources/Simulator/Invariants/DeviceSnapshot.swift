import FreshetClient
import FreshetWire

/// The values that the checks of every key of a device read, taken once.
struct DeviceSnapshot {
    /// The writes on its disk.
    let writes: WaitingWrites
    /// The numbers of the keys whose views come from the machine.
    let overlaid: Set<Int>
    /// The keys that have writes under way.
    let written: Set<Int>
    /// The server's position so long ago that a live device must know it; `nil` for a device that has only just woken.
    let past: Oracle.Point?

    init(_ device: SimulatedDevice, patience: Int64, _ oracle: Oracle, at now: Int64) {
        overlaid = device.withMachine { $0.hasOverlay ? Set($0.overlaidKeys.compactMap { oracle.numbers[$0] }) : [] }
        writes = device.writes(oracle)
        written = writes.rows.isEmpty ? overlaid : overlaid.union(writes.rows.keys)
        let limit = now - patience
        past = device.phase == .running && limit > device.awakeSince ? oracle.position(at: limit) : nil
    }
}
