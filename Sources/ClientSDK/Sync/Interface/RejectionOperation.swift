/// One operation on the list of rejected writes.
package enum RejectionOperation: Hashable, Sendable {
    /// Adds the write at the end.
    case put(RejectedWrite)
    /// Removes the write.
    case remove(LocalWriteID)
}
