package import FreshetWire

extension Entry {
    /// Raises `asOf`, `pass` and `verifiedAt` if `revalidation` is about this very revision; otherwise does nothing.
    package mutating func confirm(_ revalidation: Revalidation) {
        guard epoch == revalidation.epoch, revision == revalidation.revision else { return }
        asOf = max(asOf, revalidation.asOf)
        pass = max(pass, revalidation.pass)
        verifiedAt = max(verifiedAt, revalidation.verifiedAt)
        if let position = invalidatedAt, asOf >= position { invalidatedAt = nil }
    }

    /// Marks the entry as invalidated at `position`, if it is of that epoch and its `asOf` is before the position.
    package mutating func invalidate(at position: Cursor) {
        guard epoch == position.epoch, asOf < position.revision else { return }
        invalidatedAt = max(invalidatedAt ?? position.revision, position.revision)
    }

    /// Returns the entry of a record whose present revision is known and whose value the device did not receive.
    ///
    /// - Parameter keepsValue: whether an earlier value is kept, invalidated at the new revision, rather than dropped.
    package static func withoutValue(_ revalidation: Revalidation, over stored: Entry?, keepsValue: Bool) -> Entry {
        let entry = Entry(
            key: revalidation.key, epoch: revalidation.epoch, revision: revalidation.revision, asOf: revalidation.asOf,
            pass: revalidation.pass, content: nil, lacksValue: true,
            verifiedAt: revalidation.verifiedAt, origin: .feed)
        guard var stored else { return entry }
        let stays =
            stored.revision > revalidation.revision || stored.content != nil && (keepsValue || stored.revision == revalidation.revision)
        guard stored.epoch == revalidation.epoch, stays else {
            return entry.supersedes(stored) ? entry.replacing(stored) : stored
        }
        if stored.revision < revalidation.revision {
            stored.invalidate(at: Cursor(epoch: revalidation.epoch, revision: revalidation.revision))
            stored.pass = max(stored.pass, revalidation.pass)
        } else {
            stored.confirm(revalidation)
        }
        return stored
    }

    /// Whether news from `position` is newer than the entry.
    package func isKnownOnly(before position: Cursor) -> Bool { epoch != position.epoch || asOf < position.revision }

    /// Returns the entry after a pass has ended and the feed continues from `position`; `nil` removes it. It stays if
    /// the pass has confirmed it, or if it is known beyond the position, where the feed reports every later change.
    package func ended(_ pass: Int64, at position: Cursor) -> Entry? {
        guard self.pass < pass else { return self }
        guard !isKnownOnly(before: position) else { return nil }
        var entry = self
        entry.pass = pass
        return entry
    }

    /// Whether the disk may evict the entry for want of room.
    ///
    /// An entry that is known beyond the device's cursor has to stay: a page that is still in flight may hold an older
    /// value of its key, and only the entry shows that this value is older (rule 2).
    package func isEvictable(_ state: SyncState) -> Bool { Self.isEvictable(epoch: epoch, asOf: asOf, pass: pass, state) }

    /// As ``isEvictable(_:)``, for an entry whose value was not read.
    static func isEvictable(epoch: Epoch, asOf: Revision, pass: Int64, _ state: SyncState) -> Bool {
        if let cursor = state.cursor, cursor.epoch == epoch { return asOf <= cursor.revision }
        guard pass < state.pass else { return false }
        guard state.cursor == nil, epoch == state.epoch else { return true }
        // A pass from the start is no older than the position that was lost, but may be older than a verdict that
        // arrived since then.
        return state.lostCursor.map { $0.epoch == epoch && asOf <= $0.revision } ?? false
    }
}

extension EntryOperation {
    /// Whether the operation can make rows need a refresh.
    var leavesWorkToRefresh: Bool {
        switch self {
        case .withoutValue, .invalidate: true
        case .put, .confirm, .evict, .finishPass, .remove, .narrow, .inherit: false
        }
    }

    /// Returns the row of `key` after the operation; the rules of the disk in one place.
    package func applied(to stored: Entry?, of key: RecordKey) -> Entry? {
        switch self {
        case .put(let entry, let onlyIfCached):
            guard entry.key == key else { return stored }
            guard let stored else { return onlyIfCached ? nil : entry }
            return entry.supersedes(stored) ? entry.replacing(stored) : stored
        case .confirm(let revalidation):
            guard revalidation.key == key, var stored else { return stored }
            stored.confirm(revalidation)
            return stored
        case .withoutValue(let revalidation, let keepsValue):
            guard revalidation.key == key else { return stored }
            return Entry.withoutValue(revalidation, over: stored, keepsValue: keepsValue)
        case .evict(let scope, let position):
            guard let stored, scope.contains(key), stored.isKnownOnly(before: position) else { return stored }
            return nil
        case .invalidate(let scope, let position):
            guard var stored, scope.contains(key) else { return stored }
            stored.invalidate(at: position)
            return stored
        case .finishPass(let pass, let position): return stored?.ended(pass, at: position)
        case .remove(let removed): return removed == key ? nil : stored
        case .narrow(let filter, let writtenKeys): return filter.matches(key) || writtenKeys.contains(key) ? stored : nil
        case .inherit(let inheritance): return stored?.inherited(inheritance)
        }
    }
}
