/// Numbers that look random and follow from a seed alone (SplitMix64, <https://doi.org/10.1145/2714064.2660195>).
struct RandomSource: RandomNumberGenerator, Sendable {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    /// One of several independent sources of a seed.
    init(seed: UInt64, stream: UInt64) { state = Self.mix(seed &+ Self.mix(stream &+ 0x9E37_79B9_7F4A_7C15)) }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        return Self.mix(state)
    }

    /// 0 ..< bound; `bound` is at least 1.
    mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(max(bound, 1))) }

    /// True once in `times`.
    mutating func chance(oneIn times: Int) -> Bool { below(times) == 0 }

    /// One of the items, which there must be.
    mutating func pick<Item>(_ items: [Item]) -> Item { items[below(items.count)] }

    /// A duration between the two, each order of magnitude as likely as any other.
    mutating func duration(_ shortest: Int64, _ longest: Int64) -> Int64 {
        var (low, high) = (max(shortest, 1), max(shortest, 1))
        var magnitudes: [(Int64, Int64)] = []
        while high < longest {
            high = min(low * 4, longest)
            magnitudes.append((low, high))
            low = high
        }
        guard !magnitudes.isEmpty else { return shortest }
        let (from, to) = pick(magnitudes)
        return from + Int64(below(Int(to - from) + 1))
    }

    static func mix(_ value: UInt64) -> UInt64 {
        var word = value
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}
