public import FoundationEssentials

/// A tier that outlives the process: ``DiskCache``, or one of your own.
///
/// A ``TwoTierCache`` never has two calls for one name under way that write, nor any beside a call that removes many. A tier may forget what
/// it likes. One that throws has not done what it was asked: reads are misses then, and what may be outdated is not read again until
/// it is overwritten or removed.
public protocol SecondaryCacheTier: Sendable {
    /// What is under a name.
    func storedValue(named name: [UInt8]) async throws -> StoredValue?
    /// Stores a value in the place of any other. Returns when it can be read back.
    func store(_ value: StoredValue, named name: [UInt8]) async throws
    /// Removes what is under a name.
    func removeValue(named name: [UInt8]) async throws
    /// Removes everything.
    func removeAll() async throws
    /// Removes at least the values that have a tag; all, unless told otherwise.
    func removeValues(taggedWith tag: String) async throws
    /// Removes at least the values whose names begin with these bytes; all, unless told otherwise.
    func removeValues(withPrefix prefix: [UInt8]) async throws
    /// Removes everything, and goes on with values of another schema, if one is given. Unless told otherwise it removes everything.
    func invalidateEverything(schema: String?) async throws
}

extension SecondaryCacheTier {
    /// Removes everything: a tier without tags forgets more than it has to.
    public func removeValues(taggedWith tag: String) async throws { try await removeAll() }
    /// Removes everything: a tier that cannot list its names forgets more than it has to.
    public func removeValues(withPrefix prefix: [UInt8]) async throws { try await removeAll() }
    /// Removes everything.
    public func invalidateEverything(schema: String?) async throws { try await removeAll() }
}

/// A value in a ``SecondaryCacheTier``, with what is to be kept with it. Dates count to the millisecond.
public struct StoredValue: Hashable, Sendable {
    /// The value, as its ``CacheValueCoding`` made it.
    public let bytes: [UInt8]
    /// The names under which it can be removed; `nil` where the tier does not keep them: then it leaves memory with every tag.
    public let tags: Set<String>?
    /// Whether it may only be stored encrypted. Never ``DiskProtection/memoryOnly``.
    public let protection: DiskProtection
    let recordedAt: Int64
    let verifiedAt: Int64
    let deadline: DiskDeadline

    init(
        bytes: [UInt8], tags: Set<String>?, protection: DiskProtection, recordedAt: Int64, verifiedAt: Int64, deadline: DiskDeadline
    ) {
        self.bytes = bytes
        self.tags = tags
        self.protection = protection
        self.recordedAt = recordedAt
        self.verifiedAt = verifiedAt
        self.deadline = deadline
    }

    /// A value that a tier has read.
    ///
    /// - Parameters:
    ///   - expires: when its lifetime is over; `nil` for never.
    ///   - slidingLifetime: how long each use prolongs it; `nil` where uses do not.
    public init(
        bytes: [UInt8], recorded: Date, verified: Date, expires: Date?, slidingLifetime: Duration? = nil, tags: Set<String>?,
        protection: DiskProtection = .plain
    ) {
        func milliseconds(_ date: Date) -> Int64 { Int64(saturating: (date.timeIntervalSince1970 * 1_000).rounded()) }
        self.init(
            bytes: bytes, tags: tags, protection: protection, recordedAt: milliseconds(recorded), verifiedAt: milliseconds(verified),
            deadline: DiskDeadline(
                end: expires.map(milliseconds) ?? .max, sliding: slidingLifetime.map { max(1, DiskDeadline.milliseconds($0)) } ?? 0))
    }

    /// When it was stored.
    public var recorded: Date { DiskDeadline.date(recordedAt) }
    /// When it was last known to be right.
    public var verified: Date { DiskDeadline.date(verifiedAt) }
    /// When its lifetime is over; `nil` for never, and where each use prolongs it.
    public var expires: Date? { deadline.endDate }
    /// How long each use prolongs it; `nil` where uses do not.
    public var slidingLifetime: Duration? { deadline.slidingLifetime }
}
