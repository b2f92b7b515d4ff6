package import FreshetWire

/// A condition under which a write is applied. It compares the record as it is when the write's turn comes.
package enum Precondition: Hashable, Sendable {
    /// `ifRevision`: the record is at this revision; zero: there is no record.
    case revision(Revision)
    /// `If-Match: *`.
    case exists
    /// `If-None-Match: *`.
    case absent
    /// `If-Match` with entity tags: the record is at one of these positions. Tags that this server cannot have made
    /// match nothing: leave them out.
    case matches([Cursor])
    /// `If-None-Match` with entity tags.
    case matchesNone([Cursor])

    func holds(for revision: Revision?, in epoch: Epoch) -> Bool {
        switch self {
        case .revision(let wanted): return (revision ?? .zero) == wanted
        case .exists: return revision != nil
        case .absent: return revision == nil
        case .matches(let tags): return revision.map { tags.contains(Cursor(epoch: epoch, revision: $0)) } ?? false
        case .matchesNone(let tags): return revision.map { !tags.contains(Cursor(epoch: epoch, revision: $0)) } ?? true
        }
    }

    func problem(current: Record?) -> Problem {
        let found = current.map { "it is at revision \($0.revision)" } ?? "there is none"
        let wanted =
            switch self {
            case .revision(.zero), .absent: "that there be no record"
            case .revision(let revision): "the record at revision \(revision)"
            case .exists: "that there be a record"
            case .matches: "the record at one of the entity tags given"
            case .matchesNone: "the record at none of the entity tags given"
            }
        return Problem(
            .preconditionFailed, "The write demands \(wanted), and \(found). Merge with 'current' and write again.", current: current)
    }
}
