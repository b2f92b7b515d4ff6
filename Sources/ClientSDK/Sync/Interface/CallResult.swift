package import FreshetWire

/// An answer for a waiting caller.
package enum CallResult: Hashable, Sendable {
    /// The write is on disk, and shown.
    case accepted(LocalWriteID)
    /// The present views of the keys, in the order of the request.
    case views([KeyView])
    /// The records of a list, in the order of their keys: those that the device shows, and those that were read for the list and are not on
    /// its disk. A list of ids gives only keys, of which the device may know nothing more; one for observers gives nothing.
    case listed(held: [RecordKey], read: [KeyView])
    /// The rejected write is off the disk.
    case discarded
    /// Everything on the device was verified after the call.
    case verified
    /// All data is removed.
    case cleared
    case failed(SyncFailure)
}
