import FreshetClient

/// The contents of a key at its last complete inspection. While none of them changes, only time can break a rule.
struct InspectedKey {
    var entry: Entry?
    /// The object in the memory tier.
    var held: CachedValue?
    /// `nil` for a key without writes under way.
    var overlay: Overlay?

    /// The values that a view over a key's writes is compared with. An object, since few keys have one.
    final class Overlay {
        let view: KeyView
        let writes: WaitingWrites
        /// ``Oracle/decisions`` at the time.
        let decisions: Int

        init(view: KeyView, writes: WaitingWrites, decisions: Int) {
            self.view = view
            self.writes = writes
            self.decisions = decisions
        }
    }

    /// Whether the key is as it was. Compares numbers before values.
    func isCurrent(_ entry: Entry?, _ held: CachedValue?, _ overlay: Overlay?) -> Bool {
        guard self.held === held, isSame(as: entry) else { return false }
        guard let overlay, let known = self.overlay else { return overlay == nil && self.overlay == nil }
        return known.decisions == overlay.decisions && known.writes === overlay.writes && known.view == overlay.view
    }

    private func isSame(as other: Entry?) -> Bool {
        guard let entry, let other else { return entry == nil && other == nil }
        return entry.revision == other.revision && entry.asOf == other.asOf && entry.pass == other.pass && entry.origin == other.origin
            && entry.epoch == other.epoch && entry.content == other.content
            && entry.lacksValue == other.lacksValue && entry.invalidatedAt == other.invalidatedAt
    }
}
