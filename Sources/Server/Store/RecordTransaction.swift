package import FreshetWire

/// The one write transaction of a store. Valid within the closure that it was given to.
package protocol RecordTransaction: AnyObject {
    /// The transaction's view of one namespace, which the first write to it makes.
    func namespace(_ namespace: Namespace) throws -> any NamespaceTransaction

    /// Removes a namespace with all that is in it. Its next use has a new epoch.
    /// - Returns: whether there was one; if not, nothing changes.
    func drop(_ namespace: Namespace) throws -> Bool

    /// Gives every namespace, made or not, a new epoch: for a back-up that was restored. `seed` is random.
    /// - Returns: the namespaces that there are, by name.
    func rotateEpochs(seed: UInt64) throws -> [Namespace]

    /// Gives one namespace a new epoch, its records as they are. `seed` is random.
    /// - Returns: whether there is one; if not, nothing changes.
    func renewEpoch(of namespace: Namespace, seed: UInt64) throws -> Bool

    /// Forgets deletes and invalidations of one namespace, however new, at most `limit` rows: first the deletes, each by revision.
    func forgetDeletes(of namespace: Namespace, limit: Int) throws -> Compaction

    /// Forgets the outcomes of clients that have written nothing since the day of a time, at most `limit` rows. Their last numbers stay, so that
    /// no write is applied twice: docs/decisions/idle-clients.md.
    func forgetOutcomes(before time: Timestamp, limit: Int) throws -> Compaction

    /// Forgets deletes and invalidations of before a time, and clears away what dropped namespaces have left, at most `limit` rows.
    func compact(before time: Timestamp, limit: Int) throws -> Compaction

    /// Writes something, so that a commit shows that the disk takes it.
    func touch() throws
}

/// What a step of compaction did.
package struct Compaction: Hashable, Sendable {
    /// How many deletes and invalidations were forgotten.
    package var forgotten: Int
    /// How many rows of dropped namespaces were cleared away.
    package var purged: Int
    /// How many outcomes of idle clients were forgotten.
    package var outcomes: Int
    /// Whether nothing is left to do.
    package var isComplete: Bool

    package init(forgotten: Int = 0, purged: Int = 0, outcomes: Int = 0, isComplete: Bool = true) {
        self.forgotten = forgotten
        self.purged = purged
        self.outcomes = outcomes
        self.isComplete = isComplete
    }
}

/// One namespace within a write transaction.
package protocol NamespaceTransaction: AnyObject {
    /// As it stands after what the transaction has done so far.
    var state: NamespaceState { get }

    /// What holds the key now: a record or a tombstone.
    func occupant(of key: RecordKey) throws -> Occupant?

    /// The record with its value.
    func record(_ key: RecordKey) throws -> Record?

    /// The record without its value, which is not read.
    func outline(_ key: RecordKey) throws -> Record?

    /// Stores a value under the key that `occupant` holds now. Takes the next revision; so do the next two.
    func put(_ content: Content, at key: RecordKey, over occupant: Occupant?, _ stamp: Stamp) throws -> Revision

    /// Turns the record that holds the key now into a tombstone.
    func delete(_ key: RecordKey, _ occupant: Occupant, _ stamp: Stamp) throws -> Revision

    /// Notes that what the scope reaches has changed elsewhere. Records keep their revisions.
    func invalidate(_ scope: InvalidationScope, at time: Timestamp) throws -> Revision

    /// The number of the device's last decided write; 0 if it has none.
    func lastWrite(of client: ClientIdentifier) throws -> Int64

    /// What is kept about these numbers, in order: the outcomes of decided writes, and what was left out. O(outcomes that are kept).
    func outcomes(of numbers: ClosedRange<Int64>, by client: ClientIdentifier) throws -> [KeptOutcome]

    /// Keeps the outcomes of writes that were decided now, in order and without a gap after the device's last; the last of them becomes that.
    /// Forgets those at or below `settled`.
    /// Notes the day, which says how long the client has been idle.
    func keep(_ outcomes: [KeptOutcome], of client: ClientIdentifier, settled: Int64, at time: Timestamp) throws

    /// Runs the closure and undoes what it did to this namespace if it throws.
    func atomically<Result>(_ body: () throws -> Result) throws -> Result
}

/// What holds a key.
package struct Occupant: Hashable, Sendable {
    /// The store's own name for the row.
    package var row: Int64
    package var revision: Revision
    /// The value's length; `nil` for a tombstone.
    package var size: Int?
    package var isJSON: Bool

    package init(row: Int64, revision: Revision, size: Int?, isJSON: Bool) {
        self.row = row
        self.revision = revision
        self.size = size
        self.isJSON = isJSON
    }
}

/// When and by whom something was written.
package struct Stamp: Hashable, Sendable {
    package var modified: Timestamp
    package var author: Change.Author?
    /// The first revision of the atomic batch that the write belongs to, if any. The feed keeps the batch on one page.
    package var firstOfBatch: Revision?

    package init(modified: Timestamp, author: Change.Author? = nil, firstOfBatch: Revision? = nil) {
        self.modified = modified
        self.author = author
        self.firstOfBatch = firstOfBatch
    }
}

/// The outcome of a decided write, as it is stored.
package struct KeptOutcome: Hashable, Sendable {
    package var number: Int64
    /// A problem's `current` is left out here and read again for each answer, so that outcomes stay small.
    package var verdict: WriteOutcome.Verdict
    /// Whether the problem shows the write's record as `current`.
    package var showsRecord: Bool
    /// What tells the write from another of the same number; `nil` where the client did not say.
    package var nonce: Int64?
    /// Where this stands for all numbers from here through ``number``, which a client left out since another history had decided them: none of
    /// them has an outcome in this one. `nil` for a write.
    package var leavesOutFrom: Int64?

    /// The numbers that this is about.
    package var numbers: ClosedRange<Int64> { (leavesOutFrom ?? number)...number }

    /// The most bytes that a problem's `detail` has in JSON: with all else of an outcome less than 1 KiB.
    package static let detailLimit = 768

    package init(number: Int64, verdict: WriteOutcome.Verdict, showsRecord: Bool = false, nonce: Int64? = nil) {
        self.nonce = nonce
        self.number = number
        self.verdict = verdict
        self.showsRecord = showsRecord
    }

    package init(leavesOut numbers: ClosedRange<Int64>) {
        self.init(number: numbers.upperBound, verdict: .settled)
        leavesOutFrom = numbers.lowerBound
    }
}

extension Timestamp {
    /// Days since 1970-01-01, rounded down.
    var day: Int64 { milliseconds >= 0 ? milliseconds / 86_400_000 : (milliseconds - 86_399_999) / 86_400_000 }
}
