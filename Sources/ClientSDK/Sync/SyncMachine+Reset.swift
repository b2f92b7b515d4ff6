import FreshetWire

/// When the position or the whole history is lost (rule 11), and when the user wants everything gone (rule 12).
extension SyncMachine {
    /// Begins a reset: nothing is asked until it is on disk. The outbox, the overlay and the entries stay; the entries become unverified.
    /// - Parameters:
    ///   - epoch: the history from now on; `nil` if it is not known.
    ///   - forgets: whether the entries must go: the server went back within a history, so revisions cannot tell new from old.
    mutating func reset(to epoch: Epoch?, forgets: Bool, because reason: String) {
        log(.warning, "verifying the whole cache: \(reason)")
        cancelAll()
        intents.removeAll { $0.isFromServer }
        if case .fetched(let outcomes)? = plan?.plan.continuation { fetches.release(except: outcomes) } else { fetches.release() }
        feed.isCaughtUp = false
        feed.storing = 0
        sender.isDeciding = false
        sender.isReconciling = false
        verifier = Verifier()
        note(.everything, .reset)
        // The second reset in a row waits, the third longer, and all that would be asked with it: two servers that disagree must not
        // make a storm.
        let isAgain = resetBackoff.failures > 0
        let delay = resetBackoff.next(settings, &chance)
        pendingReset = (epoch, forgets, notBefore: isAgain ? now.uptime + delay : 0)
    }

    mutating func planReset(_ epoch: Epoch?, forgets: Bool) -> Plan {
        var plan = Plan(.reset)
        plan.state = [.pass(state.pass + 1), .cursor(nil), .epoch(epoch)]
        plan.state.append(.verification(settings.following == .everything ? .fromStart : .ofHeldKeys))
        if epoch == nil || epoch != state.epoch || forgets {
            plan.state.append(.mustReconcile(true))
            for key in overlaidKeys {
                guard var pending = outbox.keys[key] else { continue }
                pending.leaveHistory()
                if pending != outbox.keys[key] { plan.stage(pending, .verified) }
            }
        }
        if forgets, let epoch {
            let operation = EntryOperation.evict(.everything, before: Cursor(epoch: epoch, revision: .maximum))
            plan.add(operation, .invalidated)
            for key in overlaidKeys {
                guard var pending = pending(key, in: plan) else { continue }
                pending.apply(operation)
                pending.forgetHistory()
                plan.stage(pending, .invalidated)
            }
        }
        return plan
    }

    mutating func resetStored() {
        pendingReset = nil
        openMerges = [:]
        readForMerge = []
        if state.mustReconcile { fetches.forgetFloors() }
    }

    // MARK: Clear

    mutating func clear(_ client: ClientIdentifier, _ token: Token) {
        if let earlier = pendingClear { actions.append(.answer(earlier.token, .failed(.cleared))) }
        cancelAll()
        fail(.cleared)
        for key in overlaidKeys {
            for row in outbox.keys[key]?.rows ?? [] where row.isPending { actions.append(.verdict(row.receipt, key, .cleared)) }
        }
        intents = []
        // The answer to a transaction under way is ignored; the one that clears comes after it.
        plan = nil
        pendingReset = nil
        pendingClear = (client, token)
        outbox = Outbox()
        openMerges = [:]
        readForMerge = []
        story.clear()
        feed = Feed()
        sender = Sender()
        verifier = Verifier()
        mergesNotBefore = 0
        mergesBackoff.reset()
        notBefore = 0
        phase = .clearing
        actions.append(.publish([.cleared]))
    }

    func planClear(_ client: ClientIdentifier, _ token: Token) -> Plan {
        var plan = Plan(.cleared(token))
        plan.clear = client
        return plan
    }

    mutating func cleared(_ plan: Plan) {
        guard let client = plan.clear, case .cleared(let token) = plan.continuation else { return }
        state = SyncState(client: client)
        pendingClear = nil
        phase = .running
        resetBackoff.reset()
        actions.append(.answer(token, .cleared))
        if !queuedSets.isEmpty { intents.append(.sets) }
    }
}
