/// A change that a ``DiskCache`` made by itself.
public enum DiskCacheEvent: Hashable, Sendable {
    /// The cache was reset: all entries are removed.
    case reset(Reason)
    /// An entry was damaged and is removed.
    case damaged(key: [UInt8])
    /// The least recently used entries were evicted, for the limit of bytes.
    case evicted(entries: Int)
    /// A value was too large, or too many bytes were staged: it was not stored, and its key's earlier value is removed.
    case refused(key: [UInt8], bytes: Int)
    /// Staged values could not be written; their keys miss until they are written again.
    case writeFailed(CacheError)

    /// Why a cache was reset.
    public enum Reason: Hashable, Sendable {
        /// The directory had another version of the format.
        case format
        /// The directory had another schema.
        case schema
        /// The file was damaged, for the given reason.
        case damage(String)
        /// More writes failed than the cache can remember, as on a disk that stays full, so that it no longer knew which
        /// entries are outdated.
        case failedWrites
        /// The application requested it.
        case request
    }
}
