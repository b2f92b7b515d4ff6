package import FreshetWire

/// Shows which of this device's writes the server had decided when it last described a record: all up to ``number``,
/// and none after it.
///
/// The number comes from the `Freshet-Last-Write` of that response. So a comparison of two numbers shows whether a
/// record contains a write of this device, whatever the revisions and the order in which responses arrive.
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

extension OutboxRow {
    /// Returns the write's standing. This is the only rule for leaving the overlay;
    /// `docs/decisions/0038-overlay.md` lists every case.
    ///
    /// - Parameters:
    ///   - watermark: what the server last stated about the record; `nil` without a statement since the first of the
    ///     key's writes.
    ///   - isRecordKnown: whether the device has a record, or knows that there is none.
    ///   - epoch: the present history.
    func standing(at watermark: WriteWatermark?, isRecordKnown: Bool, in epoch: Epoch?) -> OverlayStanding {
        // The server has decided another write under the number.
        guard let watermark, !isDisplaced else { return .replayed }
        let unfinished: OverlayStanding = isRecordKnown && number <= watermark.number ? .included : .replayed
        switch state {
        case .pending, .held: return unfinished
        // No record of the history that rejected the write contains it; one of another history may.
        case .merging(let epoch): return watermark.epoch == epoch ? .replayed : unfinished
        case .applied(let position), .settled(let position):
            if position.epoch == watermark.epoch { return number <= watermark.number ? .finished : .replayed }
            // The verdict is of a past history. A record of the present one will not contain the write.
            return watermark.epoch == epoch ? .finished : unfinished
        }
    }
}
