import FreshetClient
import FreshetWire

/// The calls of devices' users, and their results.
extension SimulatedSystem {
    private func callerID(_ caller: Caller) -> CallerID {
        lastCallerID += 1
        let callerID = CallerID(lastCallerID)
        callers[callerID] = caller
        return callerID
    }

    func write(_ device: SimulatedDevice, _ key: RecordKey, _ operation: WriteOperation, _ conflict: ScenarioEvent.Conflict)
        throws(Violation)
    {
        guard device.phase == .running else { return }
        let policy: ConflictPolicy =
            switch conflict {
            case .overwrite: .lastWriterWins
            case .reject: .rejectIfChanged
            case .merge: .merge(Self.closure)
            }
        let callerID = callerID(.write(device: device.number, key))
        try handle(
            device, .set(SetRequest(callerID: callerID, key: key, operation: operation, policy: policy, base: device.known(key))))
    }

    /// Retries the oldest rejected write.
    func retryRejected(_ device: SimulatedDevice) throws(Violation) {
        guard device.phase == .running, !device.isCleared, let rejection = device.store.rejections.first else { return }
        oracle.acknowledges(device, rejection.writeID, by: rejection.operation)
        let callerID = callerID(.write(device: device.number, rejection.key))
        let request = SetRequest(
            callerID: callerID, key: rejection.key, operation: rejection.operation, policy: rejection.policy,
            base: device.known(rejection.key),
            retries: rejection.writeID)
        try handle(device, .set(request))
    }

    /// Discards the oldest rejected write.
    func discardRejected(_ device: SimulatedDevice) throws(Violation) {
        guard device.phase == .running, !device.isCleared, let rejection = device.store.rejections.first else { return }
        oracle.acknowledges(device, rejection.writeID, by: nil)
        try handle(device, .discard(rejection.writeID, callerID(.discard(device: device.number, rejection.writeID))))
    }

    /// From memory, from disk, from the server: as the SDK's reads go.
    func read(_ device: SimulatedDevice, _ key: RecordKey) throws(Violation) {
        guard device.phase == .running else { return }
        // Only a read from the server shows the present record.
        guard device.settings.covers(key) else { return try fetch(device, [key], mustBeNew: true) }
        if device.tier.read(key) == nil { device.memory.store(device.view(of: key)) }
        try inspect(device)
        guard device.view(of: key).value == .unknown else { return }
        if let absence = absence(of: key, device), let problem = oracle.claimed(absence) {
            throw fail(.nothingInvented, device.number, problem)
        }
        try fetch(device, [key], mustBeNew: false)
    }

    /// What the SDK's reads that may use the cache take for a key that the device knows nothing of.
    private func absence(of key: RecordKey, _ device: SimulatedDevice) -> Entry? {
        if bug == .claimAbsence, let cursor = device.store.state.cursor {
            return Entry(
                key: key, epoch: cursor.epoch, revision: cursor.revision, asOf: cursor.revision, pass: device.store.state.pass,
                content: nil,
                verifiedAt: Timestamp(milliseconds: now), origin: .feed)
        }
        // The SDK's disks evict nothing of a copy without a limit, and those of the simulator do.
        return device.hasEvicted ? nil : device.machine.absence(of: key)
    }

    func fetch(_ device: SimulatedDevice, _ keys: [RecordKey], mustBeNew: Bool) throws(Violation) {
        guard device.phase == .running, !keys.isEmpty else { return }
        oracle.asked(device, keys)
        let callerID = callerID(
            .fetch(device: device.number, keys: keys, floors: mustBeNew ? keys.map { oracle.floor(of: $0) } : [], since: now))
        let items = keys.map { FetchRequest.Item(key: $0, known: device.known($0)) }
        try handle(device, .fetch(FetchRequest(callerID: callerID, items: items, mustBeNew: mustBeNew && bug != .joinEarlierRead)))
    }

    func list(_ device: SimulatedDevice, _ collection: String, _ listing: ScenarioEvent.Listing) throws(Violation) {
        guard device.phase == .running else { return }
        let purpose: ListRequest.Purpose =
            switch listing {
            case .records: .records(mustBeNew: false)
            case .ids: .ids
            case .fresh: .records(mustBeNew: true)
            case .observed: .observers
            }
        let callerID = callerID(.list(device: device.number, collection: collection, listing, since: oracle.position))
        try handle(device, .list(ListRequest(callerID: callerID, collection: collection, purpose: purpose)))
    }

    /// Begins the read of a list.
    func read(_ device: SimulatedDevice, _ keys: [RecordKey], for callerID: CallerID) throws(Violation) {
        oracle.asked(device, keys)
        let items = keys.map { FetchRequest.Item(key: $0, known: device.entry(of: $0)) }
        try handle(device, .fetch(FetchRequest(callerID: callerID, items: items, mustBeNew: true)))
    }

    func evict(_ device: SimulatedDevice, _ key: RecordKey) throws(Violation) {
        guard device.phase == .running, !device.isCleared, !device.machine.mustKeep(key) else { return }
        device.store.evict(key)
        device.durable?.evict(key)
        guard device.store.entries[key] == nil else { return }
        device.hasEvicted = true
        device.memory.store(KeyView(key, nil))
        try handle(device, .evicted([key]))
    }

    func clear(_ device: SimulatedDevice) throws(Violation) {
        guard device.phase == .running else { return }
        let name = "\(device.declaration.name)-\(device.generation + 1)-\(step)"
        guard let client = try? ClientIdentifier(name) else { return }
        for (callerID, caller) in callers {
            if case .clear = caller { continue }
            if caller.device == device.number { callers[callerID] = nil }
        }
        try handle(device, .clear(newClient: client, callerID(.clear(device: device.number))))
    }

    // MARK: Answers

    func complete(_ callerID: CallerID, _ result: CallResult) throws(Violation) {
        guard let caller = callers.removeValue(forKey: callerID) else { return }
        let device = devices[caller.device]
        // While a device sleeps, no caller waits.
        if case .fetch(_, _, _, let since) = caller, device.awakeSince <= since, now - since > SyncSettings().readTimeout + 1_000 {
            throw fail(.bounded, device.number, "a read was answered after \(now - since) ms")
        }
        switch (caller, result) {
        case (.write(_, let key), .accepted(let writeID)):
            guard let problem = oracle.accepted(device, writeID, key) else { return }
            throw fail(.durableBeforeAcknowledged, device.number, problem)
        case (.fetch(_, let keys, let floors, _), .views(let views)):
            for view in views where !device.settings.covers(view.key) {
                device.seen[view.key] = view.entry
                if bug == .keepUncovered { device.memory.store(view) }
            }
            for ((key, floor), view) in zip(zip(keys, floors), views) {
                // Under pending writes of the device, a view may stand on an older record until their verdicts are known.
                guard !view.isPending, !device.machine.overlaidKeys.contains(key), let problem = oracle.returned(view, of: key, floor)
                else { continue }
                throw fail(.linearizable, device.number, problem)
            }
        case (.list(_, let collection, let listing, let since), .listed(let held, let read)):
            let views: [KeyView] =
                switch listing {
                case .observed: device.store.entries.values.map { KeyView($0.key, $0) }
                case .ids: held.map { KeyView(key: $0, value: .elsewhere, isPending: false, entry: nil) }
                case .records, .fresh: held.map { device.view(of: $0) } + read
                }
            guard let problem = oracle.listed(views, of: collection, listing, since: since, device) else { return }
            throw fail(.linearizable, device.number, problem)
        case (.discard(_, let writeID), .discarded):
            guard device.store.rejections.allSatisfy({ $0.writeID != writeID }) else {
                throw fail(.rejectionsStay, device.number, "the rejection of write \(writeID.number) was discarded, and is still on disk")
            }
        case (.clear, .cleared):
            guard device.store.entries.isEmpty, device.store.rows.isEmpty, device.store.watermarks.isEmpty, device.store.rejections.isEmpty
            else {
                throw fail(.clearMeansClear, device.number, "the device says that it is cleared, and its disk holds entries or writes")
            }
        default: break
        }
    }

    func decide(_ device: SimulatedDevice, _ writeID: LocalWriteID, _ key: RecordKey, _ outcome: LocalWriteOutcome) throws(Violation) {
        recorder?.decided(device, writeID, outcome, at: now)
        if bug == .dropOverlay, case .applied = outcome, device.machine.overlaidKeys.contains(key) {
            device.memory.store(KeyView(key, device.store.entries[key]))
        }
        if bug == .keepRejected, case .rejected = outcome {
            let view = device.view(of: key)
            device.memory.store(KeyView(key: key, value: view.value, isPending: true, entry: view.entry))
        }
        if case .rejected = outcome, let problem = oracle.unlisted(device, writeID) {
            throw fail(.rejectionsStay, device.number, problem)
        }
        if let problem = oracle.decided(device, writeID, outcome) { throw fail(.pendingMeansPending, device.number, problem) }
    }
}

extension SimulatedSystem.Caller {
    var device: Int {
        switch self {
        case .write(let device, _), .fetch(let device, _, _, _), .list(let device, _, _, _), .discard(let device, _), .clear(let device):
            device
        }
    }
}
