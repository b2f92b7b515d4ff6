import FreshetWire

/// What a device has decided and not stored yet: one transaction, and what follows when it is on disk.
///
/// One plan is under way at a time, made from what is on disk, so no two decisions can cross; nothing of it shows before the disk has it.
struct Plan: Sendable {
    /// What goes on after the disk's answer.
    enum Continuation: Sendable {
        case page(upToDate: Bool)
        case sets([QueuedSet], accepted: [Receipt])
        case verdicts
        case fetched([Fetches.Outcome])
        case reset
        /// The server's last number of ours.
        case reconciled(last: Int64)
        case heldVerified
        case merged
        case cleared(Token)
    }

    var continuation: Continuation
    var entries: [EntryOperation] = []
    /// Why, for each of ``entries``.
    var causes: [Cause] = []
    var state: [StateChange] = []
    var clear: ClientIdentifier?
    /// The new states of keys in the outbox, in the order in which they were touched.
    private(set) var staged: [PendingKey] = []
    private(set) var stagedCauses: [Cause] = []
    private var stagedPlaces: [RecordKey: Int] = [:]
    var verdicts: [(receipt: Receipt, key: RecordKey, verdict: WriteVerdict)] = []
    var notes: [StoryNote] = []
    /// Whether reads under way must be asked again: they may be older than the beginning of the pass.
    var outdatesReads = false
    /// What the fence of reads under way must know.
    var floors: [(scope: InvalidationScope, revision: Revision)] = []

    init(_ continuation: Continuation) { self.continuation = continuation }

    mutating func add(_ operation: EntryOperation, _ cause: Cause) {
        entries.append(operation)
        causes.append(cause)
    }

    /// The key as it will be, if this plan has touched it.
    func staged(_ key: RecordKey) -> PendingKey? { stagedPlaces[key].map { staged[$0] } }

    func stagedPlace(_ key: RecordKey) -> Int? { stagedPlaces[key] }

    /// Puts the key's new state in place of what was staged.
    mutating func stage(_ pending: PendingKey, _ cause: Cause) {
        if let place = stagedPlaces[pending.key] {
            staged[place] = pending
            stagedCauses[place] = cause
        } else {
            stagedPlaces[pending.key] = staged.count
            staged.append(pending)
            stagedCauses.append(cause)
        }
    }
}

/// A write of the user that is not on disk yet.
struct QueuedSet: Hashable, Sendable {
    var request: SetRequest
}

/// What waits for its turn to become a ``Plan``.
enum Intent: Sendable {
    case page(ChangePage, since: Since, lastWrite: Int64?)
    case quiet(Cursor, since: Since, lastWrite: Int64?)
    case sets
    case results(WriteResults, lastWrite: Int64?)
    case fetched([Fetches.Arrival], lastWrite: Int64?)
    /// The server's last number of ours, and when it was that.
    case reconcile(last: Int64, at: Cursor)
    case heldVerified([HeldKey], ReadsResponse, lastWrite: Int64?)
    case verificationOver
    case merged(Receipt, Resolution)

    /// The history that it speaks of.
    var epoch: Epoch? {
        switch self {
        case .page(let page, _, _): page.cursor.epoch
        case .quiet(let cursor, _, _), .reconcile(_, let cursor): cursor.epoch
        case .results(let results, _): results.cursor.epoch
        case .fetched(let arrivals, _): arrivals.first?.cursor.epoch
        case .heldVerified(_, let response, _): response.cursor.epoch
        case .verificationOver, .sets, .merged: nil
        }
    }

    /// Whether it came from the server: worthless after a reset or a clear.
    var isFromServer: Bool {
        switch self {
        case .page, .quiet, .results, .fetched, .reconcile, .heldVerified, .verificationOver: true
        case .sets, .merged: false
        }
    }
}
