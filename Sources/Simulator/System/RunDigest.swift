/// A hash over all that happened in a run, in order: equal for equal runs, in every build and process (FNV-1a over words).
struct RunDigest: Sendable {
    private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    mutating func mix(_ word: UInt64) { value = RandomSource.mix((value ^ word) &* 0x0000_0100_0000_01B3) }

    mutating func mix(_ number: Int64) { mix(UInt64(bitPattern: number)) }
}
