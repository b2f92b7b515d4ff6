/// What a ``DiskCache`` did by itself, that its owner may want to know.
public enum DiskCacheEvent: Hashable, Sendable {
    /// All entries are gone, and the cache began anew.
    case startedAnew(Reason)
    /// An entry was damaged and is removed.
    case damaged(key: [UInt8])
    /// So many entries left, the least recently used, for the limit of bytes.
    case evicted(entries: Int)
    /// A value was not stored, and what was under its key is removed: too large, or too much was waiting already.
    case refused(key: [UInt8], bytes: Int)
    /// Values that were staged could not be written; their keys miss until they are written again.
    case writeFailed(CacheError)

    /// Why a cache began anew.
    public enum Reason: Hashable, Sendable {
        /// The directory was of another version of the format.
        case format
        /// The directory was of another schema.
        case schema
        /// The file was damaged, as the text tells.
        case damage(String)
        /// Someone asked for it.
        case request
    }
}
