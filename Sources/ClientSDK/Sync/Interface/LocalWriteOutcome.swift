package import FreshetWire

/// The outcome of a write, for its writer.
package enum LocalWriteOutcome: Hashable, Sendable {
    /// It took effect, at this revision where the revision is known.
    case applied(Revision?)
    /// It did not take effect, and never will. `current` of the problem is the record that it met, where that is
    /// known. The disk keeps the write until the user has retried or discarded it.
    indirect case rejected(Problem)
    /// It was merged with another writer's change and continues as this new write.
    case merged(into: LocalWriteID)
    /// The cache was cleared before there was a verdict.
    case cleared
}
