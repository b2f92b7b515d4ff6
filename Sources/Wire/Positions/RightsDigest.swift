/// Eight letters that stand for the records that a reader may read. A cursor states them for a reader that may not read
/// everything, so that the server notices when the reader's rights have changed.
public struct RightsDigest: Hashable, Sendable, CustomStringConvertible {
    /// The number of its letters.
    public static let count = 8

    /// The letters as the bytes of a number, so that a cursor needs no second string.
    private let letters: UInt64

    /// `nil` for any other text than eight of `a-z` and `2-7`.
    public init?(_ text: String) { self.init(utf8: text.utf8) }

    init?(utf8 text: some Collection<UInt8>) {
        guard text.count == Self.count, text.allSatisfy(Self.isLetter) else { return nil }
        letters = text.reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The letters.
    public var description: String { String(decoding: bytes, as: UTF8.self) }

    var bytes: [UInt8] { (0..<Self.count).map { UInt8(truncatingIfNeeded: letters >> UInt64(56 - 8 * $0)) } }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "2")...UInt8(ascii: "7")).contains(byte)
    }
}
