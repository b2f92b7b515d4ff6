import DequeModule
import FreshetClient
import FreshetServer
import FreshetWire

/// Devices' disks: one transaction after the other, each after a while, or not at all.
extension SimulatedSystem {
    func store(_ transaction: DiskTransaction, _ device: SimulatedDevice) {
        device.commits.append(transaction)
        var wait = delay(2)
        if device.trouble?.present(at: now) == .slow { wait = wait * 100 + 100 }
        if bug == .acceptBeforeSync { wait = 0 }
        device.isDiskFreeAt = max(now, device.isDiskFreeAt) + wait
        queue.push(.disk(device: device.number, run: device.run), at: device.isDiskFreeAt)
    }

    func commitNext(_ device: SimulatedDevice) throws(Violation) {
        guard let transaction = device.commits.popFirst() else { return }
        digest.mix(transaction.id.number)
        switch device.trouble?.present(at: now) {
        case .full: return try handle(device, .commitFailed(transaction.id, .full))
        case .failing: return try handle(device, .commitFailed(transaction.id, .failed("the disk fails")))
        case .slow, .unsure, nil: break
        }
        let isLate = bug == .acceptBeforeSync || (bug == .cursorFirst && !transaction.entries.isEmpty)
        if isLate {
            if device.durable == nil { device.durable = device.store }
            push(.sync(device: device.number, run: device.run), after: 2_000)
        }
        let skipped = commit(transaction, device)
        try handle(device, .committed(transaction.id, skipped: skipped))
    }

    /// Stores it on the disk, and records the contents in the oracle.
    @discardableResult
    func commit(_ transaction: DiskTransaction, _ device: SimulatedDevice) -> [Int] {
        let skipped: [Int]
        switch bug {
        case .storeOlder: skipped = device.store.storeOlder(transaction, skipped: device.commit(transaction))
        case .ignoreInvalidation:
            var kept = transaction
            kept.entries.removeAll { operation in
                switch operation {
                case .evict, .invalidate: true
                case .put, .confirm, .withoutValue, .finishPass, .remove, .narrow, .inherit: false
                }
            }
            let found = device.commit(kept)
            // The indices of a shorter list mean nothing to the machine.
            skipped = kept.entries.count == transaction.entries.count ? found : []
        case .keepForbidden where device.granted != nil: skipped = device.keepForbidden(transaction)
        case .loseRejections:
            var kept = transaction
            kept.rejections.removeAll { if case .put = $0 { true } else { false } }
            skipped = device.commit(kept)
        default: skipped = device.commit(transaction)
        }
        spoil(after: transaction, device)
        if transaction.clear != nil {
            // Another one may wait already.
            device.isCleared = device.commits.contains(where: \.removesEntries)
            device.generation += 1
            oracle.cleared(device)
        }
        if transaction.removesRecords { device.isCleared = device.commits.contains(where: \.removesEntries) }
        oracle.stored(transaction, device, at: now)
        recorder?.stored(transaction, device, at: now)
        return skipped
    }

    /// Adds the data that a broken implementation would also store.
    private func spoil(after transaction: DiskTransaction, _ device: SimulatedDevice) {
        switch bug {
        case .resetDropsOutbox where transaction.isReset: device.store.dropOutbox()
        case .trustAfterReset where transaction.isReset: device.store.trustEntries()
        case .inventValue: device.store.inventValues(transaction)
        default: break
        }
    }

    /// What a crash leaves of a disk that says it has more than it has.
    func loseUnsynced(_ device: SimulatedDevice) {
        guard let durable = device.durable else { return }
        device.durable = nil
        guard bug == .cursorFirst else { return device.store = durable }
        device.store.loseRecords(of: oracle.keys, since: durable)
    }

    func loadCachedKeys(_ device: SimulatedDevice, _ query: CachedKeyQuery) throws(Violation) {
        if device.trouble?.present(at: now) == .failing { return try handle(device, .cachedKeysFailed(query, .failed("the disk fails"))) }
        if bug == .loseRefreshes, query.selection == .needingRefresh { return try handle(device, .cachedKeys(query, [])) }
        try handle(device, .cachedKeys(query, device.store.cachedKeys(query)))
    }
}
