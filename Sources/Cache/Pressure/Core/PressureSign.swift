/// What one look at memory says.
enum PressureSign: Int, Comparable, Sendable, CaseIterable {
    /// There is enough.
    case calm
    /// Not enough to grow again, not so little as to shrink: between the two, so that nothing swings about one limit.
    case tense
    /// Work has begun to wait for memory.
    case warning
    /// Work stands still for want of memory, or is about to be killed.
    case critical

    static func < (left: PressureSign, right: PressureSign) -> Bool { left.rawValue < right.rawValue }

    init(_ level: MemoryPressure.Level) {
        switch level {
        case .normal: self = .calm
        case .warning: self = .warning
        case .critical: self = .critical
        }
    }
}
