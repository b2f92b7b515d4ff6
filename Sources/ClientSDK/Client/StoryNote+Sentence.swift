internal import FreshetWire

extension StoryNote {
    /// The note as a sentence for a person.
    var sentence: String {
        switch what {
        case .changed(let revision): "the feed brought revision \(revision)"
        case .deleted(let revision): "the feed brought its removal, at revision \(revision)"
        case .invalidated(let revision): "invalidated at revision \(revision) (\(scope.text)): evicted, to be read afresh"
        case .valueLeftOut(let revision): "the feed brought revision \(revision) without the value, which is large: evicted, to be read"
        case .changeSkipped(let revision): "revision \(revision) from the feed was dropped: known already, or not held here"
        case .fetched(let revision?, let asOf): "fetched revision \(revision), right as of \(asOf)"
        case .fetched(nil, let asOf): "fetched: no record as of \(asOf)"
        case .fetchRefused(let asOf, let floor):
            "a fetch was dropped: it was as old as \(asOf), and the record was changed or invalidated at \(floor)"
        case .fetchOfOtherEpoch(let epoch): "a fetch was dropped: it was of the other history \(epoch)"
        case .evicted: "evicted: the disk tier is at its limit, and others were used since; to be read afresh"
        case .written(let receipt): "write \(receipt.number) of this device: shown as pending"
        case .applied(let receipt, let revision?): "write \(receipt.number) took effect as revision \(revision)"
        case .applied(let receipt, nil): "write \(receipt.number) was decided, at a revision that is not known"
        case .rejected(let receipt, let code): "write \(receipt.number) was rejected (\(code)): rolled back"
        case .merged(let receipt, let into): "write \(receipt.number) met a conflict and was merged into write \(into.number)"
        case .confirmed(let receipt): "the confirmed record holds write \(receipt.number)"
        case .reset: "the history or the position was lost: everything is being verified"
        case .verified(let asOf): "verified after the reset, right as of \(asOf)"
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
