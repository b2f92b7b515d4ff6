import FreshetClient
import FreshetWire

/// The naive implementation: recomputes from the full history what the device must hold and show, and compares.
extension SmallDevice {
    /// Called after each step.
    mutating func check(_ server: SmallServer) {
        guard failure == nil else { return }
        do throws(SmallFailure) {
            try checkVerdicts(server)
            try checkWaiting()
            if isCleared {
                try checkCleared()
            } else {
                try checkOutbox()
                for key in setup.keys.indices { try checkKey(key, server) }
            }
        } catch { failure = error }
        oracle.endStep()
    }

    // MARK: Writes

    private func checkVerdicts(_ server: SmallServer) throws(SmallFailure) {
        // Between a clear and its transaction, the device reports no verdicts.
        for write in oracle.left where !isCleared && !write.isReported && !oracle.reported.contains(where: { $0.writeID == write.writeID })
        {
            throw SmallFailure(.pendingMeansPending, "write \(write.number) leaves without a reported verdict")
        }
        for reported in oracle.reported {
            guard let write = (oracle.writes + oracle.left).first(where: { $0.writeID == reported.writeID }) else { continue }
            guard try !isTrue(reported.verdict, write, server) else { continue }
            throw SmallFailure(
                .pendingMeansPending, "\(reported.verdict) is reported for write \(write.number), which was decided otherwise")
        }
    }

    private func isTrue(_ verdict: LocalWriteOutcome, _ write: SmallOracle.Written, _ server: SmallServer) throws(SmallFailure) -> Bool {
        let client = store.state.client
        switch verdict {
        case .cleared: return true
        case .rejected, .merged: return server.wasRejected(write.number, client)
        case .applied(let revision):
            guard let epoch = store.state.epoch, let decision = server.history(of: epoch)?.decision(on: write.number, of: client) else {
                return false
            }
            guard decision.write.operation == write.operation else {
                throw SmallFailure(.exactlyOnce, "write \(write.number) has the verdict of another write")
            }
            if let revision { return decision.verdict == .applied(revision) }
            return decision.verdict == .applied(nil) || setup.keptOutcomes < Int64.max
        }
    }

    private func checkOutbox() throws(SmallFailure) {
        for write in oracle.writes {
            guard let writeID = write.writeID, store.rows[writeID] == nil else { continue }
            throw SmallFailure(.readYourWrites, "write \(write.number) has vanished from the disk without a verdict")
        }
    }

    /// Whether anything can still happen to the device by itself.
    private func checkWaiting() throws(SmallFailure) {
        guard deadline == nil, calls.isEmpty, transactions.isEmpty, queries.isEmpty, merges.isEmpty, !hasStoppedSending else { return }
        throw SmallFailure(.converge, "the device waits for nothing")
    }

    private func checkCleared() throws(SmallFailure) {
        for key in setup.keys.indices where view(key).value != .unknown || view(key).entry != nil || shown[key] != nil {
            throw SmallFailure(.clearMeansClear, "\(setup.keys[key]) can be read while the device is being cleared")
        }
    }

    // MARK: Keys

    private mutating func checkKey(_ key: Int, _ server: SmallServer) throws(SmallFailure) {
        let view = view(key)
        let entry = store.entries[setup.keys[key]]
        if let entry {
            try checkEntry(entry, key, server)
            try checkFence(entry, key, server)
            try checkOrder(entry, key)
        }
        let writes = oracle.writes.filter { $0.key == setup.keys[key] }
        guard view.entry == entry else {
            throw SmallFailure(.overlayThenBase, "\(view.key) does not stand on the record that the disk has")
        }
        try checkOverlay(view, writes, key, server)
        guard view.isPending == writes.contains(where: { !$0.isReported }) else {
            throw SmallFailure(.pendingMeansPending, "\(view.key) is shown as \(view.isPending ? "" : "not ")pending")
        }
        try checkMemory(view, key)
    }

    /// Whether an entry is the server's version at its revision, in the history of its epoch.
    private func checkEntry(_ entry: Entry, _ key: Int, _ server: SmallServer) throws(SmallFailure) {
        guard oracle.hasContact else { throw SmallFailure(.clearMeansClear, "\(entry.key) is held, and the server was not asked") }
        guard let history = server.history(of: entry.epoch) else {
            throw SmallFailure(.nothingInvented, "\(entry.key) is of the epoch \(entry.epoch), which never was")
        }
        guard entry.revision <= entry.asOf, entry.asOf.number <= history.head else {
            throw SmallFailure(.nothingInvented, "\(entry.key) is at \(entry.revision) as of \(entry.asOf), past \(history.cursor)")
        }
        let truth = history.version(of: key, at: entry.asOf.number)
        guard !entry.isTrue(of: truth?.content, at: truth?.revision) else { return }
        let then = history.version(of: key, at: entry.revision.number)
        throw SmallFailure(
            entry.isTrue(of: then?.content, at: then?.revision) ? .fenceFetches : .nothingInvented,
            "\(entry.key) is \(entry.valueText) at \(entry.revision) as of \(entry.asOf), and the server had "
                + "\(Replay.text(truth?.content)) at \(truth?.revision ?? 0)")
    }

    /// Whether an entry includes every change that the feed has delivered for its key.
    private func checkFence(_ entry: Entry, _ key: Int, _ server: SmallServer) throws(SmallFailure) {
        let state = store.state
        guard entry.isConfirmed(in: state.pass), let cursor = state.cursor else { return }
        guard entry.epoch == cursor.epoch else {
            throw SmallFailure(.resetKeepsYours, "\(entry.key) counts as verified and is of the epoch \(entry.epoch)")
        }
        guard state.revalidation == .complete, let history = server.history(of: cursor.epoch) else { return }
        let origin = oracle.origin.map { $0.epoch == cursor.epoch ? $0.revision.number : 0 } ?? 0
        // The feed has only the latest change of a key: a change after the cursor may hide one before it.
        let touched = history.lastTouch(of: key, at: .max, origin: origin)
        guard touched > entry.asOf.number, touched <= cursor.revision.number else { return }
        throw SmallFailure(
            .fenceFetches, "\(entry.key) is known through \(entry.asOf), was changed at \(touched), and the cursor is \(cursor)")
    }

    private mutating func checkOrder(_ entry: Entry, _ key: Int) throws(SmallFailure) {
        if let highest = oracle.highest[key], highest.epoch == entry.epoch, entry.revision < highest.revision {
            throw SmallFailure(.neverBack, "\(entry.key) goes back to \(entry.revision) after \(highest.revision)")
        }
        oracle.highest[key] = Cursor(epoch: entry.epoch, revision: entry.revision)
    }

    /// Whether a view is the record with exactly those writes replayed that the record does not contain.
    private func checkOverlay(
        _ view: KeyView, _ writes: [SmallOracle.Written], _ key: Int, _ server: SmallServer
    ) throws(SmallFailure) {
        let base = KeyView(view.key, view.entry).value
        var replays = [Replay(base)]
        for write in writes {
            let standing = standing(of: write, over: view.entry, server)
            guard standing != .contained else { continue }
            let without = replays
            for place in replays.indices { replays[place].apply(write.operation) }
            if standing == .either { replays += without }
        }
        guard !replays.contains(where: { $0.value == view.value }) else { return }
        throw SmallFailure(
            view.value == base && writes.contains { !$0.isReported } ? .readYourWrites : .overlayThenBase,
            "\(view.key) shows \(Replay.text(view.value)) over \(Replay.text(base)) at \(view.revision?.number ?? 0); with the writes "
                + "that are not part of it, it is \(replays.map { Replay.text($0.value) }.joined(separator: " or "))")
    }

    private enum Standing { case replayed, contained, either }

    /// Whether the record contains the write, by the server's history and not by what the device believes.
    private func standing(of write: SmallOracle.Written, over entry: Entry?, _ server: SmallServer) -> Standing {
        guard let entry, let history = server.history(of: entry.epoch) else { return .replayed }
        let client = store.state.client
        let verdict = history.decision(on: write.number, of: client)?.verdict
        if case .applied(let revision?)? = verdict { return entry.revision < revision ? .replayed : .contained }
        if let epoch = write.rejectedIn {
            // The user is to see it until it is merged. A record of another history that has passed its number may contain it, for all that
            // the device knows.
            return epoch == entry.epoch || history.ledgers[client]?.last ?? 0 < write.number ? .replayed : .either
        }
        switch verdict {
        // It changed no record, so a record contains it as soon as the device knows that it was decided.
        case .applied?, .rejected?, .settled?: return .either
        case nil: return .replayed
        }
    }

    private func checkMemory(_ view: KeyView, _ key: Int) throws(SmallFailure) {
        guard let shown = shown[key] else {
            guard view.isPending else { return }
            throw SmallFailure(.readYourWrites, "\(view.key) has a pending write that was not published")
        }
        guard shown.isPending == view.isPending else {
            throw SmallFailure(.pendingMeansPending, "memory shows \(view.key) as \(shown.isPending ? "" : "not ")pending")
        }
        guard shown.value == view.value, shown.revision == view.revision else {
            throw SmallFailure(
                .overlayThenBase,
                "memory shows \(Replay.text(shown.value)) for \(view.key), the tiers below it \(Replay.text(view.value))")
        }
    }
}
