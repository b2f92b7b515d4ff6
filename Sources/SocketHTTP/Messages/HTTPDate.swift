import Synchronization

/// The `Date` field's format, RFC 9110 §5.6.7: `Sun, 06 Nov 1994 08:49:37 GMT`.
enum HTTPDate {
    /// The 29 bytes that name a moment, in seconds since 1970-01-01T00:00:00Z, of the years 0 to 9999.
    static func format(_ seconds: Int) -> [UInt8] {
        let days = floorDivide(seconds, 86_400)
        let time = seconds - days * 86_400
        let (year, month, day) = civilDate(days)
        // 1970-01-01 was a Thursday.
        let weekday = (days % 7 + 11) % 7
        var text: [UInt8] = []
        text.reserveCapacity(29)
        text.append(contentsOf: "Sun, Mon, Tue, Wed, Thu, Fri, Sat, ".utf8.dropFirst(weekday * 5).prefix(5))
        appendDigits(day, 2, to: &text)
        text.append(contentsOf: " Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec ".utf8.dropFirst((month - 1) * 4).prefix(5))
        appendDigits(year, 4, to: &text)
        text.append(.space)
        appendDigits(time / 3600, 2, to: &text)
        text.append(UInt8(ascii: ":"))
        appendDigits(time / 60 % 60, 2, to: &text)
        text.append(UInt8(ascii: ":"))
        appendDigits(time % 60, 2, to: &text)
        text.append(contentsOf: " GMT".utf8)
        return text
    }

    /// The date of a day counted from 1970-01-01, in the Gregorian calendar, by eras of 400 years that begin in March.
    private static func civilDate(_ days: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = days + 719_468
        let era = floorDivide(shifted, 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
    }

    private static func floorDivide(_ value: Int, _ divisor: Int) -> Int {
        value >= 0 ? value / divisor : -((-value + divisor - 1) / divisor)
    }

    private static func appendDigits(_ value: Int, _ count: Int, to text: inout [UInt8]) {
        var divisor = 1
        for _ in 1..<count { divisor *= 10 }
        while divisor > 0 {
            text.append(UInt8(ascii: "0") + UInt8(value / divisor % 10))
            divisor /= 10
        }
    }

    /// The current date, formatted once a second for the whole process.
    static func now() -> [UInt8] {
        let second = Clock.wallSeconds()
        return cache.withLock { cache in
            if cache.second != second { cache = (second, format(second)) }
            return cache.text
        }
    }

    private static let cache = Mutex<(second: Int, text: [UInt8])>((Int.min, []))
}
