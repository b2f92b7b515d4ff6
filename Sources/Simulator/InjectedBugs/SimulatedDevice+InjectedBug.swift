import FreshetClient
import FreshetWire

/// What broken implementations take a response's number for; see ``InjectedBug``.
extension SimulatedDevice {
    /// Returns the number of the last decided write that the device takes a record to contain.
    func understated(_ lastWrite: Int64, in reply: Reply, _ bug: InjectedBug?) -> Int64 {
        switch bug {
        case .forgetSent: min(lastWrite, (forgottenNumbers.min() ?? .max) - 1)
        case .replayBehindOwnValue: understated(lastWrite, of: reply.onlyRecord)
        default: lastWrite
        }
    }

    /// The writes with a verdict that count as not sent.
    private var forgottenNumbers: [Int64] {
        store.rows.values.lazy.filter { $0.position != nil && $0.number > max(self.lastUndecided, self.lastSent) }.map(\.number)
    }

    /// An increment behind a value of the device's own without a verdict counts as one that the record does not contain, since both give
    /// what the record shows; and as long as the record stays, also once the value has its verdict.
    private func understated(_ lastWrite: Int64, of record: Record?) -> Int64 {
        guard let record else { return lastWrite }
        let rows = store.rows.values.filter { $0.key == record.key && $0.state == .pending && $0.number <= lastWrite }
            .sorted { $0.number < $1.number }
        if let value = rows.firstIndex(where: \.operation.replacesAll), let increment = rows[value...].first(where: \.operation.isIncrement)
        {
            var replay = Replay(.absent)
            for row in rows[value...] { replay.apply(row.operation) }
            guard let content = record.content, replay.value == .content(content) else { return lastWrite }
            replayedOver[increment.writeID] = record.revision
            return rows[value].number - 1
        }
        return rows.first { replayedOver[$0.writeID] == record.revision }.map { $0.number - 1 } ?? lastWrite
    }
}

extension Reply {
    /// The record of a response about one.
    fileprivate var onlyRecord: Record? {
        switch self {
        case .record(let record, _): record
        case .reads(let response) where response.records.count == 1 && response.missing.isEmpty: response.records[0]
        default: nil
        }
    }
}

extension WriteOperation {
    /// Whether the earlier content does not matter.
    fileprivate var replacesAll: Bool {
        switch self {
        case .put, .delete: true
        case .patch, .increment: false
        }
    }

    fileprivate var isIncrement: Bool { if case .increment = self { true } else { false } }
}
