internal import FreshetWire

extension HistoryEvent {
    /// The note as a sentence for a person.
    var message: String {
        switch kind {
        case .changed(let revision): "the feed brought revision \(revision)"
        case .deleted(let revision): "the feed brought its removal, at revision \(revision)"
        case .invalidated(let revision): "invalidated at revision \(revision) (\(scope.text)): evicted, to be read afresh"
        case .valueLeftOut(let revision): "the feed brought revision \(revision) without the value, which is large: evicted, to be read"
        case .changeSkipped(let revision): "revision \(revision) from the feed was dropped: known already, or not held here"
        case .fetched(let revision?, let asOf): "fetched revision \(revision), right as of \(asOf)"
        case .fetched(nil, let asOf): "fetched: no record as of \(asOf)"
        case .fetchRefused(let asOf, let lowerBound):
            "a fetch was dropped: it was as old as \(asOf), and the record was changed or invalidated at \(lowerBound)"
        case .fetchOfOtherEpoch(let epoch): "a fetch was dropped: it was of the other history \(epoch)"
        case .evicted: "evicted: the disk tier is at its limit, and others were used since; to be read afresh"
        case .written(let writeID): "write \(writeID.number) of this device: shown as pending"
        case .applied(let writeID, let revision?): "write \(writeID.number) took effect as revision \(revision)"
        case .applied(let writeID, nil): "write \(writeID.number) was decided, at a revision that is not known"
        case .rejected(let writeID, let code): "write \(writeID.number) was rejected (\(code)): rolled back"
        case .merged(let writeID, let into): "write \(writeID.number) met a conflict and was merged into write \(into.number)"
        case .confirmed(let writeID): "the confirmed record holds write \(writeID.number)"
        case .forbidden: "the token may not read it any more: removed from this device"
        case .reset: "the history or the position was lost: everything is being verified"
        case .revalidated(let asOf): "verified after the reset, right as of \(asOf)"
        }
    }
}

extension InvalidationScope {
    fileprivate var text: String {
        switch self {
        case .key: "this record"
        case .collection(let collection, let prefix):
            prefix.isEmpty ? "all of \(collection)" : "all of \(collection) beginning with '\(prefix)'"
        case .everything: "everything"
        }
    }
}
