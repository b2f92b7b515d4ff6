import FreshetPlatform
import FreshetWire

extension Lister {
    /// What a list has so far, beside the disk's rows of the collection.
    struct Comparison {
        private let rows: [RecordKey: CachedKey]
        private let local: LocalState
        private let settings: SyncSettings

        init(_ rows: [CachedKey], _ local: LocalState, _ settings: SyncSettings) {
            self.rows = Dictionary(rows.lazy.map { ($0.key, $0) }, uniquingKeysWith: { $1 })
            self.local = local
            self.settings = settings
        }

        /// The held keys that no page had and that are to be verified. A pending write shows whatever the record is.
        func unlisted(_ list: List) -> [RecordKey] {
            rows.values.filter { !$0.isAbsent }.map(\.key).filter {
                list.progress.listed[$0] == nil && local.outbox.keys[$0]?.isPending != true
            }
        }

        /// The row if the feed keeps it current, and it is no older than the list and what was read.
        private func row(_ key: RecordKey, _ progress: Progress) -> CachedKey? {
            guard settings.filter.matches(key), let row = rows[key], row.epoch == local.epoch,
                row.revision >= max(progress.listed[key] ?? .zero, progress.found[key]?.revision ?? .zero)
            else { return nil }
            return row
        }

        /// The keys that are to be read.
        func unread(_ list: List) -> [RecordKey] {
            let (progress, purpose) = (list.progress, list.request.purpose)
            let listed = progress.listed.keys.filter { key in
                guard progress.found[key] == nil, purpose != .observers || settings.filter.matches(key) else { return false }
                if purpose == .records(mustBeNew: true) { return true }
                if let view = local.outbox.keys[key]?.view, view.isPending { return purpose != .ids && !view.value.isKnown }
                guard let row = row(key, progress) else { return purpose != .ids || rows[key]?.isAbsent == true }
                return purpose != .ids && !row.hasValue && !row.isAbsent
            }
            return listed + (progress.unlisted ?? []).filter { progress.found[$0] == nil }
        }

        /// A failure if the disk lacks records that were read for observers, to whom only the disk's records are known.
        func unstored(_ list: List) -> SyncFailure? {
            guard list.isForObservers else { return nil }
            let isStored = list.progress.found.allSatisfy { key, found in
                !found.exists || !settings.filter.matches(key) || local.outbox.keys[key] != nil || row(key, list.progress) != nil
            }
            return isStored ? nil : .disk(.failed("it did not take all records that were read"))
        }

        /// The records of the list, with the pending writes over them.
        func result(_ list: List) -> CallResult {
            let (progress, isOfIDs) = (list.progress, list.request.purpose == .ids)
            guard !list.isForObservers else { return .listed(held: [], read: []) }
            let written = local.outbox.keys.keys.filter { ByteIdentity.areEqual($0.collection, list.request.collection) }
            var held: [RecordKey] = []
            var read: [KeyView] = []
            for key in Set(progress.listed.keys).union(progress.unlisted ?? []).union(written).sorted() {
                if let view = local.outbox.keys[key]?.view, view.value != .unknown || view.isPending && !isOfIDs {
                    if isOfIDs ? view.value != .absent : view.isShown { held.append(key) }
                } else if let row = row(key, progress), row.hasValue || progress.found[key] == nil {
                    if !row.isAbsent { held.append(key) }
                } else if let found = progress.found[key] {
                    guard found.exists else { continue }
                    if let view = found.view { read.append(view) } else { held.append(key) }
                } else if progress.listed[key] != nil {
                    held.append(key)
                }
            }
            return .listed(held: held, read: read)
        }
    }
}
