/// The result of one reading of memory.
enum PressureLevel: Int, Comparable, Sendable, CaseIterable {
    /// Memory suffices.
    case calm
    /// Too little memory to grow, but enough not to shrink. Keeps caches from oscillating around one limit.
    case tense
    /// Tasks have begun to wait for memory.
    case warning
    /// All tasks wait for memory, or a task is about to be killed.
    case critical

    static func < (left: PressureLevel, right: PressureLevel) -> Bool { left.rawValue < right.rawValue }

    init(_ level: MemoryPressure.Level) {
        switch level {
        case .normal: self = .calm
        case .warning: self = .warning
        case .critical: self = .critical
        }
    }
}
