import DequeModule
import FreshetClient
import FreshetServer
import FreshetTransport
import FreshetWire
import HTTPTypes

/// The network between devices and the server: every message takes its time, and some never arrive.
extension SimulatedSystem {
    func send(_ description: RequestDescription, _ device: SimulatedDevice) {
        if description.needsFreshToken { renewToken(of: device) }
        var origins: [Int64: Int] = [:]
        if case .writes(let batch) = description.kind {
            origins = oracle.sent(batch, device)
            device.lastSent = max(device.lastSent, batch.writes.last?.number ?? 0)
        }
        let message = Message(description, device, origins: origins, at: now)
        let serial = messages.count
        messages.append(message)
        device.open[description.id] = serial
        recorder?.sent(serial, message, at: now)
        if bug == .confirmAtSend { confirmEarly(message, device) }
        setOut(serial, message, device)
    }

    private func setOut(_ serial: Int, _ message: Message, _ device: SimulatedDevice) {
        if case .writes = message.kind, device.hasStoppedSending { return lose(serial, .request) }
        if now < device.link.unpluggedUntil {
            recorder?.stopped(serial, .refused, "the device is not connected", at: now)
            return push(.reply(message: serial, .failure(.unreachable("the device is not connected")), lastWrite: nil), after: 1)
        }
        guard !device.link.loses(.request, at: now) else { return lose(serial, .request) }
        var wait = latency(device)
        // Others pass, and their answers are replaced.
        if let status = device.link.proxy?.present(at: now), random() % 2 == 0 {
            recorder?.stopped(serial, .intercepted, "a proxy answers \(status)", at: now + wait / 2)
            return push(.reply(message: serial, proxyReply(status, to: message.kind), lastWrite: nil), after: wait)
        }
        switch device.link.takeFault(.request) {
        case .drop: return lose(serial, .request)
        case .cut:
            recorder?.stopped(serial, .lost, "the connection broke", at: now + wait / 2)
            return push(.reply(message: serial, .failure(.interrupted("the connection broke")), lastWrite: nil), after: wait)
        case .garble:
            recorder?.stopped(serial, .intercepted, "a portal answers with a page", at: now + wait / 2)
            return push(.reply(message: serial, .garbage("a page of a portal"), lastWrite: nil), after: wait)
        case .duplicate(let after):
            push(.request(message: serial), after: wait + after)
            noteOrphanedPoll(device, arrival: now + wait + after)
        case .delay(let more):
            wait += more
            noteOrphanedPoll(device, arrival: now + wait)
        case nil: break
        }
        message.arrival = now + wait
        push(.request(message: serial), after: wait)
    }

    private func noteOrphanedPoll(_ device: SimulatedDevice, arrival: Int64) {
        orphanedPolls.append((arrival: arrival, hold: Int64(device.settings.hold) * 1_000))
    }

    /// An answer sets out from the server.
    ///
    /// - Parameter isDelivery: whether the feed gives it to a reader that waited, whose session was checked when the wait began.
    func reply(_ serial: Int, _ reply: Reply, lastWrite stated: Int64? = nil, isDelivery: Bool = false) {
        var reply = reply
        checkSession(messages[serial], &reply, isDelivery: isDelivery)
        var lastWrite = stated.map { bug == .overstateLastWrite ? $0 + 1 : bug == .understateLastWrite ? max(0, $0 - 1) : $0 }
        if bug == .overstateFork { reply = reply.overstatingFork() }
        let message = messages[serial]
        let server = servers[message.server]
        server.activeRequests.remove(serial)
        server.waiters[serial] = nil
        let device = devices[message.device]
        recorder?.replied(serial, reply, at: now)
        guard !device.link.loses(.reply, at: now) else { return lose(serial, .reply) }
        var wait = latency(device)
        if let status = device.link.proxy?.present(at: now) { (reply, lastWrite) = (proxyReply(status, to: message.kind), nil) }
        switch device.link.takeFault(.reply) {
        case .drop: return lose(serial, .reply)
        case .cut: reply = .failure(.interrupted("the connection broke in the answer"))
        case .garble: reply = .garbage("half an answer")
        case .duplicate(let after): push(.reply(message: serial, reply, lastWrite: lastWrite), after: wait + after)
        case .delay(let more): wait += more
        case nil: break
        }
        push(.reply(message: serial, reply, lastWrite: lastWrite), after: wait)
    }

    /// What a device makes of an answer that something on the way gives for the server.
    private func proxyReply(_ status: Int, to kind: RequestDescription.Kind) -> Reply {
        if bug == .trustProxy, status >= 400 {
            return .problem(Problem(ProblemCode(text: "http-\(status)", status: status), "a proxy's"), cursor: nil, retryAfter: nil)
        }
        let pages: [(type: String, body: String)] = [
            ("text/html", "<html>Sign in to continue</html>"), ("application/json", #"{"message":"Forbidden"}"#),
            (Problem.contentType, #"{"type":"about:blank","title":"Rejected","status":\#(status)}"#), ("", ""),
        ]
        let page = pages[Int(random() % UInt64(pages.count))]
        var fields: HTTPFields = page.type.isEmpty ? [:] : [.contentType: page.type]
        if (300..<400).contains(status) { fields[.location] = "https://login.example/" }
        if status == 429 || status == 503 { fields[.retryAfter] = "2" }
        return ReplyDecoder.decode(.success(HTTPReply(status: status, fields: fields, body: Array(page.body.utf8))), for: kind).reply
    }

    private func latency(_ device: SimulatedDevice) -> Int64 { delay(10) * (now < device.link.slowUntil ? 50 : 1) + 1 }

    private func lose(_ serial: Int, _ way: ScenarioEvent.Way) {
        devices[messages[serial].device].late.remove(serial)
        recorder?.lost(serial, way, at: now)
    }

    func replyArrives(_ serial: Int, _ reply: Reply, _ lastWrite: Int64?) throws(Violation) {
        let message = messages[serial]
        let device = devices[message.device]
        digest.mix(Int64(serial))
        if device.phase == .asleep, device.run == message.run {
            // Half of the messages to a sleeping device are buffered, the rest time out on their way.
            if random() % 2 == 0 {
                device.postponed.append(.reply(message: serial, reply, lastWrite: lastWrite))
            } else {
                lose(serial, .reply)
            }
            return
        }
        guard device.phase == .running, device.run == message.run else { return recorder?.ignored(serial, at: now) ?? () }
        let reply = reply.taken(atMost: device.answerLimit)
        let isWaitedFor = device.open[message.id] == serial
        if isWaitedFor { device.open[message.id] = nil }
        device.late.remove(serial)
        recorder?.arrived(serial, reply, isWaitedFor: isWaitedFor, at: now)
        if bug == .stopSending, case .writes = message.kind, case .failure = reply { device.hasStoppedSending = true }
        if bug == .storeAfterClear, message.generation < device.generation { storeLate(reply, device) }
        let lastWrite = lastWrite.map { device.understated($0, in: reply, bug) }
        noteFeed(reply, to: message, device, isWaitedFor: isWaitedFor)
        let isOfBefore = message.generation < device.generation || device.isCleared
        let commits = device.commits.count
        try handle(
            device, .replied(message.id, bug == .skipFence ? reply.raised(to: shared.state.cursor) : reply, lastWrite: lastWrite),
            isOrphan: !isWaitedFor)
        // A clear that the disk refused before may be tried again at this moment.
        if isOfBefore, !isWaitedFor, device.commits.dropFirst(commits).contains(where: { !$0.removesEntries }) {
            throw fail(.clearMeansClear, device.number, "an answer to a request from before the clear made the device store something")
        }
    }

    /// The device disconnects.
    func abandon(_ serial: Int) {
        let message = messages[serial]
        let device = devices[message.device]
        if coverage != nil { device.late.insert(serial) }
        // The server holds the request to its end where it hears of no disconnect.
        guard !device.link.loses(.request, at: now) else { return noteOrphanedPoll(device, arrival: message.arrival) }
        // A connection's bytes come in order: its end is never before the request.
        push(.disconnect(message: serial), after: max(latency(device), message.arrival - now))
    }

    /// Cuts the requests that the server holds; the devices notice it if their links work.
    func cutActiveRequests(of only: SimulatedDevice? = nil) {
        for server in servers { cutActiveRequests(in: server, of: only) }
    }

    func cutActiveRequests(in server: SimulatedServer, of only: SimulatedDevice? = nil) {
        for serial in server.activeRequests.sorted() {
            let message = messages[serial]
            guard only == nil || only?.number == message.device else { continue }
            server.activeRequests.remove(serial)
            if let waiter = server.waiters.removeValue(forKey: serial) { server.feed?.cancel(waiter) }
            let device = devices[message.device]
            if device.link.loses(.reply, at: now) {
                lose(serial, .reply)
            } else {
                push(.reply(message: serial, .failure(.interrupted("the connection broke")), lastWrite: nil), after: latency(device))
            }
        }
    }

    // MARK: Injected bugs

    private func confirmEarly(_ message: Message, _ device: SimulatedDevice) {
        guard case .writes(let batch) = message.kind else { return }
        for write in batch.writes {
            var view = device.view(of: write.key)
            view.isPending = false
            device.memory.store(view)
        }
    }

    private func storeLate(_ reply: Reply, _ device: SimulatedDevice) {
        let time = Timestamp(milliseconds: now)
        for transaction in reply.lateTransactions(pass: device.store.state.pass, at: time) { commit(transaction, device) }
    }
}

extension Reply {
    /// What a device makes of it that takes answers with so many elements and no larger ones.
    fileprivate func taken(atMost limit: Int) -> Reply {
        let count =
            switch self {
            case .page(let page): page.changes.count
            case .results(let results): results.results.count
            case .reads(let reads): reads.records.count + reads.missing.count
            case .list(let list): list.records.count
            case .noChange, .record, .notModified, .missing, .client, .problem, .tooLarge, .failure, .garbage: 0
            }
        return count > limit ? .tooLarge("the answer has \(count) elements, and the device takes \(limit)") : self
    }
}
