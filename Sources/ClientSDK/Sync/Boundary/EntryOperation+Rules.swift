package import FreshetWire

extension Entry {
    /// Raises what is known of the entry if `news` are about this very revision; otherwise does nothing.
    package mutating func confirm(_ news: Confirmation) {
        guard epoch == news.epoch, revision == news.revision else { return }
        asOf = max(asOf, news.asOf)
        pass = max(pass, news.pass)
        verifiedAt = max(verifiedAt, news.verifiedAt)
        if let position = invalidatedAt, asOf >= position { invalidatedAt = nil }
    }

    /// Notes an invalidation of this epoch at `position`; no effect where the entry is known through it, or is of another epoch.
    package mutating func invalidate(at position: Cursor) {
        guard epoch == position.epoch, asOf < position.revision else { return }
        invalidatedAt = max(invalidatedAt ?? position.revision, position.revision)
    }

    /// What a device knows of a record that is at a revision now whose value it did not get.
    ///
    /// - Parameter keepsValue: whether an earlier value stays, invalidated at the new revision, rather than none.
    package static func withoutValue(_ news: Confirmation, over stored: Entry?, keepsValue: Bool) -> Entry {
        let entry = Entry(
            key: news.key, epoch: news.epoch, revision: news.revision, asOf: news.asOf, pass: news.pass, content: nil, lacksValue: true,
            verifiedAt: news.verifiedAt, origin: .feed)
        guard var stored else { return entry }
        let stays = stored.revision > news.revision || stored.content != nil && (keepsValue || stored.revision == news.revision)
        guard stored.epoch == news.epoch, stays else {
            return entry.supersedes(stored) ? entry.replacing(stored) : stored
        }
        if stored.revision < news.revision {
            stored.invalidate(at: Cursor(epoch: news.epoch, revision: news.revision))
            stored.pass = max(stored.pass, news.pass)
        } else {
            stored.confirm(news)
        }
        return stored
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
    /// Whether rows may need a refresh after it that did not before.
    var leavesWorkToRefresh: Bool {
        switch self {
        case .withoutValue, .invalidate: true
        case .put, .confirm, .evict, .endPass: false
        }
    }

    /// What the operation makes of the row of `key`; the rules of the disk in one place.
    package func applied(to stored: Entry?, of key: RecordKey) -> Entry? {
        switch self {
        case .put(let entry, let onlyIfHeld):
            guard entry.key == key else { return stored }
            guard let stored else { return onlyIfHeld ? nil : entry }
            return entry.supersedes(stored) ? entry.replacing(stored) : stored
        case .confirm(let news):
            guard news.key == key, var stored else { return stored }
            stored.confirm(news)
            return stored
        case .withoutValue(let news, let keepsValue):
            guard news.key == key else { return stored }
            return Entry.withoutValue(news, over: stored, keepsValue: keepsValue)
        case .evict(let scope, let position):
            guard let stored, scope.contains(key), stored.isKnownOnly(before: position) else { return stored }
            return nil
        case .invalidate(let scope, let position):
            guard var stored, scope.contains(key) else { return stored }
            stored.invalidate(at: position)
            return stored
        case .endPass(let pass, let position): return stored?.ended(pass, at: position)
        }
    }
}
