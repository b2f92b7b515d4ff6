package import FreshetWire

/// What a history has in common with the one before it, as after the promotion of a standby: docs/decisions/0065-lineage.md.
package struct Lineage: Hashable, Sendable {
    /// The epoch before this one.
    package var previous: Epoch
    /// The last revision of the previous history that this one has. It has all before that too, and no other.
    package var fork: Revision

    package init(previous: Epoch, fork: Revision) {
        self.previous = previous
        self.fork = fork
    }

    /// Where a reader at a position of the previous history continues in the history `epoch`; `nil` for another position, for a
    /// reader that still reads the records of its beginning, and for one whose pages left out a change of which the
    /// replacement may be lost.
    func continuation(of position: Cursor, in epoch: Epoch) -> Problem.Continuation? {
        guard position.epoch == previous else { return nil }
        switch position.goal {
        case nil: break
        case .origin: return nil
        case .head(let head): guard head <= fork else { return nil }
        }
        let cursor = Cursor(epoch: epoch, revision: min(position.revision, fork), rights: position.rights)
        return Problem.Continuation(fork: fork, cursor: cursor)
    }
}
