/// A number to add: whole as long as it can be, since counters must stay exact.
public enum JSONNumber: Hashable, Sendable, CustomStringConvertible {
    /// A whole number of 64 bits.
    case integer(Int64)
    /// Any other, always finite.
    case real(Double)

    /// Reads a JSON number. A whole number beyond 64 bits becomes a real one; `nil` beyond the range of `Double`.
    public init?(literal: String) {
        if let whole = Int64(literal) {
            self = .integer(whole)
        } else if let real = Double(literal), real.isFinite {
            self = .real(real)
        } else {
            return nil
        }
    }

    /// The sum; whole if both are and it fits in 64 bits. `nil` when it is beyond the range of `Double`.
    public func adding(_ other: JSONNumber) -> JSONNumber? {
        if case .integer(let left) = self, case .integer(let right) = other {
            let (sum, overflow) = left.addingReportingOverflow(right)
            if !overflow { return .integer(sum) }
        }
        let sum = real + other.real
        return sum.isFinite ? .real(sum) : nil
    }

    private var real: Double {
        switch self {
        case .integer(let value): Double(value)
        case .real(let value): value
        }
    }

    /// The number as JSON spells it.
    public var description: String {
        switch self {
        case .integer(let value): String(value)
        case .real(let value): value.description
        }
    }
}
