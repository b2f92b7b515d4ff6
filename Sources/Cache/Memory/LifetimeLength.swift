internal import FoundationEssentials
internal import FreshetPlatform

/// A ``Lifetime`` in whole nanoseconds, before it begins.
@usableFromInline
struct LifetimeLength: Sendable {
    @usableFromInline let timing: Timing
    /// Nanoseconds, or for ``Timing/wall`` milliseconds since 1970.
    @usableFromInline let length: Int64

    @usableFromInline
    init(_ lifetime: Lifetime) {
        switch lifetime {
        case .unlimited: (timing, length) = (.unlimited, .max)
        case .after(let duration): (timing, length) = (.fixed, duration.clampedNanoseconds)
        case .sliding(let duration): (timing, length) = (.sliding, duration.clampedNanoseconds)
        case .until(let date): (timing, length) = (.wall, Int64(saturating: date.timeIntervalSince1970 * 1_000))
        }
    }

    @inlinable
    func begun(at now: Int64) -> ResolvedLifetime {
        switch timing {
        case .unlimited: ResolvedLifetime(start: now, timing: timing, deadline: .max, span: 0)
        case .fixed, .sliding: ResolvedLifetime(start: now, timing: timing, deadline: now.saturatingAdd(length), span: length)
        case .wall: ResolvedLifetime(start: now, timing: timing, deadline: length, span: 0)
        }
    }
}
