public import FoundationEssentials

/// A value that a ``DiskCache`` returned.
public struct DiskValue: Hashable, Sendable {
    /// The value, as it was stored; decrypted if it was encrypted.
    public let bytes: [UInt8]
    let head: DiskRecord.Head
    /// `nil` unless the read asked for tags, which are in another row.
    let tags: Set<CacheTag>?

    init(bytes: [UInt8], head: DiskRecord.Head, tags: Set<CacheTag>? = nil) {
        self.bytes = bytes
        self.head = head
        self.tags = tags
    }

    /// When the value was stored.
    public var recorded: Date { DiskDeadline.date(head.recorded) }
    /// When the value was last known to be right: when it was stored, or last renewed.
    public var verified: Date { DiskDeadline.date(head.verified) }
    /// When its lifetime ends; `nil` for one without end, and for one that each use prolongs.
    public var expires: Date? { head.deadline.endDate }
    /// Whether it is encrypted on the disk.
    public var isEncrypted: Bool { head.isEncrypted }
}

/// Whether a value may be written to the disk, and how.
public enum DiskProtection: Hashable, Sendable {
    /// Stored as it is.
    case plain
    /// Stored encrypted, by the configuration's `cipher`. The names of keys and tags are not: keep secrets out of them.
    case encrypted
    /// Never written. An earlier value of the key is removed, since it is outdated.
    case memoryOnly
}

/// An entry of a ``DiskCache`` without its value.
public struct DiskEntry: Hashable, Sendable {
    /// The key.
    public let keyBytes: [UInt8]
    /// How many bytes the value has on the disk; an encrypted one has what its `cipher` added.
    public let byteCount: Int
    /// When the value was stored.
    public let recorded: Date
    /// When the value was last known to be right.
    public let verified: Date
    /// When it expires; for one that each use prolongs, if it is not used again. `nil` for never.
    public let expires: Date?
    /// When it was last used, to some seconds.
    public let used: Date
    /// Its tags, sorted.
    public let tags: [CacheTag]
    /// Whether the value is encrypted on the disk.
    public let isEncrypted: Bool
    /// The path of the file that holds the value; `nil` if it is in the database.
    public let file: String?

    /// The key as text; bytes that are no UTF-8 are replaced.
    public var key: String { String(decoding: keyBytes, as: UTF8.self) }
}
