// swift-format-ignore-file: NeverUseForceTry, NeverForceUnwrap

import FreshetWire

@testable import FreshetClient

/// The rules that must hold after each step, and at the end.
extension RandomWalk {
    /// Takes note of answers and verdicts.
    mutating func collect() {
        for index in devices.indices {
            for (callerID, answer) in devices[index].answers {
                if case .accepted(let writeID) = answer, let write = asked[index]?[callerID] {
                    accepted[index, default: [:]][writeID] = write
                    undecided[index, default: []].insert(writeID)
                }
                asked[index]?[callerID] = nil
            }
            devices[index].answers = [:]
            for (writeID, verdict, epoch) in devices[index].verdicts {
                checkVerdict(index, writeID, verdict, epoch)
                undecided[index]?.remove(writeID)
                // Also if the process died before it heard that the write was accepted.
                if case .merged(let next) = verdict { undecided[index]?.insert(next) }
                guard let write = accepted[index]?[writeID] else { continue }
                switch verdict {
                case .applied:
                    // The current history need not hold the decisions of an earlier one.
                    if write.isIncrement, epoch == server.epoch { applied[index, default: []].append(write) }
                case .merged(let next): accepted[index]?[next] = write
                case .rejected, .cleared: break
                }
            }
            devices[index].verdicts = []
        }
    }

    /// Checks that a reported verdict is the decision on that write, in the history that the device is in.
    private mutating func checkVerdict(_ index: Int, _ writeID: LocalWriteID, _ verdict: LocalWriteOutcome, _ epoch: Epoch?) {
        let client = devices[index].machine.inspection.state.client
        let number = devices[index].numbers[writeID] ?? 0
        func decision(in decisions: [ClientIdentifier: [Int64: ModelServer.Decision]]) -> ModelServer.Decision? {
            decisions[client]?[number]
        }
        switch verdict {
        case .cleared: return
        case .applied: break
        case .rejected, .merged:
            // The closure may take its time, and another history begin meanwhile.
            let wasRejected = (past.values + [server.decisions]).contains {
                if case .rejected? = decision(in: $0)?.verdict { true } else { false }
            }
            if !wasRejected { fault("device \(index) gets \(verdict) for write \(writeID.number), which was never rejected") }
            return
        }
        guard let decision = decision(in: epoch == server.epoch ? server.decisions : epoch.flatMap { past[$0] } ?? [:]) else {
            return fault("device \(index) gets \(verdict) for write \(writeID.number), which \(String(describing: epoch)) never decided")
        }
        let isTrue =
            switch (verdict, decision.verdict) {
            case (.applied(let reported?), .applied(let revision)): reported == revision
            case (.applied(nil), .applied(nil)): true
            // A settled write is reported as applied without a revision.
            case (.applied(nil), _): server.kept < 100
            default: false
            }
        if !isTrue { fault("device \(index) gets \(verdict) for write \(writeID.number), which became \(decision.verdict)") }
        if let write = accepted[index]?[writeID], write.isIncrement, !"\(decision.write.operation)".contains(write.mark) {
            fault("device \(index) gets the verdict on \(decision.write) for \(write.mark)")
        }
    }

    /// A number names one write, and is never used again.
    private mutating func checkNumbers(_ index: Int) {
        let device = devices[index]
        for call in device.calls {
            guard case .writes(let batch) = call.description.kind else { continue }
            for write in batch.writes {
                let earlier = named[batch.client]?[write.number] ?? write
                if earlier.key != write.key || earlier.operation != write.operation {
                    fault("device \(index) sends \(write) under the number of \(earlier)")
                }
                named[batch.client, default: [:]][write.number] = write
            }
        }
        let state = device.store.state
        if let earlier = nextNumbers[state.client], state.nextNumber < earlier {
            fault("device \(index) goes back from number \(earlier) to \(state.nextNumber)")
        }
        nextNumbers[state.client] = state.nextNumber
        for write in server.repeated { fault("\(write) was decided twice") }
    }

    private mutating func fault(_ text: String) { faults.append("step \(step): \(text)") }

    mutating func check(_ index: Int) {
        checkNumbers(index)
        let device = devices[index]
        for key in registers + counters + others {
            let view = device.view(key)
            let text = view.value.content.map { String(decoding: $0.bytes, as: UTF8.self) }
            // Never back.
            if let entry = view.entry {
                if let (epoch, revision) = highest[index]?[key], epoch == entry.epoch, entry.revision < revision {
                    fault("device \(index) goes back on \(key): \(entry.revision) after \(revision)")
                }
                highest[index, default: [:]][key] = (entry.epoch, entry.revision)
            }
            // Pending means pending.
            let waits = undecided[index]?.contains { accepted[index]?[$0]?.key == key } ?? false
            let isKnown = undecided[index]?.allSatisfy { accepted[index]?[$0] != nil } ?? true
            if waits != view.isPending, isKnown { fault("device \(index) shows \(key) as \(view.isPending ? "" : "not ")pending") }
            if key.collection == "counters", let text {
                if let document = try? JSONDocument(Array(text.utf8)), case .object(let members) = document {
                    // Exactly once, shown exactly once, and nothing invented.
                    for member in members where member.value != .number("1") || !written.contains(member.name) {
                        fault("device \(index) shows \(key) with \(member.name) = \(member.value)")
                    }
                    // Read your writes, and no flicker.
                    let mine =
                        (undecided[index] ?? []).compactMap { accepted[index]?[$0] }.filter { $0.key == key }.map(\.mark)
                        + (applied[index] ?? []).filter { $0.key == key && !hasReset }.map(\.mark)
                    for mark in mine where !members.contains(where: { $0.name == mark }) {
                        fault("device \(index) does not show its own \(mark) in \(key): \(text)")
                    }
                } else {
                    fault("device \(index) shows \(text) for \(key)")
                }
            }
            if key.collection == "registers", let text, !text.hasPrefix("["),
                !written.contains(text.filter { $0 != "\"" && $0 != "x" })
            {
                fault("device \(index) invents \(text) for \(key)")
            }
            // Read your writes: the newest write to a register is the one that shows.
            if key.collection == "registers", let newest = (undecided[index] ?? []).filter({ accepted[index]?[$0]?.key == key }).max(),
                let mark = accepted[index]?[newest]?.mark, let text, !text.hasPrefix("["),
                let pending = device.machine.inspection.outbox[key], let last = pending.rows.last, last.writeID == newest,
                last.standing(at: pending.watermark, isRecordKnown: pending.base != nil, in: nil) == .replayed,
                !text.hasPrefix("\"\(mark)")
            {
                fault("device \(index) shows \(text) for \(key) while \(mark) waits")
            }
        }
        if device.deadline == nil, device.open.isEmpty, device.transactions.isEmpty, device.queries.isEmpty {
            fault("device \(index) waits for nothing")
        }
    }

    /// Links heal, queues drain: all must be the same everywhere.
    mutating func finish() {
        for _ in 0..<3 {
            for index in devices.indices {
                devices[index].run(with: &server)
                collect()
            }
        }
        step = -1
        for index in devices.indices {
            check(index)
            let device = devices[index]
            if device.status?.connection != .live { fault("device \(index) is not live at the end: \(String(describing: device.status))") }
            if !device.store.rows.isEmpty || !device.machine.inspection.waitingNumbers.isEmpty {
                fault("device \(index) keeps \(device.store.rows)")
            }
            if !device.store.watermarks.isEmpty { fault("device \(index) keeps \(device.store.watermarks)") }
            if device.machine.inspection.unstoredKeys != 0 { fault("device \(index) keeps claims") }
            if device.machine.inspection.readsInFlight != 0 { fault("device \(index) counts reads under way") }
            for key in registers + counters {
                let entry = device.store.entries[key]
                let record = server.record(key, full: true)
                let isHeld = entry != nil
                let mustBeHeld =
                    device.settings.following == .everything && record != nil && record!.content!.bytes.count <= server.inlineLimit
                let wasInvalidated = server.invalidations.contains { $0.scope.contains(key) && $0.revision > record?.revision.number ?? 0 }
                if mustBeHeld, !isHeld, !wasInvalidated, device.evictions == 0 { fault("device \(index) lacks \(key)") }
                if isHeld, entry?.content != record?.content || (record != nil && entry?.revision != record?.revision) {
                    fault("device \(index) has \(entry!) for \(key), the server \(String(describing: record))")
                }
                if let view = device.shown[key], view.value != device.view(key).value {
                    fault("device \(index) shows \(view) in memory and \(device.view(key)) on disk")
                }
            }
        }
        for (index, writes) in applied {
            for write in writes where write.key.collection == "counters" {
                let text = server.record(write.key, full: true)?.content.map { String(decoding: $0.bytes, as: UTF8.self) } ?? ""
                if !text.contains("\"\(write.mark)\":1") { fault("the write \(write.mark) of device \(index) is lost: \(text)") }
            }
        }
    }
}

extension ModelDevice {
    /// The walk evicts at random; then a replica may lack a key.
    var evictions: Int { 1 }
}
