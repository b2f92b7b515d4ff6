internal import FoundationEssentials
internal import FreshetPlatform

/// The time at which an operation began.
@usableFromInline
struct Moment: Sendable {
    /// Nanoseconds of the uptime clock.
    @usableFromInline let uptime: Int64
    /// Milliseconds since 1970; the least number if no entry ends by the wall clock.
    @usableFromInline let wall: Int64

    @inlinable
    init(uptime: Int64, wall: Int64) {
        self.uptime = uptime
        self.wall = wall
    }
}

/// How an entry's end is measured.
@usableFromInline
enum Timing: UInt8, Sendable {
    case unlimited, fixed, sliding, wall
}

/// A lifetime that began at a moment, as an entry keeps it.
@usableFromInline
struct Term: Sendable {
    @usableFromInline let start: Int64
    @usableFromInline let timing: Timing
    @usableFromInline let deadline: Int64
    @usableFromInline let span: Int64

    @inlinable
    init(start: Int64, timing: Timing, deadline: Int64, span: Int64) {
        self.start = start
        self.timing = timing
        self.deadline = deadline
        self.span = span
    }
}

/// A ``Lifetime`` in whole nanoseconds, before it begins.
@usableFromInline
struct Span: Sendable {
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
    func begun(at now: Int64) -> Term {
        switch timing {
        case .unlimited: Term(start: now, timing: timing, deadline: .max, span: 0)
        case .fixed, .sliding: Term(start: now, timing: timing, deadline: now.saturatingAdd(length), span: length)
        case .wall: Term(start: now, timing: timing, deadline: length, span: 0)
        }
    }
}

extension Int64 {
    /// The sum, clamped to the range of `Int64`.
    @inlinable
    func saturatingAdd(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other > 0 ? .max : .min) : sum
    }

    /// The difference, clamped to the range of `Int64`.
    func saturatingSubtract(_ other: Int64) -> Int64 {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (other > 0 ? .min : .max) : difference
    }

    /// A thousand times as much, clamped to the range of `Int64`.
    var saturatingThousandfold: Int64 {
        let (product, overflow) = multipliedReportingOverflow(by: 1_000)
        return overflow ? (self > 0 ? .max : .min) : product
    }

    /// The number rounded towards zero and clamped to the range of `Int64`; zero for NaN.
    init(saturating value: Double) {
        self = value.isNaN ? 0 : value >= 0x1p63 ? .max : value <= -0x1p63 ? .min : Int64(value)
    }
}
