import FreshetClient
import FreshetWire

/// The rejected writes that each device keeps for its user.
extension Oracle {
    /// The user retries the rejected write with this operation, or discards it.
    func acknowledges(_ device: SimulatedDevice, _ writeID: LocalWriteID, by operation: WriteOperation?) {
        records[device.number].acknowledged[writeID, default: []].append(operation)
    }

    /// A transaction is on the device's disk.
    func noteRejections(_ transaction: DiskTransaction, _ device: SimulatedDevice) {
        for operation in transaction.rejections {
            switch operation {
            case .put(let rejection): noteRejected(rejection, device)
            case .remove(let writeID): noteRemoval(of: writeID, transaction, device)
            }
        }
    }

    private func noteRejected(_ rejection: RejectedWrite, _ device: SimulatedDevice) {
        records[device.number].rejections.append(rejection.writeID)
        records[device.number].listed.insert(rejection.writeID)
        guard let write = write(rejection.writeID, of: device) else { return }
        if writes[write].operation != rejection.operation || writes[write].key != rejection.key {
            fail(device, InvariantFailure(.rejectionsStay, "\(writes[write].name) is listed as rejected with another operation"))
        }
    }

    private func noteRemoval(of writeID: LocalWriteID, _ transaction: DiskTransaction, _ device: SimulatedDevice) {
        let rejections = records[device.number].rejections
        records[device.number].rejections.removeAll { $0 == writeID }
        let isSurplus = rejections.count > device.settings.rejectionCount && rejections.first == writeID
        guard !isSurplus else { return }
        guard let asked = records[device.number].acknowledged[writeID] else {
            let text = "the rejection of write \(writeID.number) has left the disk, and the user never asked for that"
            return fail(device, InvariantFailure(.rejectionsStay, text))
        }
        // A retry is durable with the same transaction. The user may have asked for more than one thing before the disk had the first.
        let isDone = asked.contains { operation in
            operation == nil || transaction.outbox.contains { if case .put(let row) = $0 { row.operation == operation } else { false } }
        }
        guard isDone else {
            let text = "the rejection of write \(writeID.number) has left the disk, and what it was retried with is not there"
            return fail(device, InvariantFailure(.rejectionsStay, text))
        }
    }

    /// Compares the rejections on the device's disk with the expected list; `nil` if they are equal.
    func rejectionFailure(_ device: SimulatedDevice) -> InvariantFailure? {
        let expected = records[device.number].rejections
        guard !device.store.rejections.lazy.map(\.writeID).elementsEqual(expected) else { return nil }
        let numbers = (expected.map(\.number), device.store.rejections.map(\.writeID.number))
        return InvariantFailure(
            .rejectionsStay, "the rejections of the writes \(numbers.0) are to be listed, and those of \(numbers.1) are")
    }

    /// Checks a rejection that the device reports to its user. Returns a failure if the device never listed that rejection.
    func unlisted(_ device: SimulatedDevice, _ writeID: LocalWriteID) -> String? {
        guard !records[device.number].listed.contains(writeID), let write = write(writeID, of: device) else { return nil }
        return "the device says that \(writes[write].name) is rejected, and does not list it"
    }
}
