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
        let date = civil
        return ASCIIWriter.text(capacity: 24) { text in
            text.write(Int64(date.year), width: 4)
            text.write(UInt8(ascii: "-"))
            text.write(Int64(date.month), width: 2)
            text.write(UInt8(ascii: "-"))
            text.write(Int64(date.day), width: 2)
            text.write(UInt8(ascii: "T"))
            text.write(date)
            text.write(UInt8(ascii: "."))
            text.write(Int64(date.millisecond), width: 3)
            text.write(UInt8(ascii: "Z"))
        }
    }

    /// The preferred HTTP form (IMF-fixdate, RFC 9110 §5.6.7), for example `Sat, 21 Nov 2026 15:34:05 GMT`.
    public var httpDate: String {
        let date = civil
        return ASCIIWriter.text(capacity: 29) { text in
            text.write("SunMonTueWedThuFriSat", number: date.weekday)
            text.write(", ")
            text.write(Int64(date.day), width: 2)
            text.write(UInt8(ascii: " "))
            text.write("JanFebMarAprMayJunJulAugSepOctNovDec", number: date.month - 1)
            text.write(UInt8(ascii: " "))
            text.write(Int64(date.year), width: 4)
            text.write(UInt8(ascii: " "))
            text.write(date)
            text.write(" GMT")
        }
    }

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
        func number(_ range: Range<Int>) -> Int? {
            var value = 0
            for index in range {
                guard (0x30...0x39).contains(bytes[index]) else { return nil }
                value = value * 10 + Int(bytes[index] - 0x30)
            }
            return value
        }
        guard let year = number(0..<4), let month = number(5..<7), let day = number(8..<10), let hour = number(11..<13),
            let minute = number(14..<16), let second = number(17..<19), let millisecond = number(20..<23),
            (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60, second < 60
        else { return nil }
        let days = Self.days(year: year, month: month, day: day)
        let seconds = Int64(days) * 86_400 + Int64(hour * 3_600 + minute * 60 + second)
        let value = Timestamp(milliseconds: seconds * 1_000 + Int64(millisecond))
        // 31 February and its like come back as another day.
        return value.civil.day == day ? value : nil
    }
}

extension Timestamp {
    fileprivate struct Civil {
        var year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int, millisecond: Int, weekday: Int
    }

    /// Days to civil date in the proleptic Gregorian calendar, counted from 1 March of year 0 so that the leap day comes last.
    private var civil: Civil {
        let floor = { (value: Int64, unit: Int64) in value >= 0 ? value / unit : -((unit - 1 - value) / unit) }
        let days = floor(milliseconds, 86_400_000)
        let rest = Int(milliseconds - days * 86_400_000)
        let shifted = Int(days) + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let weekday = (Int(days) % 7 + 11) % 7
        return Civil(
            year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month: month, day: dayOfYear - (153 * shiftedMonth + 2) / 5 + 1,
            hour: rest / 3_600_000, minute: rest / 60_000 % 60, second: rest / 1_000 % 60, millisecond: rest % 1_000, weekday: weekday)
    }

    private static func days(year: Int, month: Int, day: Int) -> Int {
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}

extension ASCIIWriter {
    /// The time of day, `15:34:05`.
    fileprivate mutating func write(_ date: Timestamp.Civil) {
        write(Int64(date.hour), width: 2)
        write(UInt8(ascii: ":"))
        write(Int64(date.minute), width: 2)
        write(UInt8(ascii: ":"))
        write(Int64(date.second), width: 2)
    }

    /// The name of that number in a list of names of three letters.
    fileprivate mutating func write(_ names: StaticString, number: Int) {
        names.withUTF8Buffer { for byte in $0[number * 3..<number * 3 + 3] { write(byte) } }
    }
}
