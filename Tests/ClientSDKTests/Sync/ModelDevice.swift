// swift-format-ignore-file: NeverUseForceTry, NeverForceUnwrap

import FreshetWire

@testable import FreshetClient

/// A machine with a disk and a memory tier, and everything that is on its way to and from it.
struct ModelDevice {
    struct Call {
        var description: RequestDescription
        var isCancelled = false
        /// Sent by the process that died: nobody takes its answer.
        var isOrphaned = false
    }

    let settings: SyncSettings
    var machine: SyncMachine
    var store: VolatileStore
    var uptime: Int64 = 1_000
    var random: UInt64 = 1

    /// Requests that no answer was given to yet; cancelled ones may still arrive at the server.
    var calls: [Call] = []
    /// Transactions that the disk has not carried out yet, in order.
    var transactions: [DiskTransaction] = []
    var queries: [CachedKeyQuery] = []
    /// The reads of lists that are to begin.
    private var listReads: ArraySlice<(callerID: CallerID, keys: [RecordKey])> = []
    var merges: [MergeRequest] = []
    /// The merge closures that each process registers before it starts.
    var closures = [MergeName("m")]
    /// The numbers of the writes that were on disk with one, in the present account.
    var numbers: [LocalWriteID: Int64] = [:]
    var deadline: Int64?
    var status: SyncStatus?

    /// The views in the memory tier: only those that were published.
    var shown: [RecordKey: KeyView] = [:]
    var publications: [Publication] = []
    var answers: [CallerID: CallResult] = [:]
    /// With the history that the device was in.
    var verdicts: [(writeID: LocalWriteID, verdict: LocalWriteOutcome, epoch: Epoch?)] = []
    var logs: [LogLine] = []
    /// The holder of the device's token; `nil` for a server that is open to all.
    var principal: String?
    /// The disk must not be read, since a clear is on its way.
    var isCleared = false

    /// Whether the question where the device continues in a new history is answered at once: nowhere.
    var declinesToContinue = false

    var isTraced = false

    private func brief(_ value: some Any) -> String {
        var text = "\(value)"
        for word in ["FreshetClient.", "FreshetWire.", "RequestDescription.", "Optional"] {
            text = text.split(separator: word, omittingEmptySubsequences: false).joined()
        }
        return text
    }

    init(_ settings: SyncSettings = SyncSettings(), client: String = "device") {
        self.settings = settings
        let client = try! ClientIdentifier(client)
        machine = SyncMachine(settings: settings, client: client)
        store = VolatileStore(client: client)
    }

    /// A device that has started on a copy of a disk, and follows everything.
    static func onCopy(of disk: VolatileStore, random: UInt64, configure: (inout SyncSettings) -> Void = { _ in }) -> ModelDevice {
        var settings = SyncSettings()
        settings.following = .everything
        configure(&settings)
        var device = ModelDevice(settings, client: disk.state.client.text)
        device.store = disk
        device.random = random
        var persisted = disk.persisted
        persisted.isNew = false
        device.handle(.started(persisted))
        return device
    }

    var now: EventContext { EventContext(uptime: uptime, wall: Timestamp(milliseconds: 1_700_000_000_000 + uptime), random: random) }

    mutating func handle(_ event: SyncEvent) {
        random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        if isTraced { print("\(store.state.client) <- \(brief(event))") }
        for action in machine.handle(event, at: now) {
            if isTraced { print("    \(brief(action))") }
            carryOut(action)
        }
        while let read = listReads.popFirst() {
            let items = read.keys.map { FetchRequest.Item(key: $0, known: store.entries[$0]) }
            handle(.fetch(FetchRequest(callerID: read.callerID, items: items, mustBeNew: true)))
        }
        if declinesToContinue, let question = continuationRequest {
            reply(question.id, .problem(Problem(.epochChanged, "another"), cursor: nil, retryAfter: nil))
        }
    }

    /// The request that asks where the device continues in a new history.
    var continuationRequest: RequestDescription? {
        guard machine.inspection.isResetting else { return nil }
        return open.first { if case .changes(.after, _, 0, 1, nil) = $0.kind { true } else { false } }
    }

    mutating func start() {
        for name in closures { handle(.registered(name)) }
        handle(.started(store.persisted))
    }

    /// The process dies and comes back. Data that is not on disk is lost; requests that were sent may still arrive.
    mutating func crash() {
        machine = SyncMachine(settings: settings, client: store.state.client)
        for place in calls.indices { (calls[place].isCancelled, calls[place].isOrphaned) = (true, true) }
        (transactions, queries, merges, deadline, status, shown, answers, isCleared) = ([], [], [], nil, nil, [:], [:], false)
        uptime += 1_000
        start()
    }

    private mutating func carryOut(_ action: SyncAction) {
        switch action {
        case .send(let description): calls.append(Call(description: description))
        case .cancel(let id):
            for place in calls.indices where calls[place].description.id == id && !calls[place].isOrphaned {
                calls[place].isCancelled = true
            }
        case .commit(let transaction): transactions.append(transaction)
        case .publish(let revalidation): for publication in revalidation { show(publication) }
        case .complete(let callerID, let answer):
            precondition(answers[callerID] == nil, "\(callerID) is answered twice")
            answers[callerID] = answer
        case .outcome(let writeID, _, let verdict): verdicts.append((writeID, verdict, machine.inspection.state.epoch))
        case .status(let status): self.status = status
        case .schedule(let deadline): self.deadline = deadline
        case .merge(let request): merges.append(request)
        case .loadCachedKeys(let query): queries.append(query)
        case .read(let callerID, let keys): listReads.append((callerID, keys))
        case .log(let line): logs.append(line)
        }
    }

    private mutating func show(_ publication: Publication) {
        publications.append(publication)
        switch publication {
        case .view(let view): shown[view.key] = view.value == .unknown && !view.isPending ? nil : view
        case .confirmed(let revalidation):
            guard var view = shown[revalidation.key], var entry = view.entry else { return }
            entry.confirm(revalidation)
            view.entry = entry
            shown[revalidation.key] = view
        case .changed(let key):
            let view = machine.view(of: key, stored: store.entries[key])
            shown[key] = view.value == .unknown && !view.isPending ? nil : view
        case .invalidated(let scope, let position):
            for key in shown.keys where scope.contains(key) && !machine.overlaidKeys.contains(key) {
                shown[key]?.entry?.invalidate(at: position)
            }
        case .evicted(let scope, let position):
            let overlaid = Set(machine.overlaidKeys)
            shown = shown.filter { key, view in
                overlaid.contains(key) || !scope.contains(key) || !(view.entry?.isKnownOnly(before: position) ?? true)
            }
        case .passFinished(let pass, let position):
            for (key, view) in shown where !machine.overlaidKeys.contains(key) {
                shown[key]?.entry = view.entry?.ended(pass, at: position)
                if shown[key]?.entry == nil { shown[key] = nil }
            }
        case .inherited(let inheritance):
            for (key, view) in shown { shown[key]?.entry = view.entry?.inherited(inheritance) }
        case .cleared:
            shown = [:]
            isCleared = true
        }
    }

    /// The disk wants room. A key that leaves it leaves the memory too. One that is being written to stays.
    mutating func evict(_ key: RecordKey) {
        guard !machine.mustKeep(key) else { return }
        store.evict(key)
        if store.entries[key] == nil, !machine.overlaidKeys.contains(key) { shown[key] = nil }
    }

    /// The view that a reader sees: from the overlay, or from the disk.
    func view(_ key: RecordKey) -> KeyView { machine.view(of: key, stored: isCleared ? nil : store.entries[key]) }

    // MARK: The disk

    /// Carries out the next transaction and reports it to the machine, unless `silently`.
    mutating func commitNext(silently: Bool = false) {
        guard !transactions.isEmpty else { return }
        let transaction = transactions.removeFirst()
        let skipped = store.commit(transaction)
        if transaction.clear != nil { numbers = [:] }
        if transaction.removesEntries { isCleared = false }
        for case .put(let row) in transaction.outbox where !row.isHeld { numbers[row.writeID] = row.number }
        if !silently { handle(.committed(transaction.id, skipped: skipped)) }
    }

    mutating func failNext(_ failure: DiskFailure = .full) {
        guard !transactions.isEmpty else { return }
        handle(.commitFailed(transactions.removeFirst().id, failure))
    }

    mutating func answerQuery() {
        guard !queries.isEmpty else { return }
        let query = queries.removeFirst()
        handle(.cachedKeys(query, store.cachedKeys(query)))
    }

    /// Lets the disk do all that waits for it.
    mutating func settleDisk() {
        while !transactions.isEmpty || !queries.isEmpty {
            if transactions.isEmpty { answerQuery() } else { commitNext() }
        }
    }

    // MARK: The network

    /// The requests that still wait for an answer.
    var open: [RequestDescription] { calls.filter { !$0.isCancelled }.map(\.description) }

    mutating func reply(_ id: RequestID, _ reply: Reply, lastWrite: Int64? = nil, from store: StoreIdentifier? = nil, age: Int64 = 0) {
        calls.removeAll { $0.description.id == id && !$0.isOrphaned }
        handle(.replied(id, reply, lastWrite: lastWrite, store: store, age: age))
    }

    /// Where the current reading from the start began. The server can distinguish it from one that goes on from an old position.
    private var origin: Int64?

    /// The server's answer to this device.
    mutating func answer(_ kind: RequestDescription.Kind, by server: inout ModelServer) -> Reply? {
        if case .changes(.start, _, _, _, _) = kind { origin = server.head }
        return server.answer(kind, origin: machine.inspection.state.revalidation == .fromStart ? origin : nil, from: principal)
    }

    mutating func fireTimer() {
        guard let deadline else { return }
        uptime = max(uptime, deadline)
        handle(.timer)
    }

    /// Lets server and disk answer everything, and time pass where the machine waits for it, until only a poll is left.
    mutating func run(with server: inout ModelServer, rounds: Int = 400) {
        for _ in 0..<rounds {
            settleDisk()
            var isIdle = true
            for description in open {
                guard let answer = answer(description.kind, by: &server) else { continue }
                isIdle = false
                reply(description.id, answer, lastWrite: server.lastWrite(for: description.kind, from: principal))
                settleDisk()
            }
            for merge in merges {
                isIdle = false
                merges.removeFirst()
                handle(.merged(merge.writeID, Self.resolve(merge), generation: merge.generation))
            }
            if isIdle {
                if status?.connection == .live, status?.isVerified == true, !machine.hasOverlay { return }
                fireTimer()
            }
        }
    }

    /// The test's merge: a list of their value and ours.
    static func resolve(_ merge: MergeRequest) -> Resolution {
        guard let mine = merge.mine, let theirs = merge.theirs else { return merge.mine.map { .put($0) } ?? .delete }
        return .put(Content(checkedJSON: Array("[".utf8) + theirs.bytes + Array(",".utf8) + mine.bytes + Array("]".utf8)))
    }
}
