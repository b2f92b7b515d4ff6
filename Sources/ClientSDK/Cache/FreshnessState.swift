internal import FreshetWire
internal import Glibc
internal import Synchronization

/// ``SyncStatus/freshness(of:)`` reduced to the fields that a read needs.
struct FreshnessState: Sendable {
    var isLive = false
    var pass: Int64 = 0
    let filter: ChangeFilter

    func of(_ view: KeyView) -> SnapshotFreshness? {
        guard let entry = view.entry else { return nil }
        guard entry.isConfirmed(in: pass) else { return .unverified(since: entry.verifiedAt) }
        return isLive && filter.matches(entry.key) ? .live : .confirmed(at: entry.verifiedAt)
    }
}
