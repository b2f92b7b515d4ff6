import FreshetClient
import FreshetWire

extension Oracle {
    /// Checks the result of a list; returns a description if it is not the server's records as of moments since the list began, with the
    /// device's writes over them.
    ///
    /// - Parameters:
    ///   - views: the records of the list; for an observer, all that the device holds.
    ///   - since: where the server stood when the list began.
    func listed(
        _ views: [KeyView], of collection: String, _ listing: ScenarioEvent.Listing, since: Point, _ device: SimulatedDevice
    ) -> String? {
        // In another history the server may never have had what the list began with.
        guard since.history == current else { return nil }
        let shown = Dictionary(views.map { ($0.key, $0) }, uniquingKeysWith: { $1 })
        let written = Set(device.machine.overlaidKeys)
        for (number, key) in keys.enumerated() where key.collection == collection && !written.contains(key) {
            let history = histories[current]
            let first = history.version(of: number, at: since.revision)
            let contents = [first?.content] + history.versions[number].filter { $0.revision > since.revision }.map(\.content)
            guard let view = shown[key], view.value != .absent else {
                guard contents.allSatisfy({ $0 != nil }), listing != .observed || device.settings.filter.matches(key) else { continue }
                return "the list of \(collection) lacks \(key), which the server has had since \(since.revision), before the list began"
            }
            guard listing != .observed else { continue }
            if contents.allSatisfy({ $0 == nil }) { return "the list of \(collection) has \(key), which the server has not had since" }
            guard listing != .ids else { continue }
            guard let entry = view.entry, view.value != .unknown else { return "the list of \(collection) has \(key) without a record" }
            guard self.history(entry.epoch) == current else { continue }
            let version = history.version(of: number, at: entry.revision.number)
            if entry.revision.number < first?.revision ?? 0 {
                return "the list of \(collection) has \(key) of \(entry.revision), and began at \(since.revision)"
            }
            guard !entry.isTrue(of: version?.content, at: version?.revision) else { continue }
            return "the list of \(collection) has \(entry.valueText) for \(key), where the server had \(Replay.text(version?.content))"
        }
        return nil
    }
}
