public import FoundationEssentials

/// A value of a ``TwoTierCache`` with its metadata. Dates have a resolution of one millisecond.
public struct TieredValue<Value: Sendable>: Sendable {
    /// The value.
    public let value: Value
    /// The tags by which the value can be removed; `nil` if it came from a second tier without tags. Removing any tag
    /// then removes the value.
    public let tags: Set<CacheTag>?
    /// Where the value may be stored.
    public let protection: DiskProtection
    let storedTime: Int64
    let validatedTime: Int64
    let deadline: DiskDeadline
    /// When the lifetime is over at the latest unless the value is stored again, in nanoseconds of the uptime clock.
    private let uptimeEnd: Int64
    /// Whether the lifetime ends at a fixed wall-clock time, even if that clock is set.
    private let endsByWall: Bool

    private init(
        _ value: Value, _ tags: Set<CacheTag>?, _ protection: DiskProtection, storedTime: Int64, validatedTime: Int64,
        _ deadline: DiskDeadline,
        endsByWall: Bool, uptimeEnd: Int64
    ) {
        self.value = value
        self.tags = tags
        self.protection = protection
        self.storedTime = storedTime
        self.validatedTime = validatedTime
        self.deadline = deadline
        self.endsByWall = endsByWall
        self.uptimeEnd = uptimeEnd
    }

    /// Creates a value that is stored or confirmed now.
    ///
    /// - Parameter recordedAt: when the value was first stored, if it is only confirmed now.
    init(
        _ value: Value, lifetime: Lifetime, tags: Set<CacheTag>?, protection: DiskProtection, storedTime: Int64? = nil, clock: CacheClock
    ) {
        let wall = clock.wall()
        let span = LifetimeLength(lifetime)
        self.init(
            value, tags, protection, storedTime: storedTime ?? wall, validatedTime: wall, DiskDeadline(lifetime, from: wall),
            endsByWall: span.timing == .wall,
            uptimeEnd: span.timing == .fixed || span.timing == .sliding ? span.begun(at: clock.uptime()).deadline : .max)
    }

    /// Creates a value from a stored one, with the rest of its lifetime.
    init(_ value: Value, from stored: StoredValue, clock: CacheClock) {
        let (wall, now) = (clock.wall(), clock.uptime())
        let left = stored.deadline.end == .max ? stored.deadline.sliding : max(0, stored.deadline.end.saturatingSubtract(wall))
        self.init(
            value, stored.tags, stored.protection, storedTime: stored.storedTime, validatedTime: stored.validatedTime, stored.deadline,
            endsByWall: false, uptimeEnd: stored.deadline.isLimited ? now.saturatingAdd(min(left, .max / 1_000_000) * 1_000_000) : .max)
    }

    /// When the value was stored.
    public var storedAt: Date { DiskDeadline.date(storedTime) }
    /// When the value was last known to be right: when it was stored, or last marked as verified.
    public var validatedAt: Date { DiskDeadline.date(validatedTime) }
    /// When the lifetime is over; `nil` for never, and if each use extends it.
    public var expiresAt: Date? { deadline.endDate }
    /// By how long each use extends the lifetime; `nil` if uses do not.
    public var slidingLifetime: Duration? { deadline.slidingLifetime }

    /// Whether the lifetime is over. Uses that extended a sliding lifetime are not known here.
    func isExpired(by clock: CacheClock) -> Bool {
        guard deadline.isLimited else { return false }
        return endsByWall ? clock.wall() >= deadline.end : clock.uptime() >= uptimeEnd
    }

    /// The rest of the lifetime, for a tier in memory.
    func lifetime(by clock: CacheClock) -> Lifetime {
        guard deadline.isLimited else { return .unlimited }
        if let sliding = deadline.slidingLifetime { return .sliding(sliding) }
        if endsByWall { return .until(DiskDeadline.date(deadline.end)) }
        return .after(.nanoseconds(uptimeEnd.saturatingSubtract(clock.uptime())))
    }

    func isTagged(_ tag: CacheTag) -> Bool { tags?.contains(tag) ?? true }
}

extension TieredValue: CostedValue where Value: CostedValue {
    /// The cost of the value alone.
    public var cacheCost: Int { value.cacheCost }
}
