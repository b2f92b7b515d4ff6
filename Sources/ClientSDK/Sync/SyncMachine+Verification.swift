import FreshetWire

/// After a reset, a device that holds some keys compares them all with the server, and drops what is no more, before it is live again.
extension SyncMachine {
    mutating func advanceVerification() {
        guard isVerifying, verifier.isIdle, now.uptime >= verifier.notBefore else { return }
        if !verifier.again.isEmpty { return ask(verifier.again) }
        let query = HeldQuery(pass: state.pass, after: verifier.after, limit: settings.verificationKeys)
        verifier.query = query
        actions.append(.loadHeld(query))
    }

    mutating func take(_ keys: [HeldKey], _ query: HeldQuery) {
        guard isVerifying, verifier.query == query else { return }
        verifier.query = nil
        guard let last = keys.last else {
            verifier.isStoring = true
            return intents.append(.verificationOver)
        }
        verifier.after = last.key
        ask(keys)
    }

    private mutating func ask(_ keys: [HeldKey]) {
        verifier.again = keys
        let items = keys.map { held in
            ReadsRequest.Item(key: held.key, revision: held.epoch == state.epoch && !held.isAbsent ? held.revision : nil)
        }
        verifier.request = send(
            .reads(ReadsRequest(items: items, client: writer(of: keys.lazy.map(\.key)))), .verification(keys),
            needsFreshToken: verifier.needsFreshToken,
            timeout: settings.requestTimeout)
    }

    mutating func takeVerificationReply(_ reply: Reply, _ lastWrite: Int64?, _ request: Outstanding, _ keys: [HeldKey]) {
        verifier.request = nil
        switch reply {
        case .reads(let response):
            guard let cursor = state.cursor, response.cursor.revision >= cursor.revision else {
                return verificationStalled(.malformed("the reads reflect \(response.cursor), which is before the position of the reset"))
            }
            verifier.backoff.reset()
            verifier.needsFreshToken = false
            verifier.isStoring = true
            lastContact = now.wall
            feed.offlineSince = nil
            feed.trouble = nil
            intents.append(.heldVerified(keys, response, lastWrite: lastWrite))
        case .problem(let problem, _, let retryAfter):
            if problem.status == 401, !request.hadFreshToken {
                verifier.needsFreshToken = true
            } else {
                verificationStalled(problem.status == 401 ? .unauthorized : .refused(problem), retryAfter)
            }
        case .failure(let failure): verificationStalled(.transport(failure))
        case .garbage(let text): verificationStalled(.malformed(text))
        case .page, .quiet, .results, .record, .notModified, .missing, .client:
            verificationStalled(.malformed("an answer that does not belong to reads"))
        }
    }

    mutating func planHeldVerified(_ keys: [HeldKey], _ response: ReadsResponse, _ lastWrite: Int64?) -> Plan? {
        guard lastWrite != nil || writer(of: keys.lazy.map(\.key)) == nil else {
            // Writes of these keys have left since the request did: it is sent again, and asks for the number.
            verifier.isStoring = false
            return nil
        }
        var plan = Plan(.heldVerified)
        let cursor = response.cursor
        let stated = lastWrite.map { WriteWatermark(epoch: cursor.epoch, number: $0) }
        let records = Dictionary(response.records.map { ($0.key, $0) }, uniquingKeysWith: { $1 })
        let missing = Set(response.missing)
        for held in keys {
            let key = held.key
            plan.notes.append(StoryNote(at: now.wall, scope: .key(key), what: .verified(asOf: cursor.revision)))
            let known = records[key]?.revision ?? (missing.contains(key) ? nil : held.revision)
            if let record = records[key], let content = record.content {
                let entry = Entry(
                    key: key, epoch: cursor.epoch, revision: record.revision, asOf: cursor.revision, pass: state.pass, content: content,
                    modified: record.modified, verifiedAt: now.wall, origin: .fetch)
                apply(.put(entry, onlyIfHeld: false), to: key, .verified, stated: stated, in: &plan)
            } else if let known {
                // As it was, or too large to come along: then only the same revision may stay.
                let news = Confirmation(
                    key: key, epoch: cursor.epoch, revision: known, asOf: cursor.revision, pass: state.pass, verifiedAt: now.wall)
                apply(.confirm(news), to: key, .verified, stated: stated, in: &plan)
                apply(.evict(.key(key), before: cursor), to: key, .verified, stated: stated, in: &plan)
            } else {
                let absent = Entry(
                    key: key, epoch: cursor.epoch, revision: cursor.revision, asOf: cursor.revision, pass: state.pass, content: nil,
                    verifiedAt: now.wall, origin: .fetch)
                apply(.put(absent, onlyIfHeld: true), to: key, .verified, stated: stated, in: &plan)
            }
        }
        settleAll(.verified, in: &plan)
        return plan
    }

    mutating func planVerificationOver() -> Plan? {
        guard let cursor = state.cursor else { return nil }
        var plan = Plan(.heldVerified)
        endPass(state.pass, at: cursor, in: &plan)
        plan.state.append(.verification(.complete))
        settleAll(.verified, in: &plan)
        return plan
    }

    mutating func verificationFailed(_ query: HeldQuery, _ failure: DiskFailure) {
        guard verifier.query == query else { return }
        verifier.query = nil
        verificationStalled(.disk(failure))
    }

    mutating func verificationStalled(_ trouble: SyncStatus.Trouble, _ retryAfter: Int64? = nil) {
        feed.trouble = trouble
        if case .transport = trouble { feed.offlineSince = feed.offlineSince ?? lastContact ?? now.wall }
        verifier.notBefore = now.uptime + verifier.backoff.next(settings, &chance, retryAfter: retryAfter)
    }
}
