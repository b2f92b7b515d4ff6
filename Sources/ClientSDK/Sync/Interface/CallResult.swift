/// An answer for a waiting caller.
package enum CallResult: Hashable, Sendable {
    /// The write is on disk, and shown.
    case accepted(LocalWriteID)
    /// The present views of the keys, in the order of the request.
    case views([KeyView])
    /// The rejected write is off the disk.
    case discarded
    /// Everything on the device was verified after the call.
    case verified
    /// All data is removed.
    case cleared
    case failed(SyncFailure)
}
