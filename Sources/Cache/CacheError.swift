/// An error of a cache that uses the disk. The description of each case says what to do.
public enum CacheError: Error, Hashable, Sendable {
    /// A path cannot be used, as `reason` says: it is empty, begins with `~`, or is relative to a directory that is gone.
    case invalidPath(path: String, reason: String)
    /// A file cannot be read: check that it exists and is readable.
    case cannotRead(path: String, reason: String)
    /// A file cannot be written: check that its folder exists, is writable, and has room.
    case cannotWrite(path: String, reason: String)
    /// A key or value cannot be encoded: its `encode(to:)` says why.
    case cannotEncode(reason: String)
    /// A file holds no cache with keys and values of these types: delete it and start with an empty one.
    case notACache(path: String, reason: String)
    /// A file holds a cache with a cost limit, and its values do not state their cost: pass `cost`, or make them a ``CostedValue``.
    case noCost(path: String)
    /// There is no such directory: check the name.
    case noSuchDirectory(path: String)
    /// The cache is damaged, or has another version of the format, as the reason says: open it, which starts an empty
    /// one, or clear it.
    case unreadable(path: String, reason: String)
    /// The directory holds something else: choose an empty one, or one that does not exist yet.
    case notACacheDirectory(path: String)
    /// The directory is not writable: give this user the right to write it, or choose another one.
    case readOnly(path: String)
    /// The disk or the quota is full, and nothing was stored: make room, or lower the cache's byte limit. Reads go on,
    /// until so many writes have failed that the cache empties itself, see ``DiskCacheEvent/Reason/failedWrites``.
    case diskFull(path: String)
    /// The system refused for another reason, which `reason` states: check the kernel's log, then the disk.
    case storageFailed(path: String, reason: String)
    /// The value is larger than the whole cache may be, in bytes, and the earlier value of its key is removed: raise
    /// the limit.
    case tooLarge(bytes: Int, limit: Int)
    /// An encrypted value needs an implementation of encryption: set `cipher` in the cache's configuration.
    case noCipher
    /// The configuration's `cipher` could not encrypt a value, and nothing was stored: fix the cause that `reason`
    /// states.
    case cannotSeal(reason: String)
    /// Another user of the directory emptied it for another schema: open the cache again with the present schema.
    case schemaChanged(path: String)
    /// The cache was closed: open a new one.
    case closed
}

extension CacheError: CustomStringConvertible {
    /// A line for people that says what to do.
    public var description: String {
        switch self {
        case .invalidPath(let path, let reason): "'\(path)' \(reason)"
        case .cannotRead(let path, let reason): "cannot read \(path): \(reason); look whether it is there and may be read"
        case .cannotWrite(let path, let reason):
            "cannot write \(path): \(reason); look whether its folder is there, may be written, and has room"
        case .cannotEncode(let reason): "a key or value cannot be encoded: \(reason)"
        case .notACache(let path, let reason):
            "\(path) holds no cache with keys and values of these types: \(reason); delete it and begin with an empty one"
        case .noCost(let path):
            "\(path) holds a cache with a cost limit, and its values do not state their cost: pass a cost closure, or make them a CostedValue"
        case .noSuchDirectory(let path): "There is no directory \(path): look at the name."
        case .unreadable(let path, let reason):
            "The cache in \(path) cannot be read (\(reason)): open it, which starts an empty one, or clear it."
        case .notACacheDirectory(let path):
            "\(path) holds something other than a cache: name an empty directory, or one that does not exist yet."
        case .readOnly(let path): "\(path) may not be written: give this user the right to write it, or name another directory."
        case .diskFull(let path): "No room for \(path), and nothing was stored: make room on the disk, or lower the cache's byte limit."
        case .storageFailed(let path, let reason): "\(path): \(reason). Look at the kernel's log, then at the disk."
        case .tooLarge(let bytes, let limit):
            "A value of \(bytes) bytes is larger than the whole cache may be, \(limit): raise the byte limit."
        case .noCipher: "An encrypted value needs something that encrypts it: set cipher in the cache's configuration."
        case .cannotSeal(let reason):
            "A value could not be encrypted, and was not stored: \(reason). Mend what the configuration's cipher needs."
        case .schemaChanged(let path): "\(path) was emptied for another schema: open the cache again with the present schema."
        case .closed: "The cache was closed: make a new one."
        }
    }
}
