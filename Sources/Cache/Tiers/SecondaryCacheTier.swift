public import FoundationEssentials
internal import FreshetPlatform

/// A tier that outlives the process: ``DiskCache``, or a custom type.
///
/// A ``TwoTierCache`` never runs two writes of one name concurrently, and no write concurrently with a call that
/// removes many values. A tier may forget any value at any time. A call that throws counts as not done: a failed read
/// is a miss, and a value that may be outdated is not read again until it is overwritten or removed. A call has no time
/// limit, so a tier limits what it waits for itself; it must not wait for the cache that calls it.
public protocol SecondaryCacheTier: Sendable {
    /// The value under a name.
    func storedValue(named name: [UInt8]) async throws -> StoredValue?
    /// Stores a value and replaces any other. Returns when the value can be read back.
    func store(_ value: StoredValue, named name: [UInt8]) async throws
    /// Removes the value under a name.
    func removeValue(named name: [UInt8]) async throws
    /// Removes everything.
    func removeAll() async throws
    /// Removes at least the values that have a tag. By default removes all.
    func removeValues(taggedWith tag: CacheTag) async throws
    /// Removes at least the values whose names begin with these bytes. By default removes all.
    func removeValues(withPrefix prefix: [UInt8]) async throws
    /// Removes everything, and continues with values of another schema if one is given. By default only removes
    /// everything.
    func invalidateEverything(schema: String?) async throws
}

extension SecondaryCacheTier {
    /// Removes everything: a tier without tags removes more than necessary.
    public func removeValues(taggedWith tag: CacheTag) async throws { try await removeAll() }
    /// Removes everything: a tier that cannot list its names removes more than necessary.
    public func removeValues(withPrefix prefix: [UInt8]) async throws { try await removeAll() }
    /// Removes everything.
    public func invalidateEverything(schema: String?) async throws { try await removeAll() }
}

/// A value in a ``SecondaryCacheTier``, with its metadata. Dates have a resolution of one millisecond.
public struct StoredValue: Hashable, Sendable {
    /// The value, as encoded by its ``CacheValueCoding``.
    public let bytes: [UInt8]
    /// The tags by which the value can be removed; `nil` if the tier does not store tags. Removing any tag then removes
    /// the value from memory.
    public let tags: Set<CacheTag>?
    /// Whether the value may only be stored encrypted. Never ``DiskProtection/memoryOnly``.
    public let protection: DiskProtection
    let storedTime: Int64
    let validatedTime: Int64
    let deadline: DiskDeadline

    init(
        bytes: [UInt8], tags: Set<CacheTag>?, protection: DiskProtection, storedTime: Int64, validatedTime: Int64, deadline: DiskDeadline
    ) {
        self.bytes = bytes
        self.tags = tags
        self.protection = protection
        self.storedTime = storedTime
        self.validatedTime = validatedTime
        self.deadline = deadline
    }

    /// Creates a value that a tier has read.
    ///
    /// - Parameters:
    ///   - expiresAt: when the lifetime is over; `nil` for never.
    ///   - slidingLifetime: by how long each use extends the lifetime; `nil` if uses do not.
    public init(
        bytes: [UInt8], storedAt: Date, validatedAt: Date, expiresAt: Date?, slidingLifetime: Duration? = nil, tags: Set<CacheTag>?,
        protection: DiskProtection = .plain
    ) {
        func milliseconds(_ date: Date) -> Int64 { Int64(saturating: (date.timeIntervalSince1970 * 1_000).rounded()) }
        self.init(
            bytes: bytes, tags: tags, protection: protection, storedTime: milliseconds(storedAt), validatedTime: milliseconds(validatedAt),
            deadline: DiskDeadline(
                end: expiresAt.map(milliseconds) ?? .max, sliding: slidingLifetime.map { max(1, $0.clampedMilliseconds) } ?? 0))
    }

    /// When the value was stored.
    public var storedAt: Date { DiskDeadline.date(storedTime) }
    /// When the value was last known to be right.
    public var validatedAt: Date { DiskDeadline.date(validatedTime) }
    /// When the lifetime is over; `nil` for never, and if each use extends it.
    public var expiresAt: Date? { deadline.endDate }
    /// By how long each use extends the lifetime; `nil` if uses do not.
    public var slidingLifetime: Duration? { deadline.slidingLifetime }
}
