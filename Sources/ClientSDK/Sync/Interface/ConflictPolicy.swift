/// The handling of a write whose record someone else changed between the user's last look and the arrival of the write.
package enum ConflictPolicy: Hashable, Sendable {
    /// The write applies in any case.
    case lastWriterWins
    /// The write is rejected; its writer gets the rejection, and the newest confirmed value is shown.
    case rejectIfChanged
    /// The closure registered under this name merges both values into one, which is sent as a new write.
    case merge(MergeName)
}
