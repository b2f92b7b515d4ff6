internal import FreshetWire
internal import Glibc
internal import Synchronization

/// The parts of ``SyncStatus`` that decide how far a value can be relied on (rule 9).
struct FreshnessState: Sendable {
    var isLive = false
    var pass: Int64 = 0
    let filter: ChangeFilter

    /// O(number of collections in the filter); `nil` if nothing is known of the record.
    func of(_ view: KeyView) -> SnapshotFreshness? {
        guard let entry = view.entry else { return nil }
        guard entry.isConfirmed(in: pass) else { return .unverified(since: entry.verifiedAt) }
        return isLive && filter.matches(entry.key) ? .live : .confirmed(at: entry.verifiedAt)
    }
}
