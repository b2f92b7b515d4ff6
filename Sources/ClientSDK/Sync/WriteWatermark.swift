package import FreshetWire

/// Which of this device's writes the server had decided when it last described a record: all through ``number``, and none after it.
///
/// It is what `Freshet-Last-Write` said of that response. So whether a record contains a write of this device is a comparison of two
/// numbers, whatever the revisions and the order in which responses arrive.
package struct WriteWatermark: Hashable, Sendable {
    /// The history in which the writes were decided.
    package var epoch: Epoch
    /// The number of the last decided write.
    package var number: Int64

    package init(epoch: Epoch, number: Int64) {
        self.epoch = epoch
        self.number = number
    }
}

/// What the overlay does with a write (rule 7).
enum OverlayStanding: Hashable, Sendable {
    /// The record does not contain it, or is not known: it is replayed over the record.
    case replayed
    /// The record contains what became of it: it waits for its verdict, or for a record of the present history, and is not replayed.
    case included
    /// It has its verdict and the record contains it: it leaves the overlay.
    case finished
}

extension OutboxRow {
    /// The rule for leaving the overlay, the only one; `docs/decisions/overlay.md` lists every case.
    ///
    /// - Parameters:
    ///   - watermark: what the server last said of the record; `nil` where it said nothing since the first of the key's writes.
    ///   - isRecordKnown: whether the device has a record, or knows that there is none.
    ///   - epoch: the present history.
    func standing(at watermark: WriteWatermark?, isRecordKnown: Bool, in epoch: Epoch?) -> OverlayStanding {
        // What the server has decided under the number was another write.
        guard let watermark, !isDisplaced else { return .replayed }
        let unfinished: OverlayStanding = isRecordKnown && number <= watermark.number ? .included : .replayed
        switch state {
        case .pending, .held: return unfinished
        // No record of the history that rejected it contains it; one of another history may.
        case .merging(let epoch): return watermark.epoch == epoch ? .replayed : unfinished
        case .applied(let position), .settled(let position):
            if position.epoch == watermark.epoch { return number <= watermark.number ? .finished : .replayed }
            // The verdict was of a history that is over. A record of the present one will not contain the write.
            return watermark.epoch == epoch ? .finished : unfinished
        }
    }
}
