package import FreshetWire

extension Entry {
    /// Raises what is known of the entry if `news` are about this very revision; otherwise does nothing.
    package mutating func confirm(_ news: Confirmation) {
        guard epoch == news.epoch, revision == news.revision else { return }
        asOf = max(asOf, news.asOf)
        pass = max(pass, news.pass)
        verifiedAt = max(verifiedAt, news.verifiedAt)
    }

    /// Whether news from `position` go beyond what is known of the entry.
    package func isKnownOnly(before position: Cursor) -> Bool { epoch != position.epoch || asOf < position.revision }

    /// What becomes of the entry when a pass is over and the feed goes on from `position`: it stays if the pass has confirmed it, or if it is
    /// known beyond the position, where the feed tells of all that follows.
    package func ended(_ pass: Int64, at position: Cursor) -> Entry? {
        guard self.pass < pass else { return self }
        guard !isKnownOnly(before: position) else { return nil }
        var entry = self
        entry.pass = pass
        return entry
    }

    /// Whether the disk may let the entry go for want of room.
    ///
    /// One that is known beyond the device's cursor has to stay: a page that is still on its way may hold an older value of its key, and
    /// nothing but the entry tells that it is older (rule 2).
    package func mayBeEvicted(_ state: SyncState) -> Bool { Self.mayBeEvicted(epoch: epoch, asOf: asOf, pass: pass, state) }

    /// As ``mayBeEvicted(_:)``, of an entry whose value was not read.
    static func mayBeEvicted(epoch: Epoch, asOf: Revision, pass: Int64, _ state: SyncState) -> Bool {
        if let cursor = state.cursor, cursor.epoch == epoch { return asOf <= cursor.revision }
        guard pass < state.pass else { return false }
        guard state.cursor == nil, epoch == state.epoch else { return true }
        // A reading from nothing is no older than the position that was lost. A verdict that came since then may be newer than its pages.
        return state.lostCursor.map { $0.epoch == epoch && asOf <= $0.revision } ?? false
    }
}

extension EntryOperation {
    /// What the operation makes of the row of `key`; the rules of the disk in one place.
    package func applied(to stored: Entry?, of key: RecordKey) -> Entry? {
        switch self {
        case .put(let entry, let onlyIfHeld):
            guard entry.key == key else { return stored }
            guard let stored else { return onlyIfHeld ? nil : entry }
            return entry.supersedes(stored) ? entry : stored
        case .confirm(let news):
            guard news.key == key, var stored else { return stored }
            stored.confirm(news)
            return stored
        case .evict(let scope, let position):
            guard let stored, scope.contains(key), stored.isKnownOnly(before: position) else { return stored }
            return nil
        case .endPass(let pass, let position): return stored?.ended(pass, at: position)
        }
    }
}
