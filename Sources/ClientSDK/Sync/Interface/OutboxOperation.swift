package import FreshetWire

/// One operation on the outbox or its watermarks.
package enum OutboxOperation: Hashable, Sendable {
    /// Stores the row under its id, new or in place of the old one.
    case put(OutboxRow)
    /// Removes the row.
    case remove(LocalWriteID)
    /// Stores the watermark of a key with rows, in place of the old one; `nil` removes it.
    case watermark(RecordKey, WriteWatermark?)
}
