internal import FoundationEssentials
internal import FreshetPlatform

/// How an entry's end is measured.
@usableFromInline
enum Timing: UInt8, Sendable {
    case unlimited, fixed, sliding, wall
}

/// A lifetime that began at a moment, as an entry keeps it.
@usableFromInline
struct ResolvedLifetime: Sendable {
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

extension Int64 {
    /// The sum, clamped to the range of `Int64`.
    @inlinable
    package func saturatingAdd(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other > 0 ? .max : .min) : sum
    }

    /// The difference, clamped to the range of `Int64`.
    package func saturatingSubtract(_ other: Int64) -> Int64 {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (other > 0 ? .min : .max) : difference
    }

    /// The number rounded towards zero and clamped to the range of `Int64`; zero for NaN.
    package init(saturating value: Double) {
        self = value.isNaN ? 0 : value >= 0x1p63 ? .max : value <= -0x1p63 ? .min : Int64(value)
    }
}
