/// A hash of 64 bits that detects damaged bytes, and numbers keys. It does not withstand an attacker: for that, encrypt.
///
/// Multiplies 64 by 64 bits and folds the 128 bits of the product, 16 bytes a step: several bytes a nanosecond.
enum DiskChecksum {
    private static let first: UInt64 = 0x9E6C_63D0_876A_68DF
    private static let second: UInt64 = 0xD3B3_1AE5_4C0F_9B27
    private static let third: UInt64 = 0xA0F2_EC75_92D1_4E5B

    /// O(bytes). Different seeds give unrelated sums.
    static func of(_ bytes: UnsafeRawBufferPointer, seed: UInt64) -> UInt64 {
        var state = seed ^ third
        var offset = 0
        while offset &+ 16 <= bytes.count {
            state = step(state, word(bytes, offset), word(bytes, offset &+ 8))
            offset &+= 16
        }
        if offset < bytes.count {
            var low: UInt64 = 0
            var high: UInt64 = 0
            if bytes.count &- offset >= 8 {
                low = word(bytes, offset)
                high = partial(bytes, offset &+ 8)
            } else {
                low = partial(bytes, offset)
            }
            state = step(state, low, high)
        }
        return fold(state ^ UInt64(bytes.count), first) ^ fold(state, second)
    }

    static func of(_ bytes: [UInt8], seed: UInt64) -> UInt64 { bytes.withUnsafeBytes { of($0, seed: seed) } }

    /// Adds the state to the product, so that a product of zero does not discard the earlier words.
    private static func step(_ state: UInt64, _ low: UInt64, _ high: UInt64) -> UInt64 {
        fold(low ^ first, high ^ state ^ second) &+ (state << 23 | state >> 41)
    }

    private static func fold(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let product = left.multipliedFullWidth(by: right)
        return product.high ^ product.low
    }

    private static func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
        UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    /// Fewer than eight bytes, to the end.
    private static func partial(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
        var word: UInt64 = 0
        var index = bytes.count
        while index > offset {
            index &-= 1
            word = word << 8 | UInt64(bytes[index])
        }
        return word
    }
}
