internal import FreshetPlatform

/// A moment for people to read, in milliseconds since 1970-01-01T00:00:00Z. Nothing is ordered or expired by it.
public struct Timestamp: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// Milliseconds since 1970, within the years 0000 … 9999.
    public let milliseconds: Int64

    /// Clamps to the years 0000 … 9999, which both text forms can show.
    public init(milliseconds: Int64) {
        self.milliseconds = min(max(milliseconds, -62_167_219_200_000), 253_402_300_799_999)
    }

    /// By time.
    public static func < (left: Timestamp, right: Timestamp) -> Bool { left.milliseconds < right.milliseconds }

    /// RFC 3339 with milliseconds in UTC, for example `2026-11-21T15:34:05.250Z`.
    public var description: String {
        let (seconds, millisecond) = parts
        let (date, second) = CivilDate.split(secondsSince1970: seconds)
        return ASCIIWriter.text(capacity: 24) { text in
            text.write(date.year, width: 4)
            text.write(UInt8(ascii: "-"))
            text.write(date.month, width: 2)
            text.write(UInt8(ascii: "-"))
            text.write(date.day, width: 2)
            text.write(UInt8(ascii: "T"))
            text.write(secondOfDay: second)
            text.write(UInt8(ascii: "."))
            text.write(millisecond, width: 3)
            text.write(UInt8(ascii: "Z"))
        }
    }

    /// The preferred HTTP form (IMF-fixdate, RFC 9110 §5.6.7), for example `Sat, 21 Nov 2026 15:34:05 GMT`.
    package var httpDate: String { HTTPDate(seconds: parts.seconds).description }

    /// Reads what ``description`` writes; `nil` for any other form.
    public init?(_ text: String) {
        var text = text
        guard let value = text.withUTF8(Self.read) else { return nil }
        self = value
    }

    private static func read(_ bytes: UnsafeBufferPointer<UInt8>) -> Timestamp? {
        guard bytes.count == 24, bytes[4] == 0x2D, bytes[7] == 0x2D, bytes[10] == 0x54, bytes[13] == 0x3A, bytes[16] == 0x3A,
            bytes[19] == 0x2E, bytes[23] == 0x5A
        else { return nil }
        // Every change of a page has one: without a branch for each digit.
        var areDigits = true
        func digit(_ index: Int) -> Int64 {
            let value = bytes[index] &- 0x30
            areDigits = areDigits && value < 10
            return Int64(value)
        }
        func pair(_ index: Int) -> Int64 { digit(index) * 10 + digit(index + 1) }
        let (year, month, day) = (pair(0) * 100 + pair(2), pair(5), pair(8))
        let (hour, minute, second, millisecond) = (pair(11), pair(14), pair(17), pair(20) * 10 + digit(22))
        guard areDigits, hour < 24, minute < 60, second < 60, let date = CivilDate(year: year, month: month, day: day) else { return nil }
        let seconds = date.daysSince1970 * 86_400 + hour * 3_600 + minute * 60 + second
        return Timestamp(milliseconds: seconds * 1_000 + millisecond)
    }
}

extension Timestamp {
    /// The parts of the text forms.
    private var parts: (seconds: Int64, millisecond: Int64) {
        let seconds = (milliseconds >= 0 ? milliseconds : milliseconds - 999) / 1_000
        return (seconds, milliseconds - seconds * 1_000)
    }
}

extension ASCIIWriter {
    /// The time of day, `15:34:05`.
    fileprivate mutating func write(secondOfDay second: Int64) {
        write(second / 3_600, width: 2)
        write(UInt8(ascii: ":"))
        write(second / 60 % 60, width: 2)
        write(UInt8(ascii: ":"))
        write(second % 60, width: 2)
    }
}
