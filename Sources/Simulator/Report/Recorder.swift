import FreshetClient
import FreshetServer
import FreshetWire

/// Records the events of a run in its timeline.
final class Recorder {
    private(set) var timeline: Timeline
    private let keys: [RecordKey]
    /// The places of messages under way in the timeline, by serial: to the server, and to the device.
    private var requests: [Int: Int] = [:]
    private var replies: [Int: Int] = [:]
    private var senders: [Int: Int] = [:]
    /// The places of all requests, by serial.
    private var places: [Int: Int] = [:]
    /// The epoch that each device's last message named.
    private var epochs: [Int: Epoch] = [:]
    private var writes: [Int: [LocalWriteID: Int]] = [:]
    private var held: [[RecordKey: Timeline.Holding]]
    private var cursors: [String?]
    private var standings: [String?]

    init(_ scenario: Scenario, keys: [RecordKey]) {
        self.keys = keys
        timeline = Timeline(title: "A run of \(scenario.devices.count) devices")
        timeline.lanes = [Timeline.Lane(name: "server", detail: scenario.isServerSmall ? "keeps little in memory" : "")]
        for device in scenario.devices {
            let collections =
                device.collections.isEmpty ? "all collections" : "the collections \(device.collections.joined(separator: ", "))"
            let following = device.following == .everything ? "follows everything in" : "follows what it holds of"
            timeline.lanes.append(Timeline.Lane(name: device.name, detail: "\(following) \(collections)"))
        }
        held = Array(repeating: [:], count: scenario.devices.count + 1)
        cursors = Array(repeating: nil, count: scenario.devices.count + 1)
        standings = Array(repeating: nil, count: scenario.devices.count + 1)
    }

    /// The timeline of a run that has ended.
    func finished(at time: Int64, _ violation: Violation?) -> Timeline {
        var timeline = timeline
        timeline.end = time
        for place in timeline.faults.indices { timeline.faults[place].to = min(timeline.faults[place].to, time) }
        for place in timeline.messages.indices {
            let message = timeline.messages[place]
            timeline.messages[place].ended = message.delivery == .underWay ? time : min(message.ended, time)
        }
        if let violation {
            timeline.violation = Timeline.Violation(
                lane: lane(violation.device), time: violation.time, rule: violation.rule.description, text: violation.text)
        }
        return timeline
    }

    private func lane(_ device: Int?) -> Int { device.map { $0 + 1 } ?? 0 }

    func mark(_ device: Int?, at time: Int64, _ label: String) {
        timeline.marks.append(Timeline.Mark(lane: lane(device), time: time, label: label))
    }

    func status(_ device: Int, at time: Int64, _ status: SyncStatus) {
        let standing =
            switch status.connection {
            case .live: "live"
            case .catchingUp: "catching up"
            case .offline: "offline"
            case .unauthorized: "its token is refused"
            case .forbidden: "it may read nothing"
            }
        if standings[device + 1] != standing {
            standings[device + 1] = standing
            mark(device, at: time, standing)
        }
        note(cursor: status.cursor?.description, device + 1, time)
    }

    private func note(cursor: String?, _ lane: Int, _ time: Int64) {
        guard cursors[lane] != cursor else { return }
        cursors[lane] = cursor
        timeline.holdings.append(Timeline.Holding(lane: lane, time: time, key: "", value: cursor, detail: ""))
    }

    private func note(_ holding: Timeline.Holding, _ key: RecordKey) {
        if let before = held[holding.lane][key], before.value == holding.value, before.detail == holding.detail { return }
        if held[holding.lane][key] == nil, holding.value == nil { return }
        held[holding.lane][key] = holding
        timeline.holdings.append(holding)
    }

    // MARK: Incidents

    func incident(_ event: ScenarioEvent, at time: Int64) {
        let text = event.words { timeline.lanes[$0 + 1].name }
        switch event {
        case .read, .fetch, .list, .evict, .clear, .expect, .join, .reconnect, .write, .settle, .retryRejected, .discardRejected, .copyDisk,
            .replaceDisk:
            mark(event.device, at: time, text)
        case .grant, .revoke: mark(event.device, at: time, text)
        case .serverWrite, .invalidate, .backUp, .compact, .drop, .healAll: mark(nil, at: time, text)
        default:
            let duration = event.duration ?? 0
            let lanes = [lane(event.device)]
            if event.undoes {
                for place in timeline.faults.indices where timeline.faults[place].lanes == lanes && timeline.faults[place].isOpen {
                    timeline.faults[place].to = time
                }
                return mark(event.device, at: time, text)
            }
            timeline.faults.append(Timeline.Fault(lanes: lanes, from: time, to: time + duration, label: text))
        }
    }

    // MARK: Messages

    func sent(_ serial: Int, _ message: SimulatedSystem.Message, at time: Int64) {
        requests[serial] = timeline.messages.count
        places[serial] = timeline.messages.count
        senders[serial] = message.device + 1
        var cursor = ""
        if case .changes(.after(let since), _, _, _, _) = message.kind {
            cursor = since.description
            epochs[message.device + 1] = since.epoch
        }
        timeline.messages.append(
            Timeline.Message(
                from: message.device + 1, to: 0, sent: time, ended: time, delivery: .underWay, label: MessageText.of(message.kind),
                cursor: cursor))
    }

    func received(_ serial: Int, at time: Int64) { end(requests.removeValue(forKey: serial), .arrived, time) }

    func replied(_ serial: Int, _ reply: Reply, at time: Int64) {
        guard let device = senders[serial] else { return }
        replies[serial] = timeline.messages.count
        var label = MessageText.of(reply)
        if let epoch = MessageText.cursor(of: reply)?.epoch, let known = epochs.updateValue(epoch, forKey: device), known != epoch {
            label += ", a new epoch: \(epoch)"
        }
        timeline.messages.append(
            Timeline.Message(
                from: 0, to: device, sent: time, ended: time, delivery: .underWay, label: label,
                cursor: MessageText.cursor(of: reply)?.description ?? ""))
    }

    /// What the device takes a response for; on the way it may have become another than the server's.
    func arrived(_ serial: Int, _ reply: Reply, isWaitedFor: Bool, at time: Int64) {
        guard let place = replies.removeValue(forKey: serial) else {
            // The server gave no response: the connection broke first.
            guard let request = places[serial], timeline.messages[request].delivery == .arrived, case .failure = reply else { return }
            return timeline.messages[request].outcome = MessageText.of(reply)
        }
        end(place, isWaitedFor ? .arrived : .ignored, time)
        let words = MessageText.of(reply)
        if !timeline.messages[place].label.hasPrefix(words) { return timeline.messages[place].outcome = "arrived as \(words)" }
        guard isWaitedFor, let request = places[serial], !timeline.messages[request].cursor.isEmpty, reply.bringsNothing else { return }
        timeline.messages[request].isIdle = true
        timeline.messages[place].isIdle = true
    }

    /// A request ends before it reaches the server.
    func stopped(_ serial: Int, _ delivery: Timeline.Message.Delivery, _ outcome: String, at time: Int64) {
        guard let place = requests.removeValue(forKey: serial) else { return }
        end(place, delivery, time)
        timeline.messages[place].outcome = outcome
    }

    func ignored(_ serial: Int, at time: Int64) { end(replies.removeValue(forKey: serial), .ignored, time) }

    func lost(_ serial: Int, _ way: ScenarioEvent.Way, at time: Int64) {
        end(way == .request ? requests.removeValue(forKey: serial) : replies.removeValue(forKey: serial), .lost, time)
    }

    private func end(_ place: Int?, _ delivery: Timeline.Message.Delivery, _ time: Int64) {
        guard let place else { return }
        timeline.messages[place].delivery = delivery
        timeline.messages[place].ended = time
    }

    // MARK: Cache entries

    func published(_ publication: Publication, _ device: SimulatedDevice, at time: Int64) {
        for key in keys { show(key, device, time) }
    }

    private func show(_ key: RecordKey, _ device: SimulatedDevice, _ time: Int64) {
        let view = device.view(of: key)
        let isKnown = view.value != .unknown || view.isPending
        let revision = view.revision.map { "revision \($0)" } ?? "no revision"
        let holding = Timeline.Holding(
            lane: device.number + 1, time: time, key: key.description, value: isKnown ? Replay.text(view.value) : nil,
            detail: view.isPending ? "\(revision), pending" : revision)
        note(holding, key)
    }

    func committed(_ commits: [NamespaceCommit], at time: Int64) {
        for commit in commits {
            if commit.isReset { mark(nil, at: time, "a new epoch: \(commit.cursor.epoch)") }
            for change in commit.changes {
                switch change.effect {
                case .put(let key, let content, _, _):
                    let value = content.map { Replay.text($0) } ?? ""
                    note(
                        Timeline.Holding(
                            lane: 0, time: time, key: key.description, value: value, detail: "revision \(change.revision)"), key)
                case .delete(let key):
                    note(
                        Timeline.Holding(
                            lane: 0, time: time, key: key.description, value: "no record", detail: "revision \(change.revision)"), key)
                case .invalidate(let scope): mark(nil, at: time, "invalidated \(scope.text) at \(change.revision)")
                }
            }
            note(cursor: commit.cursor.description, 0, time)
        }
    }

    func stored(_ transaction: DiskTransaction, _ device: SimulatedDevice, at time: Int64) {
        if transaction.clear != nil {
            for place in (writes[device.number] ?? [:]).values { step(place, .cleared, time) }
            writes[device.number] = [:]
        }
        for operation in transaction.outbox {
            switch operation {
            case .put(let row): stored(row, device, time)
            case .remove(let writeID):
                guard let place = writes[device.number]?[writeID] else { continue }
                let isRejected = timeline.writes[place].steps.last?.stage == .rejected
                step(place, isRejected ? .rolledBack : .confirmed, time)
            case .watermark: break
            }
        }
    }

    private func stored(_ row: OutboxRow, _ device: SimulatedDevice, _ time: Int64) {
        if let place = writes[device.number]?[row.writeID] {
            switch row.state {
            case .applied, .settled: step(place, .acknowledged, time)
            case .merging: step(place, .rejected, time)
            case .pending, .held: break
            }
            return
        }
        writes[device.number, default: [:]][row.writeID] = timeline.writes.count
        timeline.writes.append(
            Timeline.Write(
                lane: device.number + 1, key: row.key.description, label: row.operation.text,
                steps: [Timeline.Write.Step(time: time, stage: .pending)]))
    }

    private func step(_ place: Int, _ stage: Timeline.Write.Stage, _ time: Int64) {
        guard let last = timeline.writes[place].steps.last?.stage, last != stage else { return }
        let isOver = last == .confirmed || last == .rolledBack || last == .cleared
        if !isOver { timeline.writes[place].steps.append(Timeline.Write.Step(time: time, stage: stage)) }
    }

    func decided(_ device: SimulatedDevice, _ writeID: LocalWriteID, _ verdict: LocalWriteOutcome, at time: Int64) {
        guard case .rejected = verdict, let place = writes[device.number]?[writeID] else { return }
        timeline.writes[place].steps.removeAll { $0.stage == .confirmed && $0.time == time }
        step(place, .rejected, time)
        step(place, .rolledBack, time)
    }
}

extension Timeline.Fault {
    /// Whether it lasts until something undoes it.
    fileprivate var isOpen: Bool { to - from == ScenarioEvent.untilUndone }
}
