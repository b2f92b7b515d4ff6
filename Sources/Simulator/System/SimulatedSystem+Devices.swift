import DequeModule
import FreshetClient
import FreshetWire

/// The shell around the machine: what the SDK's engine does with threads, files and sockets is done here with virtual ones.
extension SimulatedSystem {
    // MARK: Processes

    /// The device appears, or its process starts.
    func start(_ device: SimulatedDevice) {
        device.phase = .running
        device.boot()
        device.awakeSince = now
        var persisted = device.store.persisted
        if bug == .forgetOutbox { persisted.outbox = [] }
        device.lastUndecided = persisted.outbox.filter { $0.state == .pending }.map(\.number).max() ?? 0
        recorder?.mark(device.number, at: now, device.run == 1 ? "appears" : "starts")
        device.lacksClosures = device.closureDelay > 0
        if device.lacksClosures {
            push(.register(device: device.number, run: device.run), after: device.closureDelay)
            device.closureDelay = 0
        }
        if !device.lacksClosures || bug == .rejectUnregistered {
            _ = device.machine.handle(.registered(Self.closure), at: device.now(at: now, random: 0))
        }
        // The first event cannot break a rule: nothing is shown yet.
        let event = SyncEvent.started(persisted)
        let actions = device.machine.handle(event, at: device.now(at: now, random: random()))
        cover(event, isOrphan: false, actions, device)
        for action in actions { carryOut(action, device) }
    }

    func restart(_ device: SimulatedDevice) {
        start(device)
        oracle.restarted(device)
    }

    func crash(_ device: SimulatedDevice, down: Int64) {
        guard device.phase == .running || device.phase == .asleep else { return }
        if device.durable != nil {
            loseUnsynced(device)
        } else if let next = device.commits.first, random() % 2 == 0, device.trouble?.present(at: now) == nil {
            // The disk completed the transaction, and the crash came before its report.
            device.commits.removeFirst()
            commit(next, device)
        }
        for message in device.open.values.sorted() { abandon(message) }
        device.phase = .down
        device.run += 1
        recorder?.mark(device.number, at: now, "crashes")
        push(.start(device: device.number, run: device.run), after: down)
    }

    func sleep(_ device: SimulatedDevice, _ duration: Int64) {
        guard device.phase == .running else { return }
        device.phase = .asleep
        device.wakesAt = now + duration
        push(.wakeUp(device: device.number, run: device.run), after: duration)
    }

    func wakeUp(_ device: SimulatedDevice) throws(Violation) {
        guard device.phase == .asleep, now >= device.wakesAt else { return }
        device.phase = .running
        device.awakeSince = now
        recorder?.mark(device.number, at: now, "wakes")
        for event in device.postponed { push(event) }
        device.postponed = []
        // The SDK looks at its clocks every five seconds at least, and then knows.
        push(.noticeWake(device: device.number, run: device.run), after: seed == nil ? 100 : Int64(random() % 5_000))
    }

    /// Notes for a search what the device is like after an event.
    private func cover(_ event: SyncEvent, isOrphan: Bool, _ actions: [SyncAction], _ device: SimulatedDevice) {
        guard let coverage else { return }
        let late = device.late.contains { messages[$0].generation < device.generation } ? 2 : device.late.isEmpty ? 0 : 1
        let state = DeviceCoverage(device, waitingFor: device.open.values.map { messages[$0].kind }, late: UInt64(late), at: now)
        coverage.record(event, isOrphan: isOrphan, state, actions, device: device.number, step: step, at: now)
    }

    // MARK: The machine

    /// Hands the machine an event, does what it wants done, and looks whether all is still right.
    /// - Parameter isOrphan: whether the event is the reply to a request that the machine no longer waits for.
    func handle(_ device: SimulatedDevice, _ event: SyncEvent, isOrphan: Bool = false) throws(Violation) {
        digest.mix(Int64(device.number))
        let context = device.now(at: now, random: random())
        var actions = device.machine.handle(event, at: context)
        if bug == .beginAtLateResponse, isOrphan { actions += device.machine.handle(.abandon(CallerID(0)), at: context) }
        cover(event, isOrphan: isOrphan, actions, device)
        digest.mix(Int64(actions.count))
        for action in actions {
            carryOut(action, device)
            if case .complete(let callerID, let result) = action { try self.complete(callerID, result) }
            if case .outcome(let writeID, let key, let outcome) = action { try decide(device, writeID, key, outcome) }
        }
        for case .read(let callerID, let keys) in actions { try read(device, keys, for: callerID) }
        try inspect(device)
    }

    private func carryOut(_ action: SyncAction, _ device: SimulatedDevice) {
        switch action {
        case .send(let description): send(description, device)
        case .cancel(let id): if let message = device.open.removeValue(forKey: id) { abandon(message) }
        case .commit(let transaction): store(transaction, device)
        case .publish(let publications): for publication in publications { show(publication, device) }
        case .status(let status):
            device.status = status
            let isLive = status.connection == .live
            if bug != .stuckLive || isLive { device.setFreshness(isLive: isLive, pass: status.pass) }
            recorder?.status(device.number, at: now, status)
        case .schedule(let deadline):
            lastTimer += 1
            guard let deadline else { return device.timer = nil }
            device.timer = (deadline, lastTimer)
            let wait = deadline - device.uptime(at: now)
            push(.timer(device: device.number, run: device.run, serial: lastTimer), after: wait)
        case .merge(let request): push(.merge(device: device.number, run: device.run, request), after: delay(5))
        case .loadCachedKeys(let query): push(.cachedKeys(device: device.number, run: device.run, query), after: delay(2))
        case .complete, .outcome, .read, .log: break
        }
    }

    func fireTimer(_ device: SimulatedDevice, _ serial: Int) throws(Violation) {
        guard let timer = device.timer, timer.serial == serial else { return }
        if bug == .sleepingWatchdog, hasOverdue(device) { return }
        device.timer = nil
        // The machine names a deadline only when it changes, so this one is asked for again if it was early.
        try handle(device, .timer)
        if device.timer == nil, timer.deadline > device.uptime(at: now) {
            device.timer = timer
            push(.timer(device: device.number, run: device.run, serial: serial), after: timer.deadline - device.uptime(at: now))
        }
    }

    private func hasOverdue(_ device: SimulatedDevice) -> Bool {
        device.open.values.contains { now >= messages[$0].sent + messages[$0].timeout }
    }

    private func show(_ publication: Publication, _ device: SimulatedDevice) {
        switch publication {
        case .view(let view):
            // A change of the record under a pending write: the faulty device shows the record without the write.
            if bug == .flicker, view.isPending, let old = device.tier.peek(view.key), old.view.revision != view.revision {
                device.memory(of: view.key).store(
                    KeyView(key: view.key, value: KeyView(view.key, view.entry).value, isPending: true, entry: view.entry))
            } else {
                device.memory(of: view.key).store(view)
            }
        case .confirmed(let revalidation): device.memory(of: revalidation.key).confirm(revalidation)
        case .changed(let key): device.memory(of: key).store(device.view(of: key))
        case .invalidated(let scope, let position): device.memory.invalidate(scope, at: position)
        case .evicted(let scope, let position): device.memory.evict(scope, before: position)
        case .passFinished(let pass, let position): device.memory.finishPass(pass, at: position)
        case .inherited(let inheritance): device.memory.inherit(inheritance)
        case .cleared:
            device.isCleared = true
            if bug != .clearDiskOnly { device.memory.removeAll() }
        }
        recorder?.published(publication, device, at: now)
    }

    /// The name of the one merge closure.
    static var closure: MergeName { MergeName("simulated") }

    func registerClosures(_ device: SimulatedDevice) throws(Violation) {
        guard device.lacksClosures else { return }
        device.lacksClosures = false
        recorder?.mark(device.number, at: now, "registers its merge closures")
        try handle(device, .registered(Self.closure))
    }

    func resolve(_ device: SimulatedDevice, _ request: MergeRequest) throws(Violation) {
        if device.lacksClosures { return try handle(device, .merged(request.writeID, .takeTheirs, generation: request.generation)) }
        let theirs = request.theirs.map { String(decoding: $0.bytes, as: UTF8.self) } ?? "nothing"
        let mark = "{\"v\":\"merge of \(request.writeID.number) by \(device.store.state.client) over \(theirs.utf8.count) bytes\"}"
        let resolution: Resolution = random() % 5 == 0 ? .takeTheirs : .put(Content(checkedJSON: Array(mark.utf8)))
        if resolution == .takeTheirs { oracle.yielded(device, request.writeID) }
        try handle(device, .merged(request.writeID, resolution, generation: request.generation))
    }
}
