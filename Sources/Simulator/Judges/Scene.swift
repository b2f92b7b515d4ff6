import FreshetClient
import FreshetWire

/// What the judges look at for every key of a device, taken once.
struct Scene {
    /// What its machine shows in the disk's place.
    let views: [Int: KeyView]
    /// The writes on its disk, in the order in which they take effect, and the numbers of their keys.
    private let rows: [OutboxRow]
    private let keys: [Int?]
    /// The keys that have writes under way.
    let written: Set<Int>
    /// The server's position so long ago that a live device must know it; `nil` for a device that has only just woken.
    let past: Observer.Point?

    init(_ device: SimulatedDevice, patience: Int64, _ observer: Observer, at now: Int64) {
        // Taken once: to ask a class's property is to copy it.
        let machine = device.machine
        var views: [Int: KeyView] = [:]
        if machine.hasOverlay {
            for key in machine.overlaidKeys {
                if let number = observer.numbers[key] { views[number] = machine.view(of: key, stored: device.entry(of: key)) }
            }
        }
        self.views = views
        rows =
            observer.records[device.number].alive.isEmpty
            ? [] : device.store.rows.values.sorted { ($0.number, $0.receipt) < ($1.number, $1.receipt) }
        keys = rows.map { observer.numbers[$0.key] }
        written = Set(views.keys).union(keys.compactMap { $0 })
        let limit = now - patience
        past = device.phase == .running && limit > device.awakeSince ? observer.position(at: limit) : nil
    }

    func rows(of key: Int) -> [OutboxRow] {
        keys.contains(key) ? zip(keys, rows).compactMap { $0 == key ? $1 : nil } : []
    }
}
