package import FreshetWire

/// One device in one namespace: it follows the feed, sends writes, fences reads and says what to show.
///
/// A value that takes events and gives actions: no clock, no socket, no file, no chance of its own, and nothing depends on the order of a
/// dictionary, so the same events give the same actions. It holds the outbox, the confirmed records of keys in it, the reads under way
/// and the position; all other entries are the disk's, and the rules of ``EntryOperation`` keep those right without a look at them.
///
/// The order of everything that is stored: replies and calls become *intents*; one intent at a time becomes a *plan* (one transaction),
/// made from what is on disk; only when the disk has it does anything change or show. So a crash at any point leaves a whole state.
package struct SyncMachine: Sendable {
    enum Phase: Hashable, Sendable { case idle, running, clearing, stopped }

    package let settings: SyncSettings

    var phase = Phase.idle
    /// As it is on disk.
    var state: SyncState
    /// As it is on disk.
    var outbox = Outbox()
    /// Records of keys with writes that are not on disk yet.
    var claims: [RecordKey: Claim] = [:]
    var queuedSets: [QueuedSet] = []

    var intents: [Intent] = []
    var plan: (id: TransactionID, plan: Plan)?
    var lastTransaction: Int64 = 0

    var requests: [RequestID: Outstanding] = [:]
    var lastRequest: Int64 = 0

    var feed = Feed()
    var sender = Sender()
    var fetches = Fetches()
    var verifier = Verifier()
    /// Not before then is a failed reset or clear tried again.
    var notBefore: Int64 = 0
    var resetBackoff = Backoff()
    /// Set while a reset is to come; nothing is sent until it is on disk.
    var pendingReset: (epoch: Epoch?, forgets: Bool, notBefore: Int64)?
    var pendingClear: (client: ClientIdentifier, token: Token)?
    /// Conflicts that the user's closure has, with the record that it was shown.
    var openMerges: [Receipt: Entry] = [:]
    /// Not before then are closures called again after the disk did not take what they made.
    var mergesNotBefore: Int64 = 0
    var mergesBackoff = Backoff()
    /// Keys that were read since one of their writes was rejected.
    var readForMerge: Set<RecordKey> = []

    var story: Story
    var chance = Chance(0)
    var now = Moment(uptime: 0, wall: Timestamp(milliseconds: 0), random: 0)
    var actions: [SyncAction] = []
    var lastStatus: SyncStatus?
    var lastSchedule: Int64?
    var lastContact: Timestamp?

    /// The record of a key for writes that are not on disk yet.
    struct Claim: Hashable, Sendable {
        var base: Entry?
        var count: Int
    }

    /// A request under way.
    struct Outstanding: Hashable, Sendable {
        enum Purpose: Hashable, Sendable {
            /// The server may hold the answer for `wait` seconds; 0 where it may not.
            case feed(since: Since, wait: Int)
            case writes(ClosedRange<Int64>)
            case clientStatus
            case fetch([RecordKey])
            case verification([HeldKey])
        }

        var purpose: Purpose
        var sentAt: Int64
        var deadline: Int64
        var hadFreshToken: Bool
    }

    package init(settings: SyncSettings, client: ClientIdentifier) {
        self.settings = settings
        state = SyncState(client: client)
        story = Story(capacity: settings.storyNotes)
    }

    /// What is to be done about an event. O(size of the event and of the outbox's part that it touches), never of the cache.
    package mutating func handle(_ event: SyncEvent, at now: Moment) -> [SyncAction] {
        self.now = now
        chance = Chance(now.random)
        actions = []
        guard phase != .stopped, isExpected(event) else { return [] }
        take(event)
        advance()
        report()
        return actions
    }

    /// The key as it is to be shown, given the disk's row. O(writes pending to the key).
    package func view(of key: RecordKey, stored: Entry?) -> KeyView { outbox.keys[key]?.view ?? KeyView(key, stored) }

    /// Whether any view comes from the machine rather than from the disk.
    package var hasOverlay: Bool { !outbox.keys.isEmpty }

    /// The keys whose views come from the machine rather than from the disk, in order.
    package var overlaidKeys: [RecordKey] { outbox.keys.keys.sorted() }

    /// Whether the disk must keep the key's entry, or that it has none: writes of ours stand on it, on disk or on their way there.
    package func needs(_ key: RecordKey) -> Bool { outbox.keys[key] != nil || claims[key] != nil }

    /// What became of a key lately, oldest first.
    package func story(of key: RecordKey) -> [StoryNote] { story.notes(of: key) }

    // MARK: Events

    /// Whether the machine waits for what has happened. What belongs to a request, a transaction, a query or a merge of before a clear, a reset or a
    /// cancellation has no effect at all (rule 12): it does not even give the machine an occasion to do something else.
    private func isExpected(_ event: SyncEvent) -> Bool {
        switch event {
        case .replied(let id, _, _): requests[id] != nil
        case .committed(let id, _), .commitFailed(let id, _): plan?.id == id
        case .heldKeys(let query, _), .heldKeysFailed(let query, _): verifier.query == query
        case .merged(let receipt, _): openMerges[receipt] != nil
        case .started, .set, .fetch, .abandon, .evicted, .timer, .wake, .clear, .stop: true
        }
    }

    private mutating func take(_ event: SyncEvent) {
        switch event {
        case .started(let persisted): start(persisted)
        case .set(let request): take(request)
        case .fetch(let request): take(request)
        case .abandon(let token): fetches.abandon(token)
        case .committed(let id, let skipped): committed(id, Set(skipped))
        case .commitFailed(let id, let failure): commitFailed(id, failure)
        case .heldKeys(let query, let keys): take(keys, query)
        case .heldKeysFailed(let query, let failure): verificationFailed(query, failure)
        case .evicted(let keys): for key in keys { note(.key(key), .evicted) }
        case .replied(let id, let reply, let lastWrite): take(reply, lastWrite, to: id)
        case .merged(let receipt, let resolution): if openMerges[receipt] != nil { intents.append(.merged(receipt, resolution)) }
        case .timer: fireWatchdogs()
        case .wake: wake()
        case .clear(let client, let token): clear(client, token)
        case .stop: stop()
        }
    }

    private mutating func start(_ persisted: PersistedState) {
        guard phase == .idle else { return }
        phase = .running
        state = persisted.state
        outbox = Outbox(persisted)
        // Whatever has a number may have been sent before the restart.
        sender.sentThrough = state.nextNumber - 1
        feed.offlineSince = nil
        // What was pending when the last life ended is shown before anyone can ask.
        let views = overlaidKeys.map { Publication.view(view(of: $0, stored: nil), .written) }
        if !views.isEmpty { actions.append(.publish(views)) }
        if state.cursor != nil, state.scope != scope { pendingReset = (state.epoch, false, notBefore: 0) }
    }

    /// The settings that decide which entries the feed keeps right.
    var scope: String {
        "\(settings.following == .everything ? "everything" : "held"):\(settings.filter.collections.joined(separator: ",")):\(settings.filter.prefix)"
    }

    /// Starts whatever can be started now. Called after every event.
    private mutating func advance() {
        guard phase == .running || phase == .clearing else { return }
        advancePlans()
        guard phase == .running, pendingReset == nil, pendingClear == nil else { return }
        advanceFeed()
        advanceVerification()
        advanceSender()
        advanceMerges()
        advanceFetches()
    }

    mutating func note(_ scope: InvalidationScope, _ what: StoryNote.What) {
        story.add(StoryNote(at: now.wall, scope: scope, what: what))
    }

    mutating func log(_ level: LogLine.Level, _ text: String) { actions.append(.log(LogLine(level, text))) }
}
