public import Logging

extension TwoTierCache {
    /// How a ``TwoTierCache`` works.
    public struct Configuration: Sendable {
        /// How long a value is given out if its caller does not say.
        public var lifetime = Lifetime.standard
        /// Where a value may be if its caller does not say.
        public var protection = DiskProtection.plain
        /// The most values that may wait for the second tier; one more stays in memory alone. 4,096 unless told otherwise.
        public var stagedLimit = 4_096
        /// Where time comes from; tiers have clocks of their own, which should be the same.
        public var clock = CacheClock.system
        /// Where it says what is wrong.
        public var logger = Logger(label: "freshet.cache.tiers")

        /// What has the values given above.
        public init() {}
    }
}
