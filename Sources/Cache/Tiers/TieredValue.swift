public import FoundationEssentials

/// A value of a ``TwoTierCache`` with what is known of it. Dates count to the millisecond.
public struct TieredValue<Value: Sendable>: Sendable {
    /// The value.
    public let value: Value
    /// The names under which it can be removed; `nil` where it came from a second tier that keeps none: then it leaves with every tag.
    public let tags: Set<String>?
    /// Where it may be.
    public let protection: DiskProtection
    let recordedAt: Int64
    let verifiedAt: Int64
    let deadline: DiskDeadline
    /// When it is over at the latest unless it is stored anew, in nanoseconds of the uptime clock.
    private let uptimeEnd: Int64
    /// Whether it ends at a moment of the wall clock, however that is set.
    private let endsByWall: Bool

    private init(
        _ value: Value, _ tags: Set<String>?, _ protection: DiskProtection, recordedAt: Int64, verifiedAt: Int64, _ deadline: DiskDeadline,
        endsByWall: Bool, uptimeEnd: Int64
    ) {
        self.value = value
        self.tags = tags
        self.protection = protection
        self.recordedAt = recordedAt
        self.verifiedAt = verifiedAt
        self.deadline = deadline
        self.endsByWall = endsByWall
        self.uptimeEnd = uptimeEnd
    }

    /// A value that comes now.
    ///
    /// - Parameter recordedAt: when it was stored first, if it is only confirmed now.
    init(
        _ value: Value, lifetime: Lifetime, tags: Set<String>?, protection: DiskProtection, recordedAt: Int64? = nil, clock: CacheClock
    ) {
        let wall = clock.wall()
        let span = Span(lifetime)
        self.init(
            value, tags, protection, recordedAt: recordedAt ?? wall, verifiedAt: wall, DiskDeadline(lifetime, from: wall),
            endsByWall: span.timing == .wall,
            uptimeEnd: span.timing == .fixed || span.timing == .sliding ? span.begun(at: clock.uptime()).deadline : .max)
    }

    /// A value that was stored before, with what is left of its lifetime.
    init(_ value: Value, from stored: StoredValue, clock: CacheClock) {
        let (wall, now) = (clock.wall(), clock.uptime())
        let left = stored.deadline.end == .max ? stored.deadline.sliding : max(0, stored.deadline.end.saturatingSubtract(wall))
        self.init(
            value, stored.tags, stored.protection, recordedAt: stored.recordedAt, verifiedAt: stored.verifiedAt, stored.deadline,
            endsByWall: false, uptimeEnd: stored.deadline.isLimited ? now.saturatingAdd(min(left, .max / 1_000_000) * 1_000_000) : .max)
    }

    /// When it was stored.
    public var recorded: Date { DiskDeadline.date(recordedAt) }
    /// When it was last known to be right: when it was stored, or found to be right still.
    public var verified: Date { DiskDeadline.date(verifiedAt) }
    /// When its lifetime is over; `nil` for never, and where each use prolongs it.
    public var expires: Date? { deadline.endDate }
    /// How long each use prolongs it; `nil` where uses do not.
    public var slidingLifetime: Duration? { deadline.slidingLifetime }

    /// Whether its lifetime is over, as far as one knows without its uses.
    func isOver(by clock: CacheClock) -> Bool {
        guard deadline.isLimited else { return false }
        return endsByWall ? clock.wall() >= deadline.end : clock.uptime() >= uptimeEnd
    }

    /// What is left of its lifetime, for a tier in memory.
    func lifetime(by clock: CacheClock) -> Lifetime {
        guard deadline.isLimited else { return .unlimited }
        if let sliding = deadline.slidingLifetime { return .sliding(sliding) }
        if endsByWall { return .until(DiskDeadline.date(deadline.end)) }
        return .after(.nanoseconds(uptimeEnd.saturatingSubtract(clock.uptime())))
    }

    func isTagged(_ tag: String) -> Bool { tags?.contains(tag) ?? true }
}

extension TieredValue: CostedValue where Value: CostedValue {
    /// The cost of the value alone.
    public var cacheCost: Int { value.cacheCost }
}
