import FreshetWire

/// What a device has decided and not stored yet: one transaction, and what follows when it is on disk.
///
/// One plan is under way at a time, made from what is on disk, so no two decisions can cross; nothing of it shows before the disk has it.
struct Plan: Hashable, Sendable {
    /// What goes on after the disk's answer.
    enum Continuation: Hashable, Sendable {
        case page(upToDate: Bool)
        case sets([SetRequest], accepted: [Receipt])
        case verdicts
        case fetched([Entry])
        case reset
        /// The server's last number of ours.
        case reconciled(last: Int64)
        case heldVerified
        /// The keys whose values did not come along.
        case refreshed(large: [RecordKey])
        case merged
        case discarded(Token)
        /// The store that the device belongs to.
        case bound
        /// The name that the device had.
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
    /// Why, for each of ``entries``.
    var causes: [Cause] = []
    var state: [StateChange] = []
    var rejections: [RejectionOperation] = []
    var clear: ClientIdentifier?
    /// The new states of keys in the outbox, in the order in which they were touched.
    private(set) var staged: [PendingKey] = []
    private(set) var stagedCauses: [Cause] = []
    private var stagedPlaces: [RecordKey: Int] = [:]
    /// The numbers of writes whose verdicts it stores.
    var decided: [Int64] = []
    var verdicts: [Decision] = []
    var notes: [StoryNote] = []
    /// Whether reads under way must be asked again: they may be older than the beginning of the pass.
    var outdatesReads = false
    /// What the fence of reads under way must know.
    var floors: [Floor] = []

    init(_ continuation: Continuation) { self.continuation = continuation }

    mutating func add(_ operation: EntryOperation, _ cause: Cause) {
        entries.append(operation)
        causes.append(cause)
    }

    /// The key as it will be, if this plan has touched it.
    func staged(_ key: RecordKey) -> PendingKey? { stagedPlaces[key].map { staged[$0] } }

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

extension Plan {
    /// Why the key changed, if this plan has touched it.
    func stagedCause(_ key: RecordKey) -> Cause? { stagedPlaces[key].map { stagedCauses[$0] } }

    /// What the disk is to do; `nil` for nothing.
    func transaction(_ id: TransactionID, over outbox: Outbox) -> DiskTransaction? {
        let operations = clear == nil ? staged.flatMap { $0.operations(since: outbox.keys[$0.key]) } : []
        guard clear != nil || !entries.isEmpty || !state.isEmpty || !operations.isEmpty || !rejections.isEmpty else { return nil }
        return DiskTransaction(id: id, clear: clear, entries: entries, outbox: operations, rejections: rejections, state: state)
    }

    /// Publishes what the plan has changed, now that it is on disk.
    ///
    /// - Parameters:
    ///   - skipped: the operations that had no effect.
    ///   - before: what the staged keys showed.
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

/// What waits for its turn to become a ``Plan``.
enum Intent: Hashable, Sendable {
    case page(ChangePage, since: Since, lastWrite: Int64?)
    case quiet(Cursor, since: Since, lastWrite: Int64?)
    case sets
    case results(WriteResults, lastWrite: Int64?)
    case fetched([Reader.Arrival], lastWrite: Int64?)
    /// The server's last number of ours, and when it was that.
    case reconcile(last: Int64, at: Cursor)
    case heldVerified([HeldKey], ReadsResponse, lastWrite: Int64?)
    case refreshed([HeldKey], ReadsResponse, lastWrite: Int64?)
    case verificationOver
    case merged(Receipt, Resolution)
    case discard(Receipt, Token)
    /// The device belongs to this store from now on.
    case bind(StoreIdentifier)
    /// Another device has the name too, and all that can be answered under it is.
    case rename

    /// The history that it speaks of.
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

    /// Whether it came from the server: worthless after a reset or a clear.
    var isFromServer: Bool {
        switch self {
        case .page, .quiet, .results, .fetched, .reconcile, .heldVerified, .refreshed, .verificationOver: true
        case .sets, .merged, .discard, .bind, .rename: false
        }
    }
}
