/// The reason why the disk did not commit. Nothing of the transaction is stored.
package enum DiskFailure: Error, Hashable, Sendable {
    /// No room. Free some, or lower the budget of the cache.
    case full
    /// Any other failure, described by the text.
    case failed(String)
}
