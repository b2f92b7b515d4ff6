internal import FreshetTransport
internal import FreshetWire
internal import Synchronization

/// Keeps the disk tier within its limit, in steps that alternate with other work.
extension Engine {
    /// The number of rows of a step.
    private static let step = 256

    /// Begins to evict if the disk tier has outgrown its limit. Called at the start and after events that changed the disk.
    func checkDiskLimit() {
        guard eviction == nil, let disk, disk.limit != .max, disk.mostBytes > disk.limit else { return }
        do {
            let bytes = try disk.bytes
            if bytes <= disk.limit { unevictableBytes = 0 }
            // If nothing could be evicted, it is tried again once the tier has grown.
            guard bytes > max(disk.limit, unevictableBytes + disk.limit / 16) else { return }
            eviction = EvictionRound(newest: try disk.newestRow)
        } catch {
            return fail(error)
        }
        continueEviction()
    }

    private func continueEviction() {
        transport.run { @Sendable [weak self, run] in
            self?.assumeIsolated { engine in if engine.run == run { engine.evictSome() } }
        }
    }

    private func evictSome() {
        guard var round = eviction, let disk, machine != nil else { return eviction = nil }
        do {
            let excess = try disk.bytes - (disk.limit - disk.limit / 16)
            guard excess > 0 else { return eviction = nil }
            let choice = round.choose(
                from: try disk.candidates(atMost: Self.step), newest: try disk.newestRow, toFree: excess,
                isNeeded: { machine?.mustKeep($0) == true || observers.watches($0) }, isInMemory: { memory.peek($0) != nil })
            try disk.carryOut(choice)
            let evicted = choice.victims.map(\.key)
            for key in evicted { memory.store(KeyView(key, nil)) }
            counters.evictions.add(evicted.count, ordering: .relaxed)
            if !evicted.isEmpty { submit(.evicted(evicted)) }
            if round.isExhausted {
                unevictableBytes = try disk.bytes
                eviction = nil
                settings.logger.warning(
                    "\(settings.path) holds \(unevictableBytes) bytes, above the disk limit of \(disk.limit): all of it is pending, observed or not yet followed"
                )
            } else {
                eviction = round
                continueEviction()
            }
        } catch {
            fail(error)
        }
    }

    /// Ends the round after a failure. Another commit starts the next one.
    private func fail(_ error: any Error) {
        eviction = nil
        _ = diskFailure(error)
    }
}
