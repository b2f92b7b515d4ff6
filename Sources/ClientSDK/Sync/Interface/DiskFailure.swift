/// The reason why the disk did not do what it was asked to. Nothing of a transaction is stored. The texts name no path: the
/// error of the user does.
package enum DiskFailure: Error, Hashable, Sendable {
    /// No room. Free some, or lower the budget of the cache.
    case full
    /// The file or its directory may not be written.
    case readOnly
    /// The file is damaged, or it is no database.
    case damaged
    /// Any other failure, described by the text.
    case failed(String)
}
