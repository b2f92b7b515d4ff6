package import FreshetWire

/// Shows which entries of a past history hold in a history that continues it: docs/decisions/0065-lineage.md.
package struct Inheritance: Hashable, Sendable {
    /// The past history.
    package var previous: Epoch
    /// The last revision that both histories have.
    package var fork: Revision
    /// The history that begins.
    package var epoch: Epoch
    /// The pass that begins.
    package var pass: Int64
    /// The keys of the outbox. Their records are read again, since only a response states which writes of this device they contain.
    package var writtenKeys: Set<RecordKey>

    package init(previous: Epoch, fork: Revision, epoch: Epoch, pass: Int64, writtenKeys: Set<RecordKey>) {
        self.previous = previous
        self.fork = fork
        self.epoch = epoch
        self.pass = pass
        self.writtenKeys = writtenKeys
    }
}

extension Entry {
    /// Returns the entry in the history that continues its own. It stays as it is, for the verification that follows, if it is not
    /// of the last pass, or if it shows something beyond the fork, which was lost.
    package func inherited(_ inheritance: Inheritance) -> Entry {
        guard epoch == inheritance.previous, pass == inheritance.pass - 1, revision <= inheritance.fork,
            invalidatedAt.map({ $0 <= inheritance.fork }) ?? true, !inheritance.writtenKeys.contains(key)
        else { return self }
        var entry = self
        entry.epoch = inheritance.epoch
        entry.asOf = min(asOf, inheritance.fork)
        entry.pass = inheritance.pass
        return entry
    }
}
