import FreshetClient
import FreshetServer
import FreshetTrust
import FreshetWire

/// The checks at the end of a run, and the expectations of a scenario during it.
extension SimulatedSystem {
    /// The violation of a run that does not come to rest although all faults ended long ago.
    func unrest() -> Violation {
        for device in devices where device.phase != .absent {
            guard device.phase == .running, let status = device.status else {
                return fail(.converge, device.number, "the device does not run")
            }
            if status.pendingWrites > 0 || !device.store.rows.isEmpty {
                return fail(
                    .converge, device.number,
                    "\(device.store.rows.count) writes are still in the outbox, \(status.pendingWrites) of them pending; "
                        + "trouble: \(status.writeTrouble.map { "\($0)" } ?? "none"); \(Self.first(device.store.rows))")
            }
            if !status.isVerified { return fail(.converge, device.number, "the device still has records to verify or to read again") }
            if status.connection != .live || status.cursor != shared.state.cursor {
                return fail(
                    .converge, device.number,
                    "the device is \(status.connection) at \(status.cursor?.description ?? "no position"), the server at "
                        + "\(shared.state.cursor); trouble: \(status.feedTrouble.map { "\($0)" } ?? "none")")
            }
        }
        for server in servers {
            guard let head = server.feed?.head, head != shared.state.cursor else { continue }
            return fail(.converge, nil, "the feed of \(name(of: server)) is at \(head), and the store at \(shared.state.cursor)")
        }
        return fail(.converge, nil, "the server is still busy")
    }

    /// How far the first of the writes has come.
    private static func first(_ rows: [LocalWriteID: OutboxRow]) -> String {
        guard let row = rows.values.min(by: { $0.writeID < $1.writeID }) else { return "none is on disk" }
        let place = row.isDisplaced ? ", to be sent under another name" : ""
        return "the first is write \(row.writeID.number), number \(row.number)\(place): \(row.operation.name) \(row.key), \(row.state), "
            + "expecting \(row.precondition)"
    }

    /// All is quiet: every device holds what the server has, and every write came to its end.
    func checkEnd() throws(Violation) {
        for device in devices where device.phase == .running {
            try inspect(device)
            guard device.store.watermarks.isEmpty else { throw fail(.converge, device.number, "the device keeps a watermark for no write") }
            for (number, key) in oracle.keys.enumerated() {
                if device.settings.covers(key) {
                    try checkEnd(key, number, device)
                } else if device.store.entries[key] != nil {
                    throw fail(.converge, device.number, "the device keeps \(key), which is outside of what it follows")
                }
            }
            for writeID in oracle.records[device.number].writeIDs where !oracle.writes[writeID].isDecided {
                throw fail(.exactlyOnce, device.number, "\(oracle.writes[writeID].name) was accepted and never decided")
            }
        }
        // A poll that came late or twice may wait although no device does, but not for long.
        let waiting = servers.reduce(0) { $0 + ($1.feed?.waiting ?? 0) } - orphanedPolls.count { now <= $0.arrival + $0.hold }
        if waiting > devices.count { throw fail(.bounded, nil, "\(waiting) polls wait for \(devices.count) devices that have one each") }
    }

    /// All is quiet: every device whose token may read a part holds what the server has of that part.
    func checkParts() throws(Violation) {
        for device in devices where device.phase == .running && device.granted != nil {
            guard case .live? = device.status?.connection else { continue }
            let readable = device.tokenRights[device.token]?.ranges(of: .read, in: shared.namespace)
            for (number, key) in oracle.keys.enumerated() where device.settings.filter.matches(key) && readable?.contains(key) ?? true {
                try checkEnd(key, number, device)
            }
        }
    }

    private func checkEnd(_ key: RecordKey, _ number: Int, _ device: SimulatedDevice) throws(Violation) {
        let history = oracle.histories[oracle.current]
        let truth = history.version(of: number, at: history.head)
        guard let entry = device.store.entries[key] else {
            if device.settings.following == .everything, !device.hasEvicted, let content = truth?.content {
                throw fail(.converge, device.number, "a replica lacks \(key), which is \(Replay.text(content)) on the server")
            }
            return
        }
        guard !entry.needsRefresh, entry.isTrue(of: truth?.content, at: truth?.revision) else {
            throw fail(
                .converge, device.number,
                "\(key) is \(entry.valueText) at \(entry.revision)\(entry.invalidatedAt.map { ", invalidated at \($0)" } ?? ""), and on the "
                    + "server \(Replay.text(truth?.content))")
        }
    }

    // MARK: Expectations

    func check(_ expectation: Expectation) throws(Violation) {
        func expect(_ holds: Bool, _ device: Int?, _ text: @autoclosure () -> String) throws(Violation) {
            if !holds { throw fail(.expectation, device, text()) }
        }
        switch expectation {
        case .shows(let number, let key, let bytes):
            let view = devices[number].view(of: key)
            let wanted: KeyView.Value = bytes.map { .content(Content(checkedJSON: $0)) } ?? .absent
            var found: [UInt8]?
            if case .content(let content) = view.value { found = content.bytes }
            try expect(
                view.value != .unknown && Expectation.matches(found, bytes), number,
                "\(key) shows \(Replay.text(view.value)), not \(Replay.text(wanted))")
        case .knowsNothing(let number, let key):
            let view = devices[number].view(of: key)
            try expect(view.value == .unknown, number, "\(key) shows \(Replay.text(view.value)), and should be unknown")
        case .pending(let number, let key, let isPending):
            let view = devices[number].view(of: key)
            try expect(view.isPending == isPending, number, "\(key) is \(view.isPending ? "" : "not ")pending")
        case .status(let number, let standing):
            let found: Expectation.Standing? =
                switch devices[number].status?.connection {
                case .live: .live
                case .catchingUp: .catchingUp
                case .offline, .unauthorized, .forbidden: .offline
                case nil: nil
                }
            try expect(found == standing, number, "the device is \(found?.words ?? "not running"), not \(standing.words)")
        case .server(let key, let bytes):
            let found = shared.store.record(key, in: shared.namespace).value?.content
            try expect(
                Expectation.matches(found?.bytes, bytes), nil,
                "\(key) is \(Replay.text(found)) on the server, not \(bytes.map { String(decoding: $0, as: UTF8.self) } ?? "nothing")")
        }
    }
}
