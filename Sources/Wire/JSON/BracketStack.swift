/// The open arrays and objects of a value that is skipped, one bit each. Allocates nothing up to 64 levels.
struct BracketStack {
    enum Bracket { case object, array }

    private(set) var count = 0
    /// The innermost 1 to 64, the last lowest; a set bit is an object.
    private var bits: UInt64 = 0
    /// The brackets around those, 64 in each.
    private var outer: [UInt64] = []

    var last: Bracket? { count == 0 ? nil : bits & 1 == 1 ? .object : .array }

    mutating func append(_ bracket: Bracket) {
        if count > 0, count % 64 == 0 { outer.append(bits) }
        bits = bits << 1 | (bracket == .object ? 1 : 0)
        count += 1
    }

    mutating func removeLast() {
        count -= 1
        bits >>= 1
        if count > 0, count % 64 == 0 { bits = outer.removeLast() }
    }
}
