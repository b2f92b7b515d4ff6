import FreshetClient
import FreshetWire

/// A device: the machine that ships, its disk, the published views, and the oracle's record of it.
struct SmallDevice {
    /// A request that the machine waits for.
    struct Call: Hashable {
        var description: RequestDescription
        /// On its way back.
        var response: SmallResponse?
    }

    let number: Int
    let setup: SmallSetup
    var machine: SyncMachine
    var store: VolatileStore
    /// What the disk goes back to when the process dies; `nil` for what it says that it has.
    var durable: VolatileStore?
    var uptime: Int64 = 1_000_000

    var calls: [Call] = []
    var transactions: [DiskTransaction] = []
    var queries: [CachedKeyQuery] = []
    var merges: [MergeRequest] = []
    var deadline: Int64?
    var isLive = false
    /// By the keys' numbers: the memory tier.
    var shown: [KeyView?]
    /// Whether a clear was asked for that is not on disk.
    var isCleared = false
    var hasStoppedSending = false
    /// Batches that were given up and may still arrive.
    var late: [RequestDescription.Kind] = []
    /// Responses that a broken device stores although it has given them up.
    var lateResponses: [SmallResponse] = []
    var oracle: SmallOracle
    var failure: SmallFailure?

    var settings: SyncSettings { setup.devices[number].settings }
    var bug: SmallBug? { setup.bug }

    init(_ number: Int, _ setup: SmallSetup) throws(WireError) {
        self.number = number
        self.setup = setup
        let client = try ClientIdentifier("device-\(number)")
        machine = SyncMachine(settings: setup.devices[number].settings, client: client)
        store = VolatileStore(client: client)
        shown = Array(repeating: nil, count: setup.keys.count)
        oracle = SmallOracle(keys: setup.keys.count)
        handle(.registered(setup.closure))
        handle(.started(store.persisted))
    }

    private var now: EventContext { EventContext(uptime: uptime, wall: Timestamp(milliseconds: 0), random: 0) }

    // MARK: The machine

    mutating func handle(_ event: SyncEvent) {
        for action in machine.handle(event, at: now) { carryOut(action) }
        guard bug == .replayMerging else { return }
        for (key, number) in setup.numbers where machine.overlaidKeys.contains(key) { shown[number] = view(number) }
    }

    private mutating func carryOut(_ action: SyncAction) {
        switch action {
        case .send(let description):
            guard !(hasStoppedSending && description.kind.isWrites) else { return }
            calls.append(Call(description: description))
            if bug == .confirmAtSend { confirmEarly(description.kind) }
        case .cancel(let id):
            guard let place = calls.firstIndex(where: { $0.description.id == id }) else { return }
            giveUp(calls.remove(at: place))
        case .commit(let transaction): transactions.append(transaction)
        case .publish(let publications): for publication in publications { show(publication) }
        case .complete(let callerID, let result): take(result, to: callerID)
        case .outcome(let writeID, let key, let outcome): take(outcome, on: writeID, key)
        case .status(let status): isLive = status.connection == .live
        case .schedule(let deadline): self.deadline = deadline
        case .merge(let request): merges.append(request)
        case .loadCachedKeys(let query): queries.append(query)
        case .read, .log: break
        }
    }

    /// Stops waiting for the response. A batch may still arrive; no other late request changes anything.
    mutating func giveUp(_ call: Call) {
        if let response = call.response { return ignore(response, to: call.description.id) }
        guard call.description.kind.isWrites else { return }
        late.append(call.description.kind)
        late.sort { $0.order < $1.order }
    }

    /// A response for which no caller waits has no effect at any time, so it need not arrive.
    private mutating func ignore(_ response: SmallResponse, to id: RequestID) {
        if bug == .storeAfterClear { lateResponses.append(response) }
        guard oracle.isClearing else { return }
        var copy = machine
        guard copy.handle(.replied(id, response.reply, lastWrite: response.lastWrite), at: now).isEmpty else {
            return fail(.clearMeansClear, "a response to a request from before the clear makes the device act")
        }
    }

    private mutating func take(_ result: CallResult, to callerID: CallerID) {
        switch result {
        case .accepted(let writeID): oracle.accepted(callerID, writeID, store, &failure)
        case .views(let views): oracle.read(callerID, views, &failure)
        case .failed: oracle.failed(callerID)
        case .discarded, .listed, .verified: break
        case .cleared:
            guard store.entries.isEmpty, store.rows.isEmpty, store.watermarks.isEmpty, store.rejections.isEmpty else {
                return fail(.clearMeansClear, "the device says that it is cleared, and its disk holds entries or writes")
            }
        }
    }

    private mutating func take(_ outcome: LocalWriteOutcome, on writeID: LocalWriteID, _ key: RecordKey) {
        oracle.reported(outcome, on: writeID)
        guard let number = setup.numbers[key] else { return }
        if bug == .dropOverlay, case .applied = outcome, machine.overlaidKeys.contains(key) {
            shown[number] = KeyView(key, store.entries[key])
        }
        if bug == .keepRejected, case .rejected = outcome { shown[number]?.isPending = true }
    }

    private mutating func confirmEarly(_ kind: RequestDescription.Kind) {
        guard case .writes(let batch) = kind else { return }
        for write in batch.writes { if let number = setup.numbers[write.key] { shown[number]?.isPending = false } }
    }

    mutating func fail(_ rule: Rule, _ text: String) { if failure == nil { failure = SmallFailure(rule, text) } }

    // MARK: Memory

    private mutating func show(_ publication: Publication) {
        switch publication {
        case .view(let view):
            guard let number = setup.numbers[view.key] else { return }
            let old = shown[number]
            shown[number] = view.value == .unknown && !view.isPending ? nil : view
            if bug == .flicker, view.isPending, let old, old.revision != view.revision {
                shown[number]?.value = KeyView(view.key, view.entry).value
            }
        case .confirmed(let revalidation):
            guard let number = setup.numbers[revalidation.key], var entry = shown[number]?.entry else { return }
            entry.confirm(revalidation)
            shown[number]?.entry = entry
        case .changed(let key):
            guard let number = setup.numbers[key] else { return }
            let view = machine.view(of: key, stored: store.entries[key])
            shown[number] = view.value == .unknown && !view.isPending ? nil : view
        case .invalidated(let scope, let position):
            forEachUnwritten { key, entry in
                var entry = entry
                if scope.contains(key) { entry.invalidate(at: position) }
                return entry
            }
        case .evicted(let scope, let position):
            forEachUnwritten { key, entry in scope.contains(key) && entry.isKnownOnly(before: position) ? nil : entry }
        case .passFinished(let pass, let position): forEachUnwritten { _, entry in entry.ended(pass, at: position) }
        case .inherited(let inheritance): forEachUnwritten { _, entry in entry.inherited(inheritance) }
        case .cleared:
            isCleared = true
            if bug != .clearDiskOnly { shown = shown.map { _ in nil } }
        }
    }

    private mutating func forEachUnwritten(_ change: (RecordKey, Entry) -> Entry?) {
        let overlaid = machine.overlaidKeys
        for (number, key) in setup.keys.enumerated() where !overlaid.contains(key) {
            guard let entry = shown[number]?.entry else { continue }
            guard let updated = change(key, entry) else {
                shown[number] = nil
                continue
            }
            shown[number]?.entry = updated
        }
    }

    /// What a reader sees: the overlay, or the disk.
    func view(_ key: Int) -> KeyView {
        spoiled(machine.view(of: setup.keys[key], stored: isCleared ? nil : store.entries[setup.keys[key]]))
    }

    // MARK: Events

    mutating func write(_ place: Int) {
        let (operation, key) = setup.devices[number].operations[place]
        let mark = oracle.nextMark(number)
        let (write, policy) = setup.write(operation, mark, key)
        let callerID = oracle.called(write, setup.keys[key])
        let base = isCleared ? nil : store.entries[setup.keys[key]]
        handle(.set(SetRequest(callerID: callerID, key: setup.keys[key], operation: write, policy: policy, base: base)))
    }

    mutating func read(_ key: Int, _ server: SmallHistory) {
        let callerID = oracle.asked(key, server)
        let known = isCleared ? nil : store.entries[setup.keys[key]]
        let item = FetchRequest.Item(key: setup.keys[key], known: known)
        handle(.fetch(FetchRequest(callerID: callerID, items: [item], mustBeNew: bug != .joinEarlierRead)))
    }

    mutating func clear() {
        oracle.clears += 1
        guard let client = try? ClientIdentifier("device-\(number)-\(oracle.clears)") else { return }
        oracle.clearCalled()
        handle(.clear(newClient: client, CallerID(1_000_000 + Int64(oracle.clears))))
    }

    mutating func arrive(_ place: Int, _ server: SmallHistory) {
        let call = calls.remove(at: place)
        guard let response = call.response else { return }
        oracle.hasContact = true
        let reply = bug == .skipFence ? response.reply.raised(to: server.cursor) : response.reply
        handle(.replied(call.description.id, reply, lastWrite: response.lastWrite))
    }

    mutating func cut(_ place: Int) {
        let call = calls.remove(at: place)
        giveUp(call)
        if bug == .stopSending, call.description.kind.isWrites { hasStoppedSending = true }
        handle(.replied(call.description.id, .failure(.interrupted("the connection broke"))))
    }

    mutating func fireTimer() {
        guard let deadline else { return }
        uptime = max(uptime, deadline)
        self.deadline = nil
        handle(.timer)
    }

    mutating func resolve() {
        let request = merges.removeFirst()
        handle(.merged(request.writeID, Self.resolution(of: request), generation: request.generation))
    }

    /// Keeps both values, each recognisable; of a counter, which must stay one, the own value.
    static func resolution(of merge: MergeRequest) -> Resolution {
        guard let mine = merge.mine else { return .delete }
        guard let theirs = merge.theirs, merge.key.collection != SmallSetup.Kind.counter.rawValue else { return .put(mine) }
        let bytes = Array("[".utf8) + theirs.bytes + Array(",".utf8) + mine.bytes + Array("]".utf8)
        return .put(Content(checkedJSON: bytes))
    }
}

extension RequestDescription.Kind {
    var isWrites: Bool { if case .writes = self { true } else { false } }

    /// Whether the server may hold the response.
    var isPoll: Bool { if case .changes(_, _, let wait, _, _) = self { wait > 0 } else { false } }

    /// An order of batches that does not depend on when they were given up.
    fileprivate var order: (String, Int64, Int) {
        guard case .writes(let batch) = self else { return ("", 0, 0) }
        return ("\(batch.client) \(batch.epoch?.token ?? "")", batch.writes.first?.number ?? 0, batch.writes.count)
    }
}
