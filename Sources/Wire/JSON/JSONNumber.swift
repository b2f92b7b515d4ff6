/// A number to add: whole as long as it can be, since counters must stay exact.
public enum JSONNumber: Hashable, Sendable, CustomStringConvertible {
    /// A whole number of 64 bits.
    case integer(Int64)
    /// Any other, always finite.
    case real(Double)

    /// Reads a JSON number. `nil` for a whole number beyond 64 bits, which would not stay exact, and beyond the range of `Double`.
    public init?(literal: String) {
        if let whole = Int64(literal) {
            self = .integer(whole)
        } else if literal.utf8.contains(where: Self.isPartOfReal), let real = Double(literal), real.isFinite {
            self = .real(real)
        } else {
            return nil
        }
    }

    private static func isPartOfReal(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: ".") || byte == UInt8(ascii: "e") || byte == UInt8(ascii: "E")
    }

    /// The sum; whole if both are.
    ///
    /// - Returns: `nil` when it is beyond the range of `Double`, and where this number is whole and the sum is beyond 64 bits: a counter
    ///   never becomes inexact by its size.
    public func adding(_ other: JSONNumber) -> JSONNumber? {
        switch (self, other) {
        case (.integer(let left), .integer(let right)):
            let (sum, overflow) = left.addingReportingOverflow(right)
            return overflow ? nil : .integer(sum)
        case (.integer(let left), .real(let right)):
            let sum = Double(left) + right
            return Self.beginningOfIntegers <= sum && sum < -Self.beginningOfIntegers ? .real(sum) : nil
        case (.real(let left), _):
            let sum = left + other.real
            return sum.isFinite ? .real(sum) : nil
        }
    }

    /// −2^63.
    private static let beginningOfIntegers = -0x1p63

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

extension JSONNumber {
    /// Compares the values, exactly even if one is whole and the other is not.
    package static func < (left: JSONNumber, right: JSONNumber) -> Bool {
        switch (left, right) {
        case (.integer(let left), .integer(let right)): left < right
        case (.real(let left), .real(let right)): left < right
        case (.integer(let left), .real(let right)): order(left, right) < 0
        case (.real(let left), .integer(let right)): order(right, left) > 0
        }
    }

    /// Negative if `whole` is less than `real`, 0 if they are equal.
    private static func order(_ whole: Int64, _ real: Double) -> Int {
        let floor = real.rounded(.down)
        guard floor >= beginningOfIntegers else { return 1 }
        guard floor < -beginningOfIntegers else { return -1 }
        let other = Int64(floor)
        if whole != other { return whole < other ? -1 : 1 }
        return floor < real ? -1 : 0
    }
}
