/// The name of a member, or another word of the protocol, as it was read. It is compared with literals without a
/// `String`.
///
/// ```swift
/// switch try reader.nextMember() {
/// case "key"?: …
/// ```
package struct JSONName: Hashable, Sendable, CustomStringConvertible {
    /// The bytes of a short name, the first lowest, and zeros after them.
    private let low: UInt64
    private let high: UInt64
    private let count: Int
    /// A longer name.
    private let long: String?

    private static let inlineCount = 16

    /// - Parameter bytes: UTF-8 without escapes.
    init(_ bytes: UnsafeRawBufferPointer) {
        count = bytes.count
        guard bytes.count <= Self.inlineCount else {
            (low, high, long) = (0, 0, String(decoding: bytes, as: UTF8.self))
            return
        }
        (low, high) = Self.words(bytes)
        long = nil
    }

    init(_ text: String) {
        var text = text
        self = text.withUTF8 { JSONName(UnsafeRawBufferPointer($0)) }
    }

    /// The name as a text.
    package var text: String {
        if let long { return long }
        return String(unsafeUninitializedCapacity: count) { memory in
            for index in 0..<count {
                let word = index < 8 ? low : high
                memory[index] = UInt8(truncatingIfNeeded: word >> UInt64(index % 8 * 8))
            }
            return count
        }
    }

    /// The name itself.
    package var description: String { text }

    /// Compares with literals in a `switch`. O(1) for a name of at most 16 bytes.
    package static func ~= (literal: StaticString, name: JSONName) -> Bool { name == literal }

    /// Whether the bytes are the same.
    package static func == (name: JSONName, literal: StaticString) -> Bool {
        guard literal.utf8CodeUnitCount == name.count else { return false }
        let bytes = UnsafeRawBufferPointer(start: literal.utf8Start, count: name.count)
        if let long = name.long { return long.utf8.elementsEqual(bytes) }
        return words(bytes) == (name.low, name.high)
    }

    @inline(__always)
    private static func words(_ bytes: UnsafeRawBufferPointer) -> (UInt64, UInt64) {
        guard bytes.count > 8 else { return (word(bytes), 0) }
        return (UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self)), word(UnsafeRawBufferPointer(rebasing: bytes[8...])))
    }

    /// Loads at most eight bytes, the first lowest. The loads may overlap but stay within the bytes.
    @inline(__always)
    private static func word(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        let count = bytes.count
        if count >= 4 {
            let first = UInt64(UInt32(littleEndian: bytes.loadUnaligned(as: UInt32.self)))
            let last = UInt64(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: count - 4, as: UInt32.self)))
            return first | last << UInt64((count - 4) * 8)
        }
        guard count > 0 else { return 0 }
        return UInt64(bytes[0]) | UInt64(bytes[count / 2]) << UInt64(count / 2 * 8) | UInt64(bytes[count - 1]) << UInt64((count - 1) * 8)
    }
}
