/// A failure in the second tier of a ``TwoTierCache``. Reads go on, as misses.
public enum TwoTierEvent<Key: Hashable & Sendable>: Sendable {
    /// A value could not be read.
    case readFailed(Key, any Error)
    /// A value could not be written: it is in memory alone.
    case writeFailed(Key, any Error)
    /// A value could not be removed. It is not read again, and the removal is retried.
    case removalFailed(Key, any Error)
    /// Removing many or all values failed. None of them is read again, and the removal is retried.
    case sweepFailed(any Error)
    /// Stored bytes could not be decoded, and are removed.
    case undecodable(Key, any Error)
    /// A key has no name, so its value is in memory alone.
    case nameless(Key, any Error)
    /// Too many writes were queued: a value is in memory alone.
    case dropped(Key)
}
