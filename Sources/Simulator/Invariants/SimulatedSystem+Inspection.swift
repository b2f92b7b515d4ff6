import FreshetClient
import FreshetServer
import FreshetWire

/// The checks after every event: whether what a device holds and shows is right.
extension SimulatedSystem {
    func inspect(_ device: SimulatedDevice) throws(Violation) {
        guard device.phase == .running || device.phase == .asleep else { return }
        do throws(Oracle.InvariantFailure) {
            if let failure = oracle.records[device.number].failure { throw failure }
            let snapshot = DeviceSnapshot(device, patience: patience(device), oracle, at: now)
            // Without a transaction, the views over writes change only by what the oracle learns of them.
            let hasNewWrites = device.inspectedWrites !== snapshot.writes || device.inspectedDecisions != oracle.decisions
            try checkOutbox(snapshot, device)
            if !device.isCleared, let failure = oracle.rejectionFailure(device) { throw failure }
            try checkState(device)
            try checkStatus(snapshot, device)
            if case .some(let keys) = device.touched, !device.isCleared {
                // The other keys are as they were: only the writes under way and the time can have changed something.
                var numbers = Set(keys.lazy.compactMap { [oracle] in oracle.numbers[$0] })
                numbers.formUnion(
                    hasNewWrites ? device.written.union(snapshot.written) : device.written.symmetricDifference(snapshot.written))
                for number in numbers.sorted() { try checkKey(number, snapshot, device) }
                if snapshot.past != nil, device.inspectedPast != snapshot.past || device.hasNewFreshness {
                    for number in device.inspected.indices {
                        if let held = device.inspected[number]?.held { try checkFreshness(held.view, number, snapshot, device) }
                    }
                }
            } else {
                for number in oracle.keys.indices { try checkKey(number, snapshot, device) }
            }
            if device.granted != nil || !device.tokenRights.isEmpty { try checkRights(device) }
            (device.touched, device.hasNewFreshness) = (.some([]), false)
            (device.inspectedPast, device.written, device.inspectedDecisions) = (snapshot.past, snapshot.written, oracle.decisions)
        } catch { throw fail(error.rule, device.number, error.text) }
    }

    /// Checks the keys again that a change of the device's state can make wrong.
    private func checkState(_ device: SimulatedDevice) throws(Oracle.InvariantFailure) {
        let state = device.store.state
        defer { device.inspectedState = device.isCleared ? nil : state }
        guard !device.isCleared, let known = device.inspectedState, known.client == state.client, known.epoch == state.epoch,
            known.pass == state.pass, known.revalidation == state.revalidation
        else {
            device.inspected = Array(repeating: nil, count: oracle.keys.count)
            device.touched = .all
            return
        }
        guard known.cursor != state.cursor else { return }
        for number in device.inspected.indices {
            // A key that has changed is checked as a whole.
            guard let entry = device.inspected[number]?.entry, device.store.entries[entry.key] == entry else { continue }
            try checkFence(entry, number, device)
        }
    }

    // MARK: The outbox

    private func checkOutbox(_ snapshot: DeviceSnapshot, _ device: SimulatedDevice) throws(Oracle.InvariantFailure) {
        // A write gets into the oracle's list only together with a change of the disk's writes.
        guard !device.isCleared, device.inspectedWrites !== snapshot.writes else { return }
        for writeID in oracle.records[device.number].alive where device.store.rows[writeID] == nil {
            guard let write = oracle.write(writeID, of: device) else { continue }
            throw Oracle.InvariantFailure(
                oracle.records[device.number].wasReset ? .resetKeepsYours : .readYourWrites,
                "\(oracle.writes[write].name) has vanished from the outbox without a verdict")
        }
        device.inspectedWrites = snapshot.writes
    }

    // MARK: Keys

    private func checkKey(_ number: Int, _ snapshot: DeviceSnapshot, _ device: SimulatedDevice) throws(Oracle.InvariantFailure) {
        let key = oracle.keys[number]
        let entry = device.entry(of: key)
        let held = device.tier.peek(key)
        let isCovered = device.settings.covers(key)
        let view =
            snapshot.overlaid.contains(number) || !isCovered ? device.withMachine { $0.view(of: key, stored: entry) } : KeyView(key, entry)
        let overlay =
            snapshot.written.contains(number)
            ? InspectedKey.Overlay(view: view, writes: snapshot.writes, decisions: oracle.decisions) : nil
        if let seen = device.inspected[number], seen.isCurrent(entry, held, overlay) {
            // Nothing that the other checks read has changed; time has.
            if let held { try checkFreshness(held.view, number, snapshot, device) }
            return
        }
        let shown = held?.view
        if device.isCleared {
            // Writes that are kept are shown over no record.
            let isKept = snapshot.overlaid.contains(number)
            guard view.entry == nil, shown?.entry == nil, isKept || (view.value == .unknown && shown == nil) else {
                throw Oracle.InvariantFailure(.clearMeansClear, "\(key) is still readable while the device is being cleared")
            }
            return
        }
        if let entry {
            try checkEntry(entry, number, device)
            try checkFence(entry, number, device)
        }
        guard isCovered || snapshot.written.contains(number) else {
            try checkUncovered(view, shown)
            device.inspected[number] = InspectedKey(entry: entry, held: held, overlay: overlay)
            return
        }
        try checkShown(view, entry, number, snapshot, device)
        if let shown {
            try checkMemory(shown, view)
            try checkFreshness(shown, number, snapshot, device)
        }
        device.inspected[number] = InspectedKey(entry: entry, held: held, overlay: overlay)
    }

    /// Whether a device shows nothing of a record that it does not follow, and of which none of its writes waits.
    private func checkUncovered(_ view: KeyView, _ shown: KeyView?) throws(Oracle.InvariantFailure) {
        guard view.value != .unknown || view.entry != nil || shown != nil else { return }
        throw Oracle.InvariantFailure(
            .noSilentStaleness, "\(view.key) is outside of what the device follows, and shows \(Replay.text(shown?.value ?? view.value))")
    }

    /// Whether what an entry says was ever true.
    private func checkEntry(_ entry: Entry, _ number: Int, _ device: SimulatedDevice) throws(Oracle.InvariantFailure) {
        let key = entry.key
        guard let place = oracle.history(entry.epoch) else {
            throw Oracle.InvariantFailure(.nothingInvented, "\(key) is of the epoch \(entry.epoch), which never was")
        }
        let history = oracle.histories[place]
        guard entry.revision <= entry.asOf, entry.asOf.number <= history.head else {
            throw Oracle.InvariantFailure(
                .nothingInvented, "\(key) is at \(entry.revision) as of \(entry.asOf), and the server at \(history.head)")
        }
        let truth = history.version(of: number, at: entry.asOf.number)
        guard !entry.isTrue(of: truth?.content, at: truth?.revision), !isTakenForOwn(entry, device) else { return }
        let then = history.version(of: number, at: entry.revision.number)
        let wasTrue = entry.isTrue(of: then?.content, at: then?.revision)
        throw Oracle.InvariantFailure(
            wasTrue ? .fenceFetches : .nothingInvented,
            "\(key) is \(entry.valueText) at \(entry.revision) as of \(entry.asOf), where the server had "
                + "\(Replay.text(truth?.content)) at \(truth?.revision ?? 0)")
    }

    /// Whether the device takes a copy's large value for its own: the write has the same name, number and size, and the
    /// feed leaves the bytes out. Until its own write has a verdict, the device cannot distinguish the two
    /// (docs/decisions/0040-copied-devices.md).
    private func isTakenForOwn(_ entry: Entry, _ device: SimulatedDevice) -> Bool {
        guard let content = entry.content, oracle.copiedNames.contains(device.store.state.client) else { return false }
        return device.store.rows.values.contains { $0.key == entry.key && $0.state == .pending && $0.operation == .put(content) }
    }

    /// Checks that an entry includes all changes of its key that the feed has delivered.
    private func checkFence(_ entry: Entry, _ number: Int, _ device: SimulatedDevice) throws(Oracle.InvariantFailure) {
        let state = device.store.state
        if device.generation > 0, device.settings.following == .cachedKeys, !oracle.hasWanted(number, device) {
            throw Oracle.InvariantFailure(.clearMeansClear, "\(entry.key) is held, and was never asked for since the clear")
        }
        guard entry.isConfirmed(in: state.pass), let cursor = state.cursor else { return }
        guard entry.epoch == cursor.epoch else {
            throw Oracle.InvariantFailure(.resetKeepsYours, "\(entry.key) counts as verified and is of the epoch before, \(entry.epoch)")
        }
        guard state.revalidation == .complete, device.settings.filter.matches(entry.key), let place = oracle.history(cursor.epoch) else {
            return
        }
        // The feed has only the latest change of a key: a change after the cursor may hide one before it, until a
        // page was the last.
        let origin = oracle.records[device.number].origin
        let end = state.completeAt == nil ? .max : cursor.revision.number
        let touched = oracle.histories[place].lastTouch(of: number, at: end, origin: origin)
        guard touched > entry.asOf.number, touched <= cursor.revision.number else { return }
        throw Oracle.InvariantFailure(
            entry.origin == .feed || entry.origin == .ownWrite ? .nothingInvented : .fenceFetches,
            "\(entry.key) is known through \(entry.asOf), was changed at \(touched), and the device's cursor is \(cursor)")
    }

    /// Whether a view is the record with the pending writes over it, and never an older one.
    private func checkShown(
        _ view: KeyView, _ entry: Entry?, _ number: Int, _ snapshot: DeviceSnapshot, _ device: SimulatedDevice
    ) throws(Oracle.InvariantFailure) {
        let key = view.key
        if let shown = view.entry {
            if shown != entry { try checkEntry(shown, number, device) }
            try checkOrder(shown, number, device)
        }
        let rows = snapshot.writes.rows[number] ?? []
        if rows.isEmpty, view.entry != entry { throw Oracle.InvariantFailure(.overlayThenBase, "\(key) does not show what the disk has") }
        if !rows.isEmpty { try checkOverlay(view, entry, rows, device) }
        guard view.isPending == rows.contains(where: \.isPending) else {
            throw Oracle.InvariantFailure(
                .pendingMeansPending, "\(key) is shown as \(view.isPending ? "" : "not ")pending, and its writes say otherwise")
        }
    }

    /// Whether a view is the record that it stands on with the writes replayed that are not part of it.
    private func checkOverlay(
        _ view: KeyView, _ entry: Entry?, _ rows: [OutboxRow], _ device: SimulatedDevice
    ) throws(Oracle.InvariantFailure) {
        guard view.entry == entry else {
            throw Oracle.InvariantFailure(.overlayThenBase, "\(view.key) does not stand on the record that the disk has")
        }
        // Until a device knows that another one has its name, a record may seem to contain its writes: the server states that one's last number.
        guard !oracle.copiedNames.contains(device.store.state.client),
            !rows.contains(where: { oracle.write($0.writeID, of: device).map(oracle.isUnderTwoNames) ?? false })
        else { return }
        let base = KeyView.Value(entry)
        var replay = Replay(base)
        for row in rows where mustReplay(row, over: entry, device) { replay.apply(row.operation) }
        guard replay.value != view.value else { return }
        throw Oracle.InvariantFailure(
            view.value == base && rows.contains(where: \.isPending) ? .readYourWrites : .overlayThenBase,
            "\(view.key) shows \(Replay.text(view.value)) over \(view.entry.map { "\($0.revision)" } ?? "nothing known"); with the "
                + "writes that are not part of it, it is \(Replay.text(replay.value))")
    }

    private func checkOrder(_ shown: Entry, _ number: Int, _ device: SimulatedDevice) throws(Oracle.InvariantFailure) {
        guard let history = oracle.history(shown.epoch) else { return }
        if let highest = oracle.records[device.number].highest[number], highest.history == history,
            shown.revision.number < highest.revision
        {
            guard oracle.histories[history].lastChange(of: number, at: highest.revision) <= shown.revision.number else {
                throw Oracle.InvariantFailure(.neverBack, "\(shown.key) goes back to \(shown.revision) after \(highest.revision)")
            }
            return
        }
        oracle.records[device.number].highest[number] = Oracle.Point(history: history, revision: shown.revision.number)
    }

    /// Whether a write shows over the record: exactly while the record does not contain it.
    private func mustReplay(_ row: OutboxRow, over shown: Entry?, _ device: SimulatedDevice) -> Bool {
        guard let shown, let write = oracle.write(row.writeID, of: device) else { return true }
        if let history = oracle.history(shown.epoch), let applied = oracle.appliedRevision(of: write, in: history) {
            return shown.revision.number < applied
        }
        // A refused write changed no record. The watermark shows whether the device knows that it was decided.
        guard oracle.writes[write].isRefused, let watermark = device.store.watermarks[row.key] else { return true }
        // The user is to see it until it is merged. A record of another history may contain it, for all that the device knows.
        if case .merging(let epoch) = row.state, epoch == watermark.epoch { return true }
        return row.number > watermark.number
    }

    // MARK: Tiers and freshness

    private func checkMemory(_ shown: KeyView, _ view: KeyView) throws(Oracle.InvariantFailure) {
        guard shown.isPending == view.isPending else {
            throw Oracle.InvariantFailure(
                .pendingMeansPending, "memory shows \(view.key) as \(shown.isPending ? "" : "not ")pending, the outbox does not")
        }
        guard shown.value == view.value, shown.revision == view.revision else {
            throw Oracle.InvariantFailure(
                .overlayThenBase,
                "memory shows \(Replay.text(shown.value)) for \(view.key), the tiers below it \(Replay.text(view.value))")
        }
    }

    /// How old the state of a live device may be, in milliseconds.
    private func patience(_ device: SimulatedDevice) -> Int64 {
        // A server whose announcements are lost notices it when it next reconciles.
        let lag = servers.count == 1 ? 0 : HeadFollower.reconcileInterval + HeadFollower.silence
        return Int64(device.settings.hold) * 1_000 + device.settings.grace + 10_000 + lag
    }

    private func checkStatus(_ snapshot: DeviceSnapshot, _ device: SimulatedDevice) throws(Oracle.InvariantFailure) {
        guard let past = snapshot.past, let status = device.status, status.connection == .live, let cursor = status.cursor,
            let history = oracle.history(cursor.epoch)
        else { return }
        guard history > past.history || (history == past.history && cursor.revision.number >= past.revision) else {
            throw Oracle.InvariantFailure(
                .noSilentStaleness, "the device calls itself live at \(cursor), and the server was past that long ago")
        }
    }

    private func checkFreshness(
        _ shown: KeyView, _ number: Int, _ snapshot: DeviceSnapshot, _ device: SimulatedDevice
    ) throws(Oracle.InvariantFailure) {
        guard let past = snapshot.past, let entry = shown.entry, let history = oracle.history(entry.epoch), history <= past.history else {
            return
        }
        let origin = oracle.records[device.number].origin
        let isOld =
            history < past.history
            || oracle.histories[history].lastTouch(of: number, at: past.revision, origin: origin) > entry.asOf.number
        guard isOld, device.tier.freshness(of: shown) == .live else { return }
        throw Oracle.InvariantFailure(
            .noSilentStaleness, "\(entry.key) is called live and known through \(entry.asOf), and was changed or reset long ago")
    }
}
