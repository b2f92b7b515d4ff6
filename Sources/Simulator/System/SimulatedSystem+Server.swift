import FreshetClient
import FreshetServer
import FreshetTrust
import FreshetWire

/// The shell around the server's cores: what its routes, its read queue and its timer do.
extension SimulatedSystem {
    func requestArrives(_ serial: Int) throws(Violation) {
        let message = messages[serial]
        let device = devices[message.device]
        let server = servers[message.server]
        digest.mix(Int64(serial))
        guard server.isUp else {
            recorder?.stopped(serial, .refused, "connection refused", at: now)
            return push(.reply(message: serial, .failure(.unreachable("connection refused")), lastWrite: nil), after: delay(10) + 1)
        }
        recorder?.received(serial, at: now)
        server.activeRequests.insert(serial)
        if let refusal = refusal(of: message, device) ?? restrict(message, device) { return reply(serial, refusal) }
        switch message.kind {
        case .changes(let since, _, _, _, _?): push(.serverScan(server.process, message: serial, since, deadline: now), after: delay(2))
        case .changes(let since, _, let wait, _, nil):
            let deadline = deadline(of: message, wait: wait)
            if bug == .loseWakeUp, wait > 0 {
                return push(.serverPark(server.process, message: serial, since, deadline: deadline), after: 5)
            }
            ask(serial, since, isVerified: false, deadline: deadline)
        case .writes(let batch):
            let isRetry = message.origins.values.contains { oracle.timesSent($0) > 1 }
            let isRenumbered = bug == .renumberUnknown && !shared.unknown.isDisjoint(with: message.origins.values)
            if bug == .forgetNumber && isRetry || isRenumbered {
                server.jobs.append(SimulatedServer.Job(work: .singles(batch.writes), message: serial))
            } else {
                var batch = batch
                batch.client = ledgerName(batch.client)
                if bug == .ignoreConditions { batch.removeConditions() }
                if bug == .ignoreNonces { batch.removeNonces() }
                server.jobs.append(SimulatedServer.Job(work: .batch(batch), message: serial))
            }
            startCommit(server)
        case .reads(let request):
            var request = request
            request.client = request.client.map(ledgerName)
            let readable = ReadableItems(request, rights(of: message) ?? .all, in: shared.namespace)
            let found = shared.store.records(readable.request, within: shared.readBounds, in: shared.namespace)
            let response = readable.response(found, at: issued(found.cursor, to: message))
            reply(serial, .reads(response), lastWrite: found.lastWrite)
        case .record(let key, let known, let client):
            let found = shared.store.record(key, in: shared.namespace, for: client.map(ledgerName))
            guard let record = found.value else {
                return reply(serial, .missing(issued(found.cursor, to: message)), lastWrite: found.lastWrite)
            }
            let isKnown = known == Cursor(epoch: found.cursor.epoch, revision: record.revision)
            let cursor = issued(found.cursor, to: message)
            reply(serial, isKnown ? .notModified(cursor) : .record(record, cursor), lastWrite: found.lastWrite)
        case .list(let collection, let after, let limit):
            let found = shared.store.records(ListQuery(collection: collection, after: after, limit: limit), in: shared.namespace)
            let records = found.value.records.map(\.withoutValue)
            let page = RecordList(records: records, next: found.value.next, cursor: issued(found.cursor, to: message))
            reply(serial, .list(earlierPage(than: page, for: message) ?? page))
        case .clientStatus(let client):
            let found = shared.store.lastWrite(of: ledgerName(client), in: shared.namespace)
            reply(serial, .client(ClientStatus(client: client, last: found.value), issued(found.cursor, to: message)))
        }
    }

    private func refusal(of message: Message, _ device: SimulatedDevice) -> Reply? {
        if hasEnded(message) {
            access.revokedRequests += 1
            return Self.ended
        }
        if message.token <= device.expiredToken || end(of: message).map({ $0 <= now }) ?? false {
            access.expiredRequests += 1
            return .problem(Problem(.unauthorized, "the token has expired"), cursor: nil, retryAfter: nil)
        }
        guard let kind = device.refusal?.present(at: now) else { return nil }
        return kind == .overloaded
            ? .problem(Problem(.overloaded, "busy"), cursor: shared.state.cursor, retryAfter: 1_000)
            : .problem(Problem(.unauthorized, "no token is good"), cursor: nil, retryAfter: nil)
    }

    /// Returns the page that a cache on the way has kept, in some cases where the device can notice that it is too old.
    private func earlierPage(than page: RecordList, for message: Message) -> RecordList? {
        let kept = shared.listPages[message.kind]
        guard random() % 3 == 0, let position = message.position, var kept, kept.cursor.epoch == position.epoch,
            kept.cursor.rights == page.cursor.rights, kept.cursor.revision < position.revision
        else {
            if kept == nil || random() % 3 == 0 { shared.listPages[message.kind] = page }
            return nil
        }
        if bug == .acceptOldList { kept.cursor = page.cursor }
        return kept
    }

    // MARK: Changes

    private func ask(_ serial: Int, _ since: Since, isVerified: Bool, deadline: Int64) {
        guard case .changes(_, let filter, let wait, let limit, _) = messages[serial].kind else { return }
        let server = servers[messages[serial].server]
        if bug != .checkRightsOnce, hasEnded(messages[serial]) { return reply(serial, Self.ended) }
        if server.feed == nil {
            server.feed = ChangeFeed(position: shared.state.cursor, limits: shared.limits, isShared: servers.count > 1)
        }
        let decision = server.feed?.ask(
            bug == .forgetGoal ? since.withoutSeenHead : since,
            messages[serial].subscription ?? Subscription(filter: filter, limit: limit), waiter: serial, isVerified: isVerified,
            deadline: wait == 0 ? now : deadline, now: now)
        switch decision {
        case .reply(let answer): reply(serial, self.reply(answer))
        case .scan(let since): push(.serverScan(server.process, message: serial, since, deadline: deadline), after: delay(2))
        case .waiting(let waiter):
            server.waiters[serial] = waiter
            push(.serverExpire(server.process), after: deadline - now + WaiterTable<Int>.bucketWidth)
        case nil: break
        }
    }

    /// Looks into the store.
    func scan(_ serial: Int, _ since: Since, deadline: Int64) {
        let server = servers[messages[serial].server]
        guard server.activeRequests.contains(serial), case .changes(let asked, let filter, _, let limit, let client) = messages[serial].kind
        else {
            return
        }
        let part = messages[serial].subscription?.part
        var query = ChangeQuery(
            since: since, filter: messages[serial].subscription?.filter ?? filter, limit: limit,
            byteLimit: shared.limits.pageBytes(for: .response),
            inlineLimit: shared.limits.inlineBytes, scanLimit: shared.limits.changes < 10 ? 4 : 10_000, client: client.map(ledgerName))
        query.part = part
        do {
            let found = try shared.store.scan(query, in: shared.namespace)
            switch found.value {
            case .refused(let problem, let position): reply(serial, .problem(problem, cursor: position, retryAfter: nil))
            case .page(let page): reply(serial, self.reply(.page(page)), lastWrite: found.lastWrite)
            case .nothing(let reached, isComplete: true) where client != nil || asked == .now:
                let position = reached.issued(to: part)
                let empty = ChangePage(changes: [], cursor: position, upToDate: true)
                reply(serial, asked == .now ? .page(empty) : .noChange(position), lastWrite: found.lastWrite)
            case .nothing(let reached, isComplete: true):
                push(.serverPark(server.process, message: serial, .after(reached), deadline: deadline), after: delay(2))
            case .nothing(let reached, isComplete: false):
                push(.serverScan(server.process, message: serial, .after(reached), deadline: deadline), after: delay(1))
            }
        } catch { reply(serial, .problem(error.problem, cursor: nil, retryAfter: nil)) }
    }

    func holdPoll(_ serial: Int, _ since: Since, deadline: Int64) {
        let server = servers[messages[serial].server]
        guard server.activeRequests.contains(serial) else { return }
        if bug == .loseWakeUp, let head = server.feed?.head, case .after(let cursor) = since, cursor.epoch == head.epoch {
            return ask(serial, .after(head), isVerified: true, deadline: deadline)
        }
        ask(serial, since, isVerified: bug != .loseWakeUp, deadline: deadline)
    }

    func expire(_ server: SimulatedServer) {
        if bug == .keepWaiters { return }
        deliver(server.feed?.expire(now: now) ?? [])
    }

    func disconnect(_ serial: Int) {
        guard bug != .keepWaiters else { return }
        let server = servers[messages[serial].server]
        guard let waiter = server.waiters[serial] else {
            // A poll that the server still looks up is not begun.
            if case .changes = messages[serial].kind, server.activeRequests.remove(serial) != nil {
                devices[messages[serial].device].late.remove(serial)
            }
            return
        }
        devices[messages[serial].device].late.remove(serial)
        if let delivery = server.feed?.cancel(waiter) { deliver([delivery]) }
    }

    func deliver(_ deliveries: [FeedDelivery<Int>]) {
        for delivery in deliveries {
            guard case .response(let waiters, let answer) = delivery else { continue }
            let decoded = reply(answer)
            for waiter in waiters { reply(waiter, decoded, isDelivery: true) }
        }
    }

    /// What a device makes of the feed's bytes.
    private func reply(_ answer: PollResult) -> Reply {
        switch answer {
        case .page(let page):
            do throws(WireError) { return .page(try ChangePage(json: page.body)) } catch { return .garbage("\(error)") }
        case .idle(let cursor): return .noChange(cursor)
        case .gone(let problem, let cursor): return .problem(problem, cursor: cursor, retryAfter: nil)
        case .ended: return .problem(Problem(.unauthorized, "the session has ended"), cursor: nil, retryAfter: nil)
        }
    }

    // MARK: The process

    func crashServer(_ server: SimulatedServer, down: Int64) {
        guard server.isUp else { return }
        cutActiveRequests(in: server)
        if let unsynced = shared.unsynced?.present(at: now) { shared.store = MemoryRecordStore(restoring: unsynced) }
        shared.unsynced = nil
        server.die()
        recorder?.mark(nil, at: now, "\(name(of: server)) crashes")
        push(.serverStart(server.process), after: down)
    }

    func startServer(_ server: SimulatedServer) throws(Violation) {
        guard !server.isUp else { return }
        server.isUp = true
        if bug == .forgetLedger { shared.alias += 1 }
        recorder?.mark(nil, at: now, "\(name(of: server)) starts")
        connectPeers(server)
        if let problem = oracle.serverStarted(shared.state) { throw fail(.durableBeforeAcknowledged, nil, problem) }
    }

    func name(of server: SimulatedServer) -> String { servers.count == 1 ? "the server" : "server \(server.number + 1)" }

    func ledgerName(_ client: ClientIdentifier) -> ClientIdentifier {
        guard shared.alias > 0, let name = try? ClientIdentifier("\(client.text)-x\(shared.alias)") else { return client }
        return name
    }
}
