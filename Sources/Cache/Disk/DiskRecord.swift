internal import Glibc

/// The stored bytes of one key: a head of fixed size, the key, and the value, or the name of the file that holds it.
///
/// The first eight bytes are a checksum over all the others, which include the key and the lifetime. A record of which any part is changed,
/// or taken from another record, does not decode.
struct DiskRecord: Hashable, Sendable {
    /// Where the value is.
    enum Location: Hashable, Sendable {
        case inline([UInt8])
        /// In a file of this unique number, with so many bytes of this checksum.
        case file(unique: UInt64, count: Int, checksum: UInt64)
    }

    /// The part before the key. Little-endian, dates in milliseconds since 1970.
    struct Head: Hashable, Sendable {
        static let count = 64
        var isEncrypted: Bool
        /// When the value was stored.
        var recorded: Int64
        /// When the value was last known to be right.
        var verified: Int64
        var deadline: DiskDeadline
    }

    static let version: UInt8 = 1
    /// The seeds of a record's and of a file's checksum differ, so that neither passes for the other.
    private static let recordSeed: UInt64 = 2
    private static let fileSeed: UInt64 = 3

    var head: Head
    var location: Location

    /// Whether it is all there is to the value: neither is that in a file, nor has it to be decrypted.
    var canBeOpenedAtOnce: Bool { if case .inline = location { !head.isEncrypted } else { false } }

    static func checksum(file bytes: [UInt8]) -> UInt64 { DiskChecksum.of(bytes, seed: fileSeed) }

    /// The form in which it is stored under the key. O(value).
    func encoded(key: [UInt8]) -> [UInt8] {
        let length: Int
        var checksum: UInt64 = 0
        var flags: UInt8 = head.isEncrypted ? 1 : 0
        switch location {
        case .inline(let bytes): length = bytes.count
        case .file(_, let count, let sum):
            length = count
            checksum = sum
            flags |= 2
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Head.count + key.count + (flags & 2 == 0 ? length : 8))
        Self.append(0, to: &bytes)
        Self.append(UInt64(Self.version) | UInt64(flags) << 8 | UInt64(UInt32(truncatingIfNeeded: key.count)) << 32, to: &bytes)
        for value in [head.recorded, head.verified, head.deadline.end, head.deadline.sliding, Int64(length)] {
            Self.append(UInt64(bitPattern: value), to: &bytes)
        }
        Self.append(checksum, to: &bytes)
        bytes += key
        switch location {
        case .inline(let value): bytes += value
        case .file(let unique, _, _): Self.append(unique, to: &bytes)
        }
        let sum = bytes.withUnsafeBytes { DiskChecksum.of(UnsafeRawBufferPointer(rebasing: $0[8...]), seed: Self.recordSeed) }
        bytes.withUnsafeMutableBytes { $0.storeBytes(of: sum.littleEndian, as: UInt64.self) }
        return bytes
    }

    private static func append(_ value: UInt64, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    /// Decodes the bytes that are stored under a key; `nil` if they are damaged, or another key's. O(value).
    static func decode(_ bytes: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer) -> DiskRecord? {
        guard bytes.count >= Head.count + key.count else { return nil }
        let kind = word(bytes, 8)
        guard kind >> 32 == UInt64(key.count), kind & 0xFF == UInt64(version), kind & 0xFFFF_FC00 == 0,
            isSame(key, UnsafeRawBufferPointer(rebasing: bytes[Head.count..<(Head.count + key.count)])), isSound(bytes)
        else { return nil }
        return read(bytes, kind, UnsafeRawBufferPointer(rebasing: bytes[(Head.count + key.count)...]))
    }

    /// Compares two keys of the same length.
    private static func isSame(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
        guard let start = left.baseAddress, let other = right.baseAddress else { return left.isEmpty }
        return memcmp(start, other, left.count) == 0
    }

    private static func isSound(_ bytes: UnsafeRawBufferPointer) -> Bool {
        DiskChecksum.of(UnsafeRawBufferPointer(rebasing: bytes[8...]), seed: recordSeed) == word(bytes, 0)
    }

    private static func read(_ bytes: UnsafeRawBufferPointer, _ kind: UInt64, _ rest: UnsafeRawBufferPointer) -> DiskRecord? {
        let head = Head(
            isEncrypted: kind >> 8 & 1 == 1, recorded: Int64(bitPattern: word(bytes, 16)), verified: Int64(bitPattern: word(bytes, 24)),
            deadline: DiskDeadline(end: Int64(bitPattern: word(bytes, 32)), sliding: Int64(bitPattern: word(bytes, 40))))
        let length = Int64(bitPattern: word(bytes, 48))
        if kind >> 9 & 1 == 1 {
            guard rest.count == 8, length >= 0 else { return nil }
            return DiskRecord(head: head, location: .file(unique: word(rest, 0), count: Int(length), checksum: word(bytes, 56)))
        }
        guard length == Int64(rest.count) else { return nil }
        return DiskRecord(head: head, location: .inline(Array(rest)))
    }

    private static func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
        UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
}
