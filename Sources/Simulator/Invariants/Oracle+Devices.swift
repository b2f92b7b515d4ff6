import FreshetClient
import FreshetWire

/// Records what devices' disks contain.
extension Oracle {
    /// The device has asked for these keys.
    func asked(_ device: SimulatedDevice, _ keys: [RecordKey]) {
        for key in keys {
            guard let number = numbers[key] else { continue }
            if device.isCleared { records[device.number].wantedNext.insert(number) }
            records[device.number].wanted.insert(number)
        }
    }

    /// Whether the device has asked for the key or written it under its present account.
    func hasWanted(_ key: Int, _ device: SimulatedDevice) -> Bool {
        records[device.number].wanted.contains(key)
            || records[device.number].writeIDs.contains { numbers[writes[$0].key] == key }
    }

    /// A transaction is on the device's disk.
    func stored(_ transaction: DiskTransaction, _ device: SimulatedDevice, at time: Int64) {
        // Another account begins; what it wrote and held is gone.
        guard transaction.clear == nil else { return }
        if transaction.removesRecords {
            // A decided write that waited only for its record goes with the records.
            records[device.number].alive = records[device.number].alive.filter { writeID in
                device.store.rows[writeID] != nil || !(write(writeID, of: device).map { writes[$0].isDecided } ?? false)
            }
        }
        records[device.number].wasReset = transaction.state.contains(.cursor(nil))
        if transaction.state.contains(where: { if case .pass = $0 { true } else { false } }) {
            for case .cursor(let cursor?) in transaction.state {
                records[device.number].origin = (cursor.origin ?? cursor.revision).number
            }
        }
        // Those of one transaction come key by key.
        var rows = transaction.outbox.compactMap { if case .put(let row) = $0 { row } else { nil } }
        rows.sort { $0.writeID < $1.writeID }
        for row in rows { noteRow(row, device) }
        noteRejections(transaction, device)
        for operation in transaction.outbox {
            switch operation {
            case .put: break
            case .remove(let writeID): noteEnd(writeID, device)
            case .watermark: break
            }
        }
    }

    private func noteRow(_ row: OutboxRow, _ device: SimulatedDevice) {
        let number = device.number
        if write(row.writeID, of: device) == nil {
            guard Int(row.writeID.number) == records[number].writeIDs.count + 1 else {
                return fail(device, InvariantFailure(.nothingInvented, "write \(row.writeID.number) comes out of its order"))
            }
            var record = WriteRecord(device: number, writeID: row.writeID, key: row.key, operation: row.operation)
            if case .merge = row.policy { record.mergesLeft = device.settings.mergeAttempts - row.attempts }
            record.isMerge = row.attempts > 0
            let write = add(record)
            records[number].writeIDs.append(write)
            records[number].alive.append(row.writeID)
            asked(device, [row.key])
        }
        guard let write = write(row.writeID, of: device) else { return }
        if row.isMerging || !row.isPending { records[number].decided.insert(row.writeID) }
        switch row.state {
        case .pending, .held: break
        case .applied(let position):
            guard let history = history(position.epoch), appliedRevision(of: write, in: history) == position.revision.number else {
                return fail(
                    device,
                    InvariantFailure(.pendingMeansPending, "\(writes[write].name) counts as applied at \(position), where it had no effect")
                )
            }
        case .settled:
            if !writes[write].isDecided {
                fail(device, InvariantFailure(.pendingMeansPending, "\(writes[write].name) counts as settled, and the server never had it"))
            }
        case .merging(let epoch):
            guard let history = epoch.flatMap(history), writes[write].refused.contains(history) else {
                let text = "\(writes[write].name) is to be merged, and no history \(epoch.map(\.token) ?? "nil") has refused it"
                return fail(device, InvariantFailure(.pendingMeansPending, text))
            }
        }
    }

    /// The row has left the disk: has the write come to its end?
    private func noteEnd(_ writeID: LocalWriteID, _ device: SimulatedDevice) {
        records[device.number].alive.removeAll { $0 == writeID }
        records[device.number].decided.insert(writeID)
        guard let write = write(writeID, of: device) else { return }
        let record = writes[write]
        guard record.isDecided else {
            return fail(device, InvariantFailure(.readYourWrites, "\(record.name) left the outbox, and the server never decided about it"))
        }
        // A write that waited on a copied disk has its end on each of the disks, and in another history the other one may have sent it later.
        guard !copiedNames.contains(device.store.state.client), !record.isRefused, let entry = device.store.entries[record.key],
            let history = history(entry.epoch),
            let revision = appliedRevision(of: write, in: history), entry.asOf.number < revision
        else { return }
        fail(
            device,
            InvariantFailure(
                .overlayThenBase, "\(record.name) left the overlay, and the record is known through \(entry.asOf), before \(revision)"))
    }

    func fail(_ device: SimulatedDevice, _ failure: InvariantFailure) {
        if records[device.number].failure == nil { records[device.number].failure = failure }
    }

    /// The device's disk is that of another account.
    func cleared(_ device: SimulatedDevice) {
        let wanted = records[device.number].wantedNext
        records[device.number] = DeviceRecord(highest: Array(repeating: nil, count: keys.count))
        records[device.number].wanted = wanted
        if device.isCleared { records[device.number].wantedNext = wanted }
    }

    /// Notes that the device's disk was replaced by a copy, from another device or from an earlier time. `record` is the oracle's record
    /// from the time of the copy.
    func replaced(_ device: SimulatedDevice, by record: DeviceRecord) {
        records[device.number] = record
        // Its user may have asked for all that is on it.
        records[device.number].wanted = Set(keys.indices)
        records[device.number].wantedNext = []
    }

    /// The device's process has started: has its disk kept what it had accepted?
    func restarted(_ device: SimulatedDevice) {
        for writeID in records[device.number].alive where device.store.rows[writeID] == nil {
            guard let write = write(writeID, of: device) else { continue }
            fail(
                device, InvariantFailure(.durableBeforeAcknowledged, "after the crash \(writes[write].name) is not on the device's disk"))
        }
    }
}
