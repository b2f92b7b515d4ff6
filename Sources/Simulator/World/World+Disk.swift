import DequeModule
import FreshetClient
import FreshetServer
import FreshetWire

/// Devices' disks: one transaction after the other, each after a while, or not at all.
extension World {
    func store(_ transaction: DiskTransaction, _ device: SimulatedDevice) {
        device.commits.append(transaction)
        var wait = delay(2)
        if device.trouble?.present(at: now) == .slow { wait = wait * 100 + 100 }
        if sabotage == .acceptBeforeSync { wait = 0 }
        device.isDiskFreeAt = max(now, device.isDiskFreeAt) + wait
        queue.push(.disk(device: device.number, run: device.run), at: device.isDiskFreeAt)
    }

    func commitNext(_ device: SimulatedDevice) throws(Violation) {
        guard let transaction = device.commits.popFirst() else { return }
        digest.mix(transaction.id.number)
        switch device.trouble?.present(at: now) {
        case .full: return try handle(device, .commitFailed(transaction.id, .full))
        case .failing: return try handle(device, .commitFailed(transaction.id, .failed("the disk fails")))
        case .slow, nil: break
        }
        let isLate = sabotage == .acceptBeforeSync || (sabotage == .cursorFirst && !transaction.entries.isEmpty)
        if isLate {
            if device.durable == nil { device.durable = device.store }
            push(.sync(device: device.number, run: device.run), after: 2_000)
        }
        let skipped = commit(transaction, device)
        try handle(device, .committed(transaction.id, skipped: skipped))
    }

    /// Puts it on the disk, and lets the observer know what is there now.
    @discardableResult
    func commit(_ transaction: DiskTransaction, _ device: SimulatedDevice) -> [Int] {
        let skipped: [Int]
        switch sabotage {
        case .storeOlder: skipped = commitOlder(transaction, device)
        case .ignoreInvalidation:
            var kept = transaction
            kept.entries.removeAll { if case .evict = $0 { true } else { false } }
            let found = device.store.commit(kept)
            // The indices of a shorter list mean nothing to the machine.
            skipped = kept.entries.count == transaction.entries.count ? found : []
        default: skipped = device.store.commit(transaction)
        }
        if let spoilt = spoil(after: transaction, device) { _ = device.store.commit(spoilt) }
        if transaction.clear != nil {
            // Another one may wait already.
            device.isCleared = device.commits.contains { $0.clear != nil }
            device.generation += 1
            observer.cleared(device)
        }
        observer.stored(transaction, device, at: now)
        recorder?.stored(transaction, device, at: now)
        return skipped
    }

    /// What a broken implementation would have stored besides.
    private func spoil(after transaction: DiskTransaction, _ device: SimulatedDevice) -> DiskTransaction? {
        var more = DiskTransaction(id: transaction.id)
        let isReset = transaction.state.contains(.cursor(nil))
        switch sabotage {
        case .resetDropsOutbox where isReset: more.outbox = device.store.rows.keys.sorted().map { .remove($0) }
        case .trustAfterReset where isReset:
            for entry in device.store.entries.values {
                more.entries.append(
                    .confirm(
                        Confirmation(
                            key: entry.key, epoch: entry.epoch, revision: entry.revision, asOf: entry.asOf,
                            pass: device.store.state.pass + 5, verifiedAt: entry.verifiedAt)))
            }
        case .inventValue:
            for case .put(let row) in transaction.outbox {
                guard case .patch(let patch) = row.operation, case .applied(let position) = row.state else { continue }
                more.entries.append(
                    .put(
                        Entry(
                            key: row.key, epoch: position.epoch, revision: position.revision, asOf: position.revision,
                            pass: device.store.state.pass, content: Content(checkedJSON: patch), verifiedAt: row.created,
                            origin: .ownWrite), onlyIfHeld: false))
            }
        default: return nil
        }
        return more
    }

    /// Stores what is older than what is there, too.
    private func commitOlder(_ transaction: DiskTransaction, _ device: SimulatedDevice) -> [Int] {
        device.store.commit(transaction).filter { index in
            guard case .put(let entry, _) = transaction.entries[index], let stored = device.store.entries[entry.key], stored != entry else {
                return true
            }
            _ = device.store.commit(DiskTransaction(id: transaction.id, entries: Self.overwriting(stored, with: entry)))
            return false
        }
    }

    /// What puts an entry, or none, in the place of another one whatever the rules of the disk say.
    private static func overwriting(_ stored: Entry?, with entry: Entry?) -> [EntryOperation] {
        let eviction = stored.map { EntryOperation.evict(.key($0.key), before: Cursor(epoch: $0.epoch, revision: .maximum)) }
        return [eviction, entry.map { .put($0, onlyIfHeld: false) }].compactMap { $0 }
    }

    /// What a crash leaves of a disk that says it has more than it has.
    func loseUnsynced(_ device: SimulatedDevice) {
        guard let durable = device.durable else { return }
        device.durable = nil
        guard sabotage == .cursorFirst else { return device.store = durable }
        // The cursor is there, the records are not.
        var lost = DiskTransaction(id: TransactionID(0))
        for key in observer.keys where durable.entries[key] != device.store.entries[key] {
            lost.entries += Self.overwriting(device.store.entries[key], with: durable.entries[key])
        }
        _ = device.store.commit(lost)
    }

    func loadHeld(_ device: SimulatedDevice, _ query: HeldQuery) throws(Violation) {
        if device.trouble?.present(at: now) == .failing { return try handle(device, .heldKeysFailed(query, .failed("the disk fails"))) }
        try handle(device, .heldKeys(query, device.store.heldKeys(query)))
    }
}
