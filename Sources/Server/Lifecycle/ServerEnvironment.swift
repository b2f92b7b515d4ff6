internal import FreshetPlatform

/// The server's sources of time and randomness. Tests and simulators supply others.
public struct ServerEnvironment: Sendable {
    /// Nanoseconds that never go back, from any origin, for deadlines and for the age of deletes and outcomes.
    public var monotonicNanoseconds: @Sendable () -> Int64
    /// Milliseconds since 1970-01-01T00:00:00Z, for `modified`, tokens and certificates, and for how long the server was off.
    public var wallMilliseconds: @Sendable () -> Int64
    /// 64 random bits, for the seeds of epochs and the jitter of `Retry-After`.
    public var random: @Sendable () -> UInt64

    /// An environment of these three, each callable from any thread.
    public init(
        monotonicNanoseconds: @escaping @Sendable () -> Int64, wallMilliseconds: @escaping @Sendable () -> Int64,
        random: @escaping @Sendable () -> UInt64
    ) {
        self.monotonicNanoseconds = monotonicNanoseconds
        self.wallMilliseconds = wallMilliseconds
        self.random = random
    }

    /// The machine's clocks and its random source.
    public static let system = ServerEnvironment(
        monotonicNanoseconds: { SystemClock.monotonicNanoseconds }, wallMilliseconds: { SystemClock.wallMilliseconds },
        random: { UInt64.random(in: .min ... .max) })

    /// Whole seconds to wait before a retry, with jitter, so that clients that were refused together do not come back
    /// together.
    func retryAfter() -> Int { 1 + Int(random() % 4) }
}
