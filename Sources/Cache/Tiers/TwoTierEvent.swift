/// What went wrong in the second tier of a ``TwoTierCache``. Reads go on, as misses.
public enum TwoTierEvent<Key: Hashable & Sendable>: Sendable {
    /// A value could not be read.
    case readFailed(Key, any Error)
    /// A value could not be written: it is in memory alone.
    case writeFailed(Key, any Error)
    /// A value could not be removed: it is not read again, and its removal will be tried again.
    case removalFailed(Key, any Error)
    /// Removing many, or all, failed; none of them is read again, and it will be tried again.
    case sweepFailed(any Error)
    /// Bytes are no value, and are removed.
    case undecodable(Key, any Error)
    /// A key has no name, so its value is in memory alone.
    case nameless(Key, any Error)
    /// Too much was waiting: a value is in memory alone.
    case dropped(Key)
}
