import FreshetWire

/// All that was ever true in one epoch: each version of each record, and what became of each write.
struct SmallHistory: Hashable {
    struct Version: Hashable {
        var revision: Int64
        /// `nil`: there is no record.
        var content: Content?
        var author: Change.Author?
    }

    struct Invalidation: Hashable {
        var revision: Int64
        /// `nil`: everything.
        var key: Int?
    }

    struct Decision: Hashable {
        var write: Write
        var verdict: WriteOutcome.Verdict
    }

    /// What the server remembers of a device's writes; it may forget outcomes, the decisions stay.
    struct Ledger: Hashable {
        var last: Int64 = 0
        var outcomes: [Int64: WriteOutcome.Verdict] = [:]
    }

    /// The history that this one continues, up to the fork.
    struct Lineage: Hashable {
        var previous: Epoch
        var fork: Int64
    }

    var epoch: Epoch
    var lineage: Lineage?
    var head: Int64 = 0
    /// By the keys' numbers, in revision order.
    var versions: [[Version]]
    var invalidations: [Invalidation] = []
    var ledgers: [ClientIdentifier: Ledger] = [:]
    /// Includes the decisions of the histories that this one goes on from.
    var decisions: [ClientIdentifier: [Int64: Decision]] = [:]

    init(epoch: Epoch, keys: Int) {
        self.epoch = epoch
        versions = Array(repeating: [], count: keys)
    }

    func cursor(at revision: Int64) -> Cursor { Cursor(epoch: epoch, revision: Revision(revision) ?? .zero) }

    var cursor: Cursor { cursor(at: head) }

    /// The record's last version at or before a revision.
    func version(of key: Int, at revision: Int64) -> Version? { versions[key].last { $0.revision <= revision } }

    /// The record as it is now.
    func current(_ key: Int) -> Version? { versions[key].last }

    /// When the key was last changed or invalidated, at or before a revision; invalidations through `origin` do not count.
    func lastTouch(of key: Int, at revision: Int64, origin: Int64) -> Int64 {
        let changed = version(of: key, at: revision)?.revision ?? 0
        let invalidated = invalidations.last {
            $0.revision <= revision && $0.revision > origin && ($0.key == nil || $0.key == key)
        }
        return max(changed, invalidated?.revision ?? 0)
    }

    func decision(on number: Int64, of client: ClientIdentifier) -> Decision? { decisions[client]?[number] }

    /// Where the write took effect; `nil` if it did not.
    func appliedRevision(of number: Int64, by client: ClientIdentifier) -> Int64? {
        guard case .applied(let revision?)? = decision(on: number, of: client)?.verdict else { return nil }
        return revision.number
    }

    mutating func add(_ content: Content?, of key: Int, author: Change.Author? = nil) {
        head += 1
        versions[key].append(Version(revision: head, content: content, author: author))
    }

    mutating func invalidate(_ key: Int?) {
        head += 1
        invalidations.append(Invalidation(revision: head, key: key))
    }
}
