import FreshetClient
import FreshetServer
import FreshetTrust
import FreshetWire

/// Tokens with rights, and revocations: what the server's access control does, around the parts of it that ship.
extension SimulatedSystem {
    static var ended: Reply { .problem(endedProblem, cursor: nil, retryAfter: nil) }
    private static var endedProblem: Problem { Problem(.unauthorized, "the token was revoked") }

    // MARK: Tokens

    func grant(_ access: ScenarioEvent.Access, _ device: SimulatedDevice) {
        device.granted = access == .everything ? nil : access
        renewToken(of: device)
    }

    /// Gives every device a token with all rights, unless it has one.
    func grantEverything() { for device in devices where device.granted != nil { grant(.everything, device) } }

    /// Whether the token of a device gives less than all rights.
    var hasParts: Bool { devices.contains { $0.granted != nil } }

    func renewToken(of device: SimulatedDevice) {
        device.token += 1
        guard let granted = device.granted else { return }
        let grants = [(granted.read, Verb.read), (granted.write, .write)].compactMap { ranges, verb in
            Grant(namespaces: .all, ranges: RangeSet(ranges), verbs: Verbs(verb))
        }
        device.tokenRights[device.token] = Rights(grants)
        device.tokenEnds[device.token] = granted.life.map { now + $0 }
    }

    /// `nil` for everything.
    func rights(of message: Message) -> Rights? { devices[message.device].tokenRights[message.token] }

    /// Whether the token is revoked on the server's disk.
    func hasEnded(_ message: Message) -> Bool { shared.revoked[message.device].map { message.token <= $0 } ?? false }

    /// Whether the revocation was answered.
    func isRevokedForAll(_ message: Message) -> Bool { shared.answeredRevocations[message.device].map { message.token <= $0 } ?? false }

    /// The end of the token; `nil` if it has none.
    func end(of message: Message) -> Int64? { devices[message.device].tokenEnds[message.token] }

    /// Until when a poll may wait: as its own time and its token allow.
    func deadline(of message: Message, wait: Int) -> Int64 {
        let (deadline, end) = (now + Int64(wait) * 1_000, end(of: message) ?? .max)
        let isSkipped = bug == .skipExpiry && !servers[message.server].waiters.isEmpty
        return isSkipped ? deadline : min(deadline, end)
    }

    // MARK: Requests

    /// Limits a request to the rights of its token. Returns the refusal of a request that may not be done at all.
    func restrict(_ message: Message, _ device: SimulatedDevice) -> Reply? {
        guard let rights = rights(of: message) ?? message.kind.rightsOfPosition else { return nil }
        do throws(Problem) {
            switch message.kind {
            case .changes(let since, let filter, _, let limit, _):
                try require(.read, rights)
                var subscription = Subscription(filter: filter, limit: limit)
                try subscription.restrict(to: rights, in: shared.namespace)
                if let problem = subscription.refusal(of: since) { throw problem }
                message.subscription = subscription
            case .list(let collection, _, _):
                let scope = InvalidationScope.collection(collection, prefix: "")
                if case .needs(let missing) = rights.decide(.read, in: shared.namespace, of: scope) { throw Problem(missing) }
            case .reads: try require(.read, rights)
            case .writes: try require(.write, rights)
            case .clientStatus: try require(.write, rights)
            case .record(let key, _, _):
                if case .needs(let missing) = rights.decide(.read, in: shared.namespace, of: .key(key)) { throw Problem(missing) }
            }
            return nil
        } catch { return .problem(error, cursor: nil, retryAfter: nil) }
    }

    private func require(_ verb: Verb, _ rights: Rights) throws(Problem) {
        guard !rights.reaches(shared.namespace, with: verb) else { return }
        throw Problem(MissingRight(may: verb, namespace: shared.namespace, range: .everything))
    }

    /// What the writer of a batch may do; `nil` for everything.
    func writeAccess(of message: Message?) -> WriteAccess? {
        guard let message else { return nil }
        let hasEnded = bug != .checkRightsOnce && hasEnded(message)
        guard hasEnded || rights(of: message) != nil else { return nil }
        // All devices are one principal's, so that a copied disk has its owner.
        return WriteAccess(
            rights(of: message) ?? .all, in: shared.namespace, owner: ClientOwner(text: "user"), end: hasEnded ? Self.endedProblem : nil)
    }

    func issued(_ cursor: Cursor, to message: Message) -> Cursor { issued(cursor, rights(of: message)) }

    /// As the device's next token gets it.
    func issued(_ cursor: Cursor, to device: SimulatedDevice) -> Cursor {
        device.granted == nil ? cursor : issued(cursor, device.tokenRights[device.token])
    }

    /// Whether the device may read nothing, and knows it.
    func isCutOff(_ device: SimulatedDevice) -> Bool {
        guard case .forbidden? = device.status?.connection else { return false }
        return device.granted != nil && device.phase == .running && device.commits.isEmpty
    }

    private func issued(_ cursor: Cursor, _ rights: Rights?) -> Cursor {
        guard let ranges = rights?.ranges(of: .read, in: shared.namespace), !ranges.isEverything else { return cursor }
        return cursor.with(rights: RightsDigest(ranges.digest))
    }

    // MARK: Revocations

    /// Replaces an answer to a session that has ended in the meantime, and checks the one that leaves, and when.
    func checkSession(_ message: Message, _ reply: inout Reply, isDelivery: Bool) {
        if isDelivery, reply.tellsSomething, let end = end(of: message) {
            if case .noChange = reply, end <= now { access.expiredWaits += 1 }
            if end + WaiterTable<Int>.bucketWidth < now {
                let text = "\(reply.kindOfAnswer) ended a wait \(now - end) ms after its token"
                oracle.fail(devices[message.device], Oracle.InvariantFailure(.expired, text))
            }
        }
        guard !shared.revoked.isEmpty else { return }
        if !isDelivery, bug != .checkRightsOnce, reply.tellsSomething, hasEnded(message) { reply = Self.ended }
        guard reply.tellsSomething, isRevokedForAll(message) else { return }
        let text = "\(reply.kindOfAnswer) left for a token whose revocation had been answered"
        oracle.fail(devices[message.device], Oracle.InvariantFailure(.revoked, text))
    }

    /// Ends the waits of revoked tokens; then the revocations are answered.
    func endSessions(through revoked: [Int: Int]) {
        if bug != .skipWalk {
            for server in servers {
                let deliveries = server.feed?.end { [messages] in
                    revoked[messages[$0].device].map { [token = messages[$0].token] in token <= $0 } ?? false
                }
                access.revokedWaits += deliveries?.reduce(0) { $0 + $1.waiterCount } ?? 0
                deliver(deliveries ?? [])
            }
        }
        for (device, token) in revoked where token > shared.answeredRevocations[device] ?? 0 { access.revocations += 1 }
        shared.answeredRevocations = revoked
    }

    // MARK: The rule

    func noteFeed(_ reply: Reply, to message: Message, _ device: SimulatedDevice, isWaitedFor: Bool) {
        guard isWaitedFor, case .changes = message.kind else { return }
        // A device takes no answer of another history than its own: it verifies its entries.
        if let known = device.store.state.epoch, let epoch = reply.epoch, epoch != known { return }
        switch reply {
        case .page, .noChange: device.feedToken = message.token
        case .problem(let problem, _, _) where problem.code == .forbidden: device.feedToken = message.token
        default: break
        }
    }

    /// Whether a device that follows the feed holds only what one of its tokens since the last answer of the feed may read.
    func checkRights(_ device: SimulatedDevice) throws(Oracle.InvariantFailure) {
        guard !device.isCleared, device.commits.isEmpty, let status = device.status else { return }
        switch status.connection {
        case .live where status.isVerified: break
        case .forbidden: break
        default: return
        }
        let tokens = max(1, device.feedToken)...max(1, device.token)
        guard tokens.allSatisfy({ device.tokenRights[$0] != nil }) else { return }
        let readable = tokens.compactMap { device.tokenRights[$0]?.ranges(of: .read, in: shared.namespace) }
        for key in oracle.keys where !readable.contains(where: { $0.contains(key) }) {
            guard device.store.entries[key] != nil || device.tier.peek(key)?.view.entry != nil else { continue }
            throw Oracle.InvariantFailure(
                .withinRights, "\(key) is held, and may not be read by the device's tokens since the last answer of the feed")
        }
        for rejection in device.store.rejections where rejection.problem.current != nil {
            guard !readable.contains(where: { $0.contains(rejection.key) }) else { continue }
            throw Oracle.InvariantFailure(.withinRights, "a rejected write holds \(rejection.key), which the device's tokens may not read")
        }
    }
}

extension FeedDelivery<Int> {
    fileprivate var waiterCount: Int { if case .response(let waiters, _) = self { waiters.count } else { 0 } }
}

extension SimulatedDevice {
    /// Carries a transaction out, and brings records without writes back that may not be read any more.
    func keepForbidden(_ transaction: DiskTransaction) -> [Int] {
        let before = store.entries
        let skipped = commit(transaction)
        let removesUnreadable = transaction.entries.contains { operation in
            switch operation {
            case .finishPass: true
            case .evict(_, let position): position.revision == .maximum
            case .put, .confirm, .withoutValue, .invalidate, .remove, .narrow, .inherit: false
            }
        }
        guard transaction.removesRecords || removesUnreadable else { return skipped }
        for (key, entry) in before where store.entries[key] == nil { store.overwrite(key, with: entry) }
        return skipped
    }
}

extension RequestDescription.Kind {
    /// Everything, for a request from a position that was issued under other rights.
    fileprivate var rightsOfPosition: Rights? {
        if case .changes(.after(let cursor), _, _, _, _) = self, cursor.rights != nil { .all } else { nil }
    }
}

extension Reply {
    /// Whether the server did as it was asked.
    fileprivate var tellsSomething: Bool {
        switch self {
        case .page, .noChange, .results, .reads, .record, .notModified, .missing, .client, .list: true
        case .problem, .tooLarge, .failure, .garbage: false
        }
    }

    fileprivate var kindOfAnswer: String {
        switch self {
        case .page(let page): "a page of \(page.changes.count) changes"
        case .results: "the outcomes of writes"
        case .noChange: "a position"
        default: "an answer to a read"
        }
    }
}
