import FreshetWire

/// The decisions of a device that are not stored yet: one transaction, and its consequences once it is on disk.
///
/// One plan is under way at a time, made from the state on disk, so decisions cannot conflict. Nothing of a plan shows
/// before the disk has committed it.
struct Plan: Hashable, Sendable {
    /// The step that follows the disk's answer.
    enum Continuation: Hashable, Sendable {
        case page(upToDate: Bool)
        case sets([SetRequest], accepted: [Receipt])
        case verdicts
        case fetched([Entry])
        case reset
        /// The server's last number of this device.
        case reconciled(last: Int64)
        case heldVerified
        /// The keys whose values were too large for the response.
        case refreshed(large: [RecordKey])
        case merged
        case discarded(Token)
        /// The store that the device belongs to.
        case bound
        /// The earlier name of the device.
        case renamed(ClientIdentifier)
        case cleared(Token)
    }

    struct Decision: Hashable, Sendable {
        var receipt: Receipt
        var key: RecordKey
        var verdict: WriteVerdict
    }

    struct Floor: Hashable, Sendable {
        var scope: InvalidationScope
        var revision: Revision
    }

    var continuation: Continuation
    var entries: [EntryOperation] = []
    /// The cause of each of ``entries``.
    var causes: [Cause] = []
    var state: [StateChange] = []
    var rejections: [RejectionOperation] = []
    var clear: ClientIdentifier?
    /// The new states of keys in the outbox, in the order in which they were touched.
    private(set) var staged: [PendingKey] = []
    private(set) var stagedCauses: [Cause] = []
    private var stagedPlaces: [RecordKey: Int] = [:]
    /// The numbers of the writes whose verdicts the plan stores.
    var decided: [Int64] = []
    var verdicts: [Decision] = []
    var notes: [StoryNote] = []
    /// Whether reads in flight must be repeated: they may be older than the beginning of the pass.
    var outdatesReads = false
    /// New floors for the fence of reads in flight.
    var floors: [Floor] = []

    init(_ continuation: Continuation) { self.continuation = continuation }

    mutating func add(_ operation: EntryOperation, _ cause: Cause) {
        entries.append(operation)
        causes.append(cause)
    }

    /// Returns the state of the key after this plan; `nil` if the plan has not touched it.
    func staged(_ key: RecordKey) -> PendingKey? { stagedPlaces[key].map { staged[$0] } }

    /// Stages the key's new state in place of an earlier one.
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

extension Plan {
    /// Returns the cause of the key's change; `nil` if this plan has not touched it.
    func stagedCause(_ key: RecordKey) -> Cause? { stagedPlaces[key].map { stagedCauses[$0] } }

    /// Returns the transaction for the disk; `nil` if there is nothing to store.
    func transaction(_ id: TransactionID, over outbox: Outbox) -> DiskTransaction? {
        let operations = clear == nil ? staged.flatMap { $0.operations(since: outbox.keys[$0.key]) } : []
        guard clear != nil || !entries.isEmpty || !state.isEmpty || !operations.isEmpty || !rejections.isEmpty else { return nil }
        return DiskTransaction(id: id, clear: clear, entries: entries, outbox: operations, rejections: rejections, state: state)
    }

    /// Publishes the changes of the plan, which is on disk now.
    ///
    /// - Parameters:
    ///   - skipped: the operations that had no effect.
    ///   - before: the views that the staged keys had.
    func publish(_ skipped: Set<Int>, _ before: [KeyView?], _ view: (RecordKey, Entry?) -> KeyView, _ turn: inout Turn) {
        turn.note(notes)
        var publications: [Publication] = []
        for case (let index, .put(let entry, _)) in entries.enumerated() where entry.origin == .feed && entry.content != nil {
            turn.note(.key(entry.key), skipped.contains(index) ? .changeSkipped(entry.revision) : .changed(entry.revision))
        }
        for (index, operation) in entries.enumerated() where !skipped.contains(index) {
            switch operation {
            case .put(let entry, _):
                guard staged(entry.key) == nil else { continue }
                // A response to a refresh may be older than an invalidation that the disk has.
                if case .refreshed = continuation {
                    publications.append(.changed(entry.key, causes[index]))
                } else {
                    publications.append(.view(view(entry.key, entry), causes[index]))
                }
            case .confirm(let news):
                if staged(news.key) == nil { publications.append(.confirmed(news)) }
            case .withoutValue(let news, _):
                if staged(news.key) == nil { publications.append(.changed(news.key, causes[index])) }
            case .invalidate(.key(let key), _):
                if staged(key) == nil { publications.append(.changed(key, causes[index])) }
            case .invalidate(let scope, let position): publications.append(.invalidated(scope, at: position))
            case .evict(.key(let key), _):
                if staged(key) == nil { publications.append(.view(view(key, nil), causes[index])) }
            case .evict(let scope, let position): publications.append(.swept(scope, before: position))
            case .endPass(let pass, let position): publications.append(.passEnded(pass, at: position))
            }
        }
        for (index, pending) in staged.enumerated() {
            let view = view(pending.key, pending.base)
            if view != before[index] { publications.append(.view(view, stagedCauses[index])) }
        }
        if !publications.isEmpty { turn.emit(.publish(publications)) }
    }
}

/// An event that waits to become a ``Plan``.
enum Intent: Hashable, Sendable {
    case page(ChangePage, since: Since, lastWrite: Int64?)
    case quiet(Cursor, since: Since, lastWrite: Int64?)
    case sets
    case results(WriteResults, lastWrite: Int64?)
    case fetched([Reader.Arrival], lastWrite: Int64?)
    /// The server's last number of this device, and the position at which it was the last.
    case reconcile(last: Int64, at: Cursor)
    case heldVerified([HeldKey], ReadsResponse, lastWrite: Int64?)
    case refreshed([HeldKey], ReadsResponse, lastWrite: Int64?)
    case verificationOver
    case merged(Receipt, Resolution)
    case discard(Receipt, Token)
    /// Binds the device to this store.
    case bind(StoreIdentifier)
    /// Renames the device, since another one has the same name and no further answer can come under that name.
    case rename

    /// The history of the response.
    var epoch: Epoch? {
        switch self {
        case .page(let page, _, _): page.cursor.epoch
        case .quiet(let cursor, _, _), .reconcile(_, let cursor): cursor.epoch
        case .results(let results, _): results.cursor.epoch
        case .fetched(let arrivals, _): arrivals.first?.cursor.epoch
        case .heldVerified(_, let response, _), .refreshed(_, let response, _): response.cursor.epoch
        case .verificationOver, .sets, .merged, .discard, .bind, .rename: nil
        }
    }

    /// Whether the intent came from the server, and is worthless after a reset or a clear.
    var isFromServer: Bool {
        switch self {
        case .page, .quiet, .results, .fetched, .reconcile, .heldVerified, .refreshed, .verificationOver: true
        case .sets, .merged, .discard, .bind, .rename: false
        }
    }
}
