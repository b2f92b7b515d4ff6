internal import Synchronization

/// Drains writes to the second tier: one task at a time, while there are any.
extension TwoTierCache {
    /// The number of writes of different keys that may run concurrently.
    private static var mostAtOnce: Int { 16 }

    func startDraining() {
        guard change({ $0.behind.begin() }) else { return }
        Task { await drain() }
    }

    private func drain() async {
        while let step = change({ $0.behind.next() }) {
            switch step {
            case .writes(let writes): await carryOut(writes)
            case .bulkRemoval(let bulkRemoval): await carryOut(bulkRemoval)
            }
        }
    }

    private func carryOut(_ writes: [WriteBehind<Key, Value>.Write]) async {
        await withTaskGroup(of: Void.self) { group in
            for (index, write) in writes.enumerated() {
                if index >= Self.mostAtOnce { await group.next() }
                group.addTask { await self.carryOut(write) }
            }
        }
    }

    private func carryOut(_ write: WriteBehind<Key, Value>.Write) async {
        var failure: (any Error)?
        var isClean = false
        do {
            switch write.change {
            case .put(let item):
                try await secondary.store(stored(item), named: write.name)
                counters.writes.add(1, ordering: .relaxed)
            case .remove:
                try await secondary.removeValue(named: write.name)
                counters.removals.add(1, ordering: .relaxed)
            }
            isClean = true
        } catch {
            failure = error
            counters.failedWrites.add(1, ordering: .relaxed)
            if write.change.isPut {
                report(.writeFailed(write.key, error), "a value could not be written", error)
                // The tier still holds the earlier value, which is outdated.
                do {
                    try await secondary.removeValue(named: write.name)
                    isClean = true
                } catch {
                    report(.removalFailed(write.key, error), "an outdated value could not be removed", error)
                }
            } else {
                report(.removalFailed(write.key, error), "a value could not be removed", error)
            }
        }
        change { state in
            state.behind.finish(write, isClean: isClean)
            if state.firstError == nil { state.firstError = failure }
        }
    }

    private func stored(_ item: TieredValue<Value>) throws -> StoredValue {
        StoredValue(
            bytes: try values.encode(item.value), tags: item.tags, protection: item.protection, storedTime: item.storedTime,
            validatedTime: item.validatedTime, deadline: item.deadline)
    }

    private func carryOut(_ bulkRemoval: WriteBehind<Key, Value>.BulkRemoval) async {
        let result: Result<Void, any Error>
        do {
            switch bulkRemoval.scope {
            case .nothing: break
            case .all: try await secondary.removeAll()
            case .everything(let schema): try await secondary.invalidateEverything(schema: schema)
            case .tag(let tag): try await secondary.removeValues(taggedWith: tag)
            case .prefix(let prefix): try await secondary.removeValues(withPrefix: prefix)
            }
            result = .success(())
        } catch {
            counters.failedWrites.add(1, ordering: .relaxed)
            report(.sweepFailed(error), "values could not be removed", error)
            result = .failure(error)
        }
        let waiter = change { state in
            state.behind.finish(bulkRemoval, isDone: (try? result.get()) != nil)
            return state.waiters.removeValue(forKey: bulkRemoval.number)
        }
        waiter?.resume(returning: result)
    }
}
