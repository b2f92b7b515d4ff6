import FreshetClient
import FreshetWire

/// A server, one or two devices, and what is on its way between them: a value, so that every order of events can be tried from it.
struct SmallWorld {
    let setup: SmallSetup
    var server: SmallServer { didSet { serverFingerprint = nil } }
    private(set) var devices: [SmallDevice]
    /// How many events of each kind have been.
    private var used: [UInt8]
    /// The device that must move next, since the last move was its own alone; `nil` if anything may.
    ///
    /// A move that concerns one device commutes with all that the others and the server do, and what is checked after it stays as it is
    /// however late it comes. So each path has an equal one in which every such move stands immediately before the next move of
    /// its device, or at the end; only those paths are taken.
    var focus: Int?
    private var serverFingerprint: SmallFingerprint?
    private var deviceFingerprints: [SmallFingerprint?]
    /// Which rule is broken, and how.
    private(set) var failure: SmallFailure?

    /// The beginning of a world: records of an earlier time, and devices that hold them, or nothing yet.
    init(_ setup: SmallSetup) throws(WireError) {
        self.setup = setup
        var history = SmallHistory(epoch: Epoch("e0") ?? Epoch(bits: 0), keys: setup.keys.count)
        for key in setup.keys.indices { history.add(setup.value("s", key), of: key) }
        server = SmallServer(history: history)
        server.backup = history
        var devices: [SmallDevice] = []
        for number in setup.devices.indices { devices.append(try SmallDevice(number, setup)) }
        self.devices = devices
        used = Array(repeating: 0, count: SmallMove.Kind.allCases.count)
        deviceFingerprints = Array(repeating: nil, count: devices.count)
        guard setup.beginsLive else { return }
        settle()
        for (number, device) in setup.devices.enumerated() where device.settings.following == .cachedKeys {
            for key in setup.keys.indices { change(number) { $0.read(key, $1.history) } }
        }
        settle()
    }

    var fingerprint: SmallFingerprint {
        mutating get {
            let ofServer = serverFingerprint ?? SmallFingerprint { $0.combine(server) }
            serverFingerprint = ofServer
            for number in devices.indices where deviceFingerprints[number] == nil {
                deviceFingerprints[number] = devices[number].fingerprint
            }
            let parts = deviceFingerprints
            return SmallFingerprint { hasher in
                hasher.combine(used)
                hasher.combine(focus)
                hasher.combine(ofServer)
                hasher.combine(parts)
            }
        }
    }

    // MARK: Moves

    /// All that can happen now, by `events` more events at most, and `choices` in all that are no exchanges.
    func moves(within events: Int, choices: Int = .max) -> [SmallMove] {
        var moves: [SmallMove] = []
        let movable = focus.map { [devices[$0]] } ?? devices
        for device in movable { moves += inevitable(device) }
        guard events > 0 else { return moves }
        for device in movable { moves += exchanges(device) }
        guard self.choices < choices else { return moves }
        for device in movable { moves += chosen(device) }
        guard focus == nil else { return moves }
        if mayChoose(.epoch) { moves += [.drop, .restore, .renew] }
        if mayChoose(.foreign) {
            for key in setup.keys.indices {
                moves.append(.foreignPut(key: key))
                if server.history.current(key)?.content != nil { moves.append(.foreignDelete(key: key)) }
                moves.append(.invalidate(key: key))
            }
            if setup.keys.count > 1 { moves.append(.invalidateAll) }
        }
        return moves
    }

    private func mayChoose(_ kind: SmallMove.Kind) -> Bool { Int(used[kind.number]) < setup.limits[kind, default: 0] }

    /// How many events have been that are no exchanges.
    private var choices: Int { used.reduce(0) { $0 + Int($1) } }

    /// The moves that must happen after the earlier ones, at a time that the environment chooses.
    private func inevitable(_ device: SmallDevice) -> [SmallMove] {
        let number = device.number
        var moves: [SmallMove] = []
        if !device.transactions.isEmpty { moves.append(.commit(device: number)) }
        if !device.queries.isEmpty { moves.append(.query(device: number)) }
        if !device.merges.isEmpty { moves.append(.merge(device: number)) }
        if device.isBackingOff { moves.append(.timer(device: number)) }
        for (place, call) in device.calls.enumerated() where call.response != nil { moves.append(.arrive(device: number, call: place)) }
        return moves
    }

    /// Requests that the server may take.
    private func exchanges(_ device: SmallDevice) -> [SmallMove] {
        var moves: [SmallMove] = []
        for (place, call) in device.calls.enumerated() where call.response == nil && !isHeld(call) {
            moves.append(.exchange(device: device.number, call: place))
        }
        return moves + device.late.indices.map { .lateRequest(device: device.number, place: $0) }
    }

    private func chosen(_ device: SmallDevice) -> [SmallMove] {
        let number = device.number
        var moves: [SmallMove] = []
        if mayChoose(.write) { moves += setup.devices[number].operations.indices.map { .write(device: number, operation: $0) } }
        if mayChoose(.read) { moves += setup.keys.indices.map { .read(device: number, key: $0) } }
        if mayChoose(.fault) {
            for (place, call) in device.calls.enumerated() where call.response == nil && call.description.kind.isWrites {
                moves.append(.duplicate(device: number, call: place))
            }
            moves += device.calls.indices.map { .cut(device: number, call: $0) }
            if !device.transactions.isEmpty { moves.append(.diskFails(device: number)) }
        }
        if mayChoose(.crash) {
            moves.append(.crash(device: number, commits: false))
            if !device.transactions.isEmpty { moves.append(.crash(device: number, commits: true)) }
        }
        if mayChoose(.clear), !device.isCleared { moves.append(.clear(device: number)) }
        if mayChoose(.wake) { moves.append(.wake(device: number)) }
        if mayChoose(.eviction) { moves += setup.keys.indices.map { .evict(device: number, key: $0) } }
        return moves
    }

    /// Whether the server has nothing to answer yet.
    func isHeld(_ call: SmallDevice.Call) -> Bool {
        guard case .changes(.after(let position), _, let wait, _, _) = call.description.kind, wait > 0 else { return false }
        return position == server.history.cursor || (setup.bug == .loseWakeUp && position.epoch == server.history.epoch)
    }

    /// Takes one step and checks everything after it.
    mutating func apply(_ move: SmallMove) {
        // Exchanges are bounded by the number of events alone.
        if let kind = move.kind, kind != .exchange { used[kind.number] += 1 }
        focus = devices.count > 1 ? move.place : nil
        switch move {
        case .commit(let device): change(device) { $0.commitNext($1) }
        case .query(let device): change(device) { device, _ in device.answerQuery() }
        case .merge(let device): change(device) { device, _ in device.resolve() }
        case .timer(let device): change(device) { device, _ in device.fireTimer() }
        case .arrive(let device, let call): change(device) { $0.arrive(call, $1.history) }
        case .write(let device, let operation): change(device) { device, _ in device.write(operation) }
        case .read(let device, let key): change(device) { $0.read(key, $1.history) }
        case .exchange(let device, let call): exchange(device, call)
        case .duplicate(let device, let call):
            let copy = devices[device].calls[call]
            exchange(device, call)
            change(device) { device, _ in device.giveUp(copy) }
        case .lateRequest(let device, let place):
            var kind: RequestDescription.Kind?
            change(device) { device, _ in kind = device.late.remove(at: place) }
            if let kind { _ = server.answer(kind, setup) }
        case .cut(let device, let call): change(device) { device, _ in device.cut(call) }
        case .diskFails(let device): change(device) { device, _ in device.failNext() }
        case .crash(let device, let commits): change(device) { $0.crash(commits: commits, $1) }
        case .clear(let device): change(device) { device, _ in device.clear() }
        case .wake(let device): change(device) { device, _ in device.handle(.wake) }
        case .evict(let device, let key): change(device) { device, _ in device.evict(key) }
        case .drop: server.begin(.empty)
        case .restore: server.begin(.backup)
        case .renew: server.begin(.same)
        case .foreignPut(let key): server.history.add(setup.value("f\(server.history.head + 1)", key), of: key)
        case .foreignDelete(let key): server.history.add(nil, of: key)
        case .invalidate(let key): server.history.invalidate(key)
        case .invalidateAll: server.history.invalidate(nil)
        }
        failure = failure ?? server.failure
    }

    private mutating func exchange(_ number: Int, _ place: Int) {
        let call = devices[number].calls[place]
        guard let response = server.answer(call.description.kind, setup) else { return }
        change(number) { device, server in
            device.calls[place].response = response
            if case .changes(let since, _, _, _, _) = call.description.kind, since == .start || since == .now {
                device.oracle.origin = server.history.cursor
            }
        }
    }

    private mutating func change(_ number: Int, _ change: (inout SmallDevice, SmallServer) -> Void) {
        deviceFingerprints[number] = nil
        let server = server
        change(&devices[number], server)
        devices[number].check(server)
        if failure == nil, let found = devices[number].failure {
            failure = SmallFailure(found.rule, "\(number == 0 ? "A" : "B"): \(found.text)")
        }
    }
}

extension SmallMove.Kind {
    var number: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

extension SmallDevice {
    /// Whether the next deadline is the end of a back-off, and not that of a watchdog: broken connections stand for those.
    var isBackingOff: Bool { deadline.map { $0 - uptime < 20_000 } ?? false }
}
