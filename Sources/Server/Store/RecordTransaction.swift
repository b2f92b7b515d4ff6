package import FreshetWire

/// A write transaction of a store, the only one that touches its namespaces. Valid within the closure that gets it.
package protocol RecordTransaction: AnyObject {
    /// The transaction's view of one namespace. The first write makes the namespace.
    func namespace(_ namespace: Namespace) throws -> any NamespaceTransaction

    /// The namespaces of the scope that a transaction of another server holds for so long that this one goes on without them: nothing
    /// can be done in them. O(1).
    var heldElsewhere: Set<Namespace> { get }

    /// Removes a namespace with all that is in it. Its next use has a new epoch.
    /// - Returns: whether the namespace existed; if not, nothing changes.
    func drop(_ namespace: Namespace) throws -> Bool

    /// Gives every namespace, made or not, a new epoch: for a back-up that was restored. `seed` is random.
    func rotateEpochs(seed: UInt64) throws

    /// Gives one namespace a new epoch and keeps its records. `seed` is random.
    /// - Returns: whether the namespace exists; if not, nothing changes.
    func renewEpoch(of namespace: Namespace, seed: UInt64) throws -> Bool

    /// Forgets deletes and invalidations of one namespace, however new, at most `limit` rows: first the deletes, each by revision.
    func forgetDeletes(of namespace: Namespace, limit: Int) throws -> Compaction

    /// Forgets the outcomes of clients that have written nothing since the day of a time of the retention clock, at most `limit`
    /// rows. Their last numbers stay, so that no write is applied twice: docs/decisions/0039-idle-clients.md.
    func forgetOutcomes(before time: Timestamp, limit: Int) throws -> Compaction

    /// Forgets deletes and invalidations from before a time of the retention clock, and removes the rows of dropped
    /// namespaces, at most `limit` rows.
    func compact(before time: Timestamp, limit: Int) throws -> Compaction

    /// The version of the access rows before the changes of this transaction, which makes at most one more. No other transaction
    /// changes the rows before this one ends. O(1).
    func accessVersion() throws -> AccessVersion

    /// As ``RecordStore/accessChanges(after:)``. Call it before the transaction changes rows.
    func accessChanges(after version: AccessVersion?) throws -> AccessChanges

    /// Stores a key or a revocation over that of the same kind and name.
    func keep(_ row: AccessRow) throws

    /// Removes a key or a revocation, if there is one of this name.
    func remove(_ kind: AccessRow.Kind, named name: String) throws

    /// Raises each part of the mark of the retention clock to that of `mark`, and returns what the store has then. A store that
    /// has a wall clock takes the time of that for ``RetentionClock/Mark/wall``. Call it last: over a store that servers share,
    /// they wait for each other from then on to the end of the transaction.
    func raise(_ mark: RetentionClock.Mark) throws -> RetentionClock.Mark

    /// Makes a write without meaning, so that a commit shows whether the disk accepts it. Servers that share the store
    /// write different rows, so that they do not wait for each other.
    func touch() throws
}

extension RecordTransaction {
    package var heldElsewhere: Set<Namespace> { [] }
}

/// The result of a step of compaction.
package struct Compaction: Hashable, Sendable {
    /// The number of deletes and invalidations that were forgotten.
    package var forgotten: Int
    /// The number of rows of dropped namespaces that were removed.
    package var purged: Int
    /// The number of outcomes of idle clients that were forgotten.
    package var outcomes: Int
    /// Whether nothing remains to be done.
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
    /// The state after everything that the transaction has done so far.
    var state: NamespaceState { get }

    /// The other counts, as of the same moment. O(1).
    var counts: NamespaceCounts { get }

    /// The record or tombstone that holds the key now.
    func existingRow(of key: RecordKey) throws -> ExistingRow?

    /// The record with its value.
    func record(_ key: RecordKey) throws -> Record?

    /// The record without its value, which is not read.
    func outline(_ key: RecordKey) throws -> Record?

    /// Stores a value under the key, in the row `existing` if there is one. Takes the next revision, as ``delete(_:_:_:)`` and
    /// ``invalidate(_:at:)`` do.
    func put(_ content: Content, at key: RecordKey, over existing: ExistingRow?, _ metadata: WriteMetadata) throws -> Revision

    /// Turns the record that holds the key now into a tombstone.
    func delete(_ key: RecordKey, _ existing: ExistingRow, _ metadata: WriteMetadata) throws -> Revision

    /// Records that the records in the scope have changed elsewhere. They keep their revisions.
    func invalidate(_ scope: InvalidationScope, at time: WriteTime) throws -> Revision

    /// The number of the device's last decided write; 0 if it has none.
    func lastWrite(of client: ClientIdentifier) throws -> Int64

    /// The principal that the device's name belongs to; `nil` if it has no owner.
    func owner(of client: ClientIdentifier) throws -> ClientOwner?

    /// Reads the kept outcomes of these numbers, in order: of decided writes, and of numbers that were left out.
    /// O(outcomes of the rows that have them); in a store in memory O(outcomes that are kept).
    func outcomes(of numbers: ClosedRange<Int64>, by client: ClientIdentifier) throws -> OutcomeRead

    /// Keeps the outcomes of writes that were decided now, in order and without a gap after the device's last number;
    /// the number of the last one becomes the device's last. Forgets outcomes at or below `settled`. Records the day,
    /// from which it follows how long the client has been idle. The name then belongs to `owner`, unless that is `nil`.
    ///
    /// - Parameter time: by the retention clock.
    func keep(_ outcomes: [StoredOutcome], of client: ClientIdentifier, owner: ClientOwner?, settled: Int64, at time: Timestamp) throws

    /// Runs the closure and undoes what it did to this namespace if it throws.
    func atomically<Result>(_ body: () throws -> Result) throws -> Result
}

/// The record or tombstone that holds a key.
package struct ExistingRow: Hashable, Sendable {
    /// The store's identifier of the row.
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

/// The time of a write.
package struct WriteTime: Hashable, Sendable {
    /// By the wall clock, for people to read.
    package var wall: Timestamp
    /// By the ``RetentionClock``, for deletes, invalidations and outcomes.
    package var retention: Timestamp

    package init(wall: Timestamp, retention: Timestamp) {
        self.wall = wall
        self.retention = retention
    }

    /// The same time by both clocks, for tests and simulators.
    package init(_ time: Timestamp) { self.init(wall: time, retention: time) }

    /// The same time by both clocks, for tests.
    package init(milliseconds: Int64) { self.init(Timestamp(milliseconds: milliseconds)) }
}

/// The time and the author of a write.
package struct WriteMetadata: Hashable, Sendable {
    package var time: WriteTime
    /// By the wall clock.
    package var modified: Timestamp { time.wall }
    package var author: Change.Author?
    /// The first revision of the atomic batch that the write belongs to, if any. The feed keeps the batch on one page.
    package var firstOfBatch: Revision?

    package init(time: WriteTime, author: Change.Author? = nil, firstOfBatch: Revision? = nil) {
        self.time = time
        self.author = author
        self.firstOfBatch = firstOfBatch
    }
}

/// The outcome of a decided write, as it is stored.
package struct StoredOutcome: Hashable, Sendable {
    package var number: Int64
    /// A problem's `current` is left out here and read again for each answer, so that outcomes stay small.
    package var verdict: WriteOutcome.Verdict
    /// Whether the problem shows the write's record as `current`.
    package var showsRecord: Bool
    /// Distinguishes the write from another of the same number; `nil` if the client sent none.
    package var nonce: Int64?
    /// The first of the numbers through ``number`` for which this stands, if a client left them out since another
    /// history had decided them: none of them has an outcome in this history. `nil` for a write.
    package var leavesOutFrom: Int64?

    /// The numbers for which this stands.
    package var numbers: ClosedRange<Int64> { (leavesOutFrom ?? number)...number }

    /// The most bytes of a problem's `detail` in JSON. With everything else, an outcome has at most 1 KiB.
    package static let detailLimit = 768

    /// The most bytes of a problem's `needs` in JSON. A longer one is left out: half of a right would be another right.
    package static let needsLimit = 128

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
    package var day: Int64 { milliseconds >= 0 ? milliseconds / 86_400_000 : (milliseconds - 86_399_999) / 86_400_000 }
}
