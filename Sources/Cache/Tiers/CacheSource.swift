/// The source of a value.
public enum CacheSource: String, Hashable, Sendable {
    /// The first tier.
    case memory
    /// The second tier.
    case disk
    /// A load.
    case network
}
