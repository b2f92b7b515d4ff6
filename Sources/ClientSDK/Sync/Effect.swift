import FreshetWire

/// A request of one part of the machine to the others.
enum Effect: Sendable {
    case store(QueuedInput)
    case reset(Epoch?, forgets: Bool, because: String, continuation: Problem.Continuation? = nil)
    /// The token may read nothing of the followed part of the namespace.
    case removeRecords(Problem)
    /// The server can be reached again: requests that failed without contact are retried at once.
    case regainedContact
    /// The server accepted writes: a feed that waits after a failure is retried at once.
    case reachedServer
}
