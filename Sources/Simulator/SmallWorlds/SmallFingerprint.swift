import FreshetClient

/// 128 bits that stand for a state. Of two states with the same bits, the search would skip the second and all that follows from it;
/// it would never report a false violation. Among 10⁸ states the chance of such a pair is below 10⁻²².
struct SmallFingerprint: Hashable {
    private let low: Int
    private let high: Int

    /// Combines the same twice, with different beginnings.
    init(_ combine: (inout Hasher) -> Void) {
        var (first, second) = (Hasher(), Hasher())
        first.combine(1)
        second.combine(2)
        combine(&first)
        combine(&second)
        (low, high) = (first.finalize(), second.finalize())
    }
}

extension SmallDevice {
    /// A hash of the state that decides how the device and its oracle go on. It includes the order of requests and transactions, not their
    /// numbers.
    var fingerprint: SmallFingerprint {
        let state = machine.relativeState(at: uptime)
        return SmallFingerprint { hasher in
            hasher.combine(state)
            combine(store, into: &hasher)
            if let durable { combine(durable, into: &hasher) }
            for call in calls {
                hasher.combine(call.description.kind)
                hasher.combine(call.description.needsFreshToken)
                hasher.combine(call.response)
            }
            for transaction in transactions {
                hasher.combine(transaction.clear)
                hasher.combine(transaction.entries)
                hasher.combine(transaction.outbox)
                hasher.combine(transaction.rejections)
                hasher.combine(transaction.state)
            }
            combineQueries(into: &hasher)
            hasher.combine(deadline.map { max(0, $0 - uptime) })
            hasher.combine(isLive)
            hasher.combine(shown)
            hasher.combine(isCleared)
            hasher.combine(hasStoppedSending)
            hasher.combine(late)
            hasher.combine(lateResponses)
            hasher.combine(oracle)
        }
    }

    /// Generations count from that of the machine.
    private func combineQueries(into hasher: inout Hasher) {
        guard !queries.isEmpty || !merges.isEmpty else { return }
        let generation = machine.inspection.generation
        for var query in queries {
            query.generation -= generation
            hasher.combine(query)
        }
        for var merge in merges {
            merge.generation -= generation
            hasher.combine(merge)
        }
    }

    private func combine(_ store: VolatileStore, into hasher: inout Hasher) {
        hasher.combine(store.state)
        hasher.combine(store.entries)
        hasher.combine(store.rows)
        hasher.combine(store.watermarks)
    }
}
