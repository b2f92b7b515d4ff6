/// What can go wrong in a cache that touches the disk.
public enum CacheError: Error, Hashable, Sendable {
    /// A file cannot be read: look whether it is there and may be read.
    case cannotRead(path: String, reason: String)
    /// A file cannot be written: look whether its folder is there, may be written, and has room.
    case cannotWrite(path: String, reason: String)
    /// A key or value cannot be encoded: its `encode(to:)` says why.
    case cannotEncode(reason: String)
    /// A file holds no cache with keys and values of these types: delete it and begin with an empty one.
    case notACache(path: String, reason: String)
}

extension CacheError: CustomStringConvertible {
    /// A line for people, with what to do.
    public var description: String {
        switch self {
        case .cannotRead(let path, let reason): "cannot read \(path): \(reason); look whether it is there and may be read"
        case .cannotWrite(let path, let reason):
            "cannot write \(path): \(reason); look whether its folder is there, may be written, and has room"
        case .cannotEncode(let reason): "a key or value cannot be encoded: \(reason)"
        case .notACache(let path, let reason):
            "\(path) holds no cache with keys and values of these types: \(reason); delete it and begin with an empty one"
        }
    }
}
