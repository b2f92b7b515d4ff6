import FreshetClient
import FreshetServer
import FreshetWire

/// Carries out incidents: the actions of users and backends, and faults.
extension SimulatedSystem {
    func perform(_ event: ScenarioEvent) throws(Violation) {
        recorder?.incident(event, at: now)
        coverage?.perform(event, at: now)
        if let number = event.device, !devices.indices.contains(number) { return }
        switch event {
        case .write(let number, let key, let operation, let conflict): try write(devices[number], key, operation, conflict)
        case .read(let number, let key): try read(devices[number], key)
        case .fetch(let number, let keys): try fetch(devices[number], keys, mustBeNew: true)
        case .list(let number, let collection, let listing): try list(devices[number], collection, listing)
        case .retryRejected(let number): try retryRejected(devices[number])
        case .discardRejected(let number): try discardRejected(devices[number])
        case .evict(let number, let key): try evict(devices[number], key)
        case .clear(let number): try clear(devices[number])
        case .serverWrite(let key, let operation): submit(.single(.init(key: key, operation: operation)))
        case .invalidate(let scope): submit(.invalidation(scope))
        case .join(let number): if devices[number].phase == .absent { start(devices[number]) }
        case .crash(let number, let down): crash(devices[number], down: down)
        case .start(.server): for server in servers { try startServer(server) }
        case .start(.device(let number)): if devices[number].phase == .down { restart(devices[number]) }
        case .postponeClosures(let number, let delay): devices[number].closureDelay = delay
        case .follow(let number, let collections): follow(collections, devices[number])
        case .copyDisk(let number): copyDisk(of: devices[number])
        case .replaceDisk(let number): replaceDisk(of: devices[number])
        case .sleep(let number, let duration): sleep(devices[number], duration)
        case .wake(let number):
            devices[number].wakesAt = now
            try wakeUp(devices[number])
        case .reconnect(let number): if devices[number].phase == .running { try handle(devices[number], .wake) }
        case .setClock(.server, let change): shared.wallOffset = Self.offset(shared.wallOffset, set: change)
        case .setClock(.device(let number), let change): devices[number].wallOffset = Self.offset(devices[number].wallOffset, set: change)
        case .disk(.server, let trouble, let duration): shared.trouble = TimedCondition(trouble, until: now + duration)
        case .disk(.device(let number), let trouble, let duration): devices[number].trouble = TimedCondition(trouble, until: now + duration)
        case .partition(let number, let direction, let duration):
            devices[number].link.partition = TimedCondition(direction, until: now + duration)
        case .unplug(let number, let duration):
            devices[number].link.unpluggedUntil = now + duration
            cutActiveRequests(of: devices[number])
        case .heal(let number): heal(devices[number])
        case .slow(let number, let duration): devices[number].link.slowUntil = now + duration
        case .intercept(let number, let status, let duration): devices[number].link.proxy = TimedCondition(status, until: now + duration)
        case .cutConnections(let number): cutActiveRequests(of: devices[number])
        case .messageFault(let number, let way, let messageFault):
            if devices[number].link.messageFaults.count < 8 { devices[number].link.messageFaults.append((way, messageFault)) }
        case .crashServer(let down): for server in servers { crashServer(server, down: down) }
        case .crashOneServer(let number, let down): if servers.indices.contains(number) { crashServer(servers[number], down: down) }
        case .roam(let number, let server): if servers.indices.contains(server) { roam(devices[number], to: server) }
        case .peers(let number, let fault, let duration):
            if servers.indices.contains(number) { disturbPeers(of: servers[number], fault, duration) }
        case .refuse(let number, .tokenExpired, _): devices[number].expiredToken = devices[number].token
        case .refuse(let number, let kind, let duration): devices[number].refusal = TimedCondition(kind, until: now + duration)
        case .grant(let number, let rights):
            access.changes += 1
            grant(rights, devices[number])
        case .revoke(let number): submit(.revocation(device: number, through: devices[number].token))
        case .backUp: backUp()
        case .restore: if !isSendingUnderAnotherName { try restore() }
        case .promote(let isBehind): if !isSendingUnderAnotherName { promoteStandby(isBehind: isBehind) }
        case .compact: submit(.compaction)
        case .drop: if !isSendingUnderAnotherName { submit(.drop) }
        case .healAll:
            healAll()
            grantEverything()
        case .settle: break
        case .expect(let expectation): try check(expectation)
        }
    }

    /// How far a clock is off once it has been set forward, or back: a hundred thousand years at most, where it shows the last moment there is.
    static func offset(_ offset: Int64, set change: Int64) -> Int64 {
        let most = 1_000 * ScenarioEvent.untilUndone
        return min(max(offset + change, -most), most)
    }

    private func heal(_ device: SimulatedDevice) {
        device.link.partition = nil
        device.link.unpluggedUntil = 0
        device.link.slowUntil = 0
        device.link.proxy = nil
        device.link.messageFaults = []
        device.refusal = nil
    }

    /// All faults are over: links, disks and processes are as they should be. Tokens keep their rights, and the next ones last.
    func healAll() {
        shared.trouble = nil
        for device in devices { device.granted?.life = nil }
        for server in servers {
            server.peerTrouble = nil
            if !server.isUp { queue.push(.serverStart(server.process), at: now) }
        }
        for device in devices {
            heal(device)
            device.trouble = nil
            device.closureDelay = 0
            if device.lacksClosures { push(.register(device: device.number, run: device.run)) }
            switch device.phase {
            case .asleep:
                device.wakesAt = now
                push(.wakeUp(device: device.number, run: device.run))
            case .down: push(.start(device: device.number, run: device.run))
            case .absent, .running: break
            }
        }
    }

    /// Whether nothing is left to do but to wait for changes.
    var isQuiet: Bool {
        guard servers.allSatisfy({ $0.isUp && $0.jobs.isEmpty && !$0.isCommitting }) else { return false }
        let head = shared.state.cursor
        // A server may not know of all that is committed.
        guard servers.allSatisfy({ $0.feed.map { $0.head == head } ?? true }) else { return false }
        return devices.allSatisfy { device in
            device.phase == .absent || isCutOff(device)
                || (device.phase == .running && device.status?.connection == .live && device.status?.pendingWrites == 0
                    && device.store.rows.isEmpty && device.commits.isEmpty && device.status?.cursor == issued(head, to: device)
                    && device.status?.isVerified == true)
        }
    }
}

extension ScenarioEvent {
    /// The number of the one server that it is about.
    var server: Int? {
        switch self {
        case .crashOneServer(let server, _), .roam(_, let server), .peers(let server, _, _): server
        default: nil
        }
    }

    /// The device that it is about.
    var device: Int? {
        switch self {
        case .write(let device, _, _, _), .read(let device, _), .fetch(let device, _), .list(let device, _, _),
            .retryRejected(let device),
            .discardRejected(let device), .evict(let device, _), .clear(let device),
            .join(let device), .crash(let device, _), .postponeClosures(let device, _), .follow(let device, _), .start(.device(let device)),
            .copyDisk(let device), .replaceDisk(let device), .sleep(let device, _), .wake(let device),
            .reconnect(let device), .setClock(.device(let device), _),
            .disk(.device(let device), _, _), .partition(let device, _, _), .unplug(let device, _), .heal(let device),
            .slow(let device, _), .intercept(let device, _, _), .cutConnections(let device), .messageFault(let device, _, _),
            .refuse(let device, _, _), .roam(let device, _), .grant(let device, _), .revoke(let device),
            .expect(.shows(let device, _, _)), .expect(.knowsNothing(let device, _)), .expect(.pending(let device, _, _)),
            .expect(.status(let device, _)):
            device
        case .serverWrite, .invalidate, .setClock(.server, _), .disk(.server, _, _), .start(.server), .crashServer, .crashOneServer, .peers,
            .backUp, .restore, .promote,
            .compact, .drop,
            .healAll, .settle, .expect(.server):
            nil
        }
    }
}
