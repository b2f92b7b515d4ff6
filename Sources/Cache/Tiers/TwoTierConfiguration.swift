public import Logging

extension TwoTierCache {
    /// The configuration of a ``TwoTierCache``.
    public struct Configuration: Sendable {
        /// The lifetime of a value whose write does not state one.
        public var lifetime = Lifetime.standard
        /// The protection of a value whose write does not state one.
        public var protection = DiskProtection.plain
        /// The most values that may be queued for the second tier, 4,096 by default. Beyond that a value stays in
        /// memory alone. Queued values take memory besides the first tier's limits: lower this for large values.
        public var stagedLimit = 4_096
        /// The time for a load, five minutes by default; nil for any time. Afterwards all callers get
        /// ``LoadError/timedOut(key:after:)``, the load is cancelled, and the key can be loaded again. It bounds what a
        /// load waits for, also in a detached task. Measured by a clock that stops with the system.
        public var loadTimeout: Duration? = .seconds(300)
        /// The source of time. Tiers have separate clocks, which should show the same time.
        public var clock = CacheClock.system
        /// The logger for failures.
        public var logger = Logger(label: "freshet.cache.tiers")

        /// Creates the default configuration.
        public init() {}
    }
}
