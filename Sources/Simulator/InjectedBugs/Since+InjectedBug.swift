import FreshetWire

/// What a broken server makes of a reader's position; see ``InjectedBug``.
extension Since {
    /// The same position, where the reader has seen no later head.
    var withoutSeenHead: Since {
        guard case .after(let cursor) = self, case .head? = cursor.goal else { return self }
        return .after(Cursor(epoch: cursor.epoch, revision: cursor.revision, rights: cursor.rights))
    }
}
