/// Gives as many random numbers as an event needs, from the 64 bits that came with the event (SplitMix64).
struct SeededRandom: Hashable, Sendable {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    /// Returns a number in 0 ..< bound.
    mutating func below(_ bound: Int64) -> Int64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return Int64((word ^ (word >> 31)) % UInt64(bound))
    }
}
