/// A time in HTTP's format, in whole seconds: `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 §5.6.7).
package struct HTTPDate: Hashable, Comparable, Sendable {
    /// Seconds since 1970-01-01T00:00:00Z.
    package let seconds: Int64

    package init(seconds: Int64) { self.seconds = seconds }

    package static func < (left: HTTPDate, right: HTTPDate) -> Bool { left.seconds < right.seconds }

    /// Parses all three formats, with letters in either case (RFC 9111 §4.2), and no time zone but GMT.
    ///
    /// - Parameter now: seconds since 1970, to find the century of a two-digit year in the oldest format.
    /// - Returns: `nil` if the text is not a date, or a date that does not exist.
    package init?(_ text: String, now: Int64) {
        var scanner = Scanner(bytes: text.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 })
        guard let seconds = scanner.fixed() ?? scanner.rfc850(now: now) ?? scanner.asctime() else { return nil }
        self.seconds = seconds
    }
}

extension HTTPDate: CustomStringConvertible {
    /// The format that senders must use. Years outside of 0 to 9999 cannot be expressed; they are shown as the nearest
    /// bound.
    package var description: String {
        let bounded = min(max(seconds, -62_167_219_200), 253_402_300_799)
        let days = (bounded >= 0 ? bounded : bounded - 86_399) / 86_400
        let time = bounded - days * 86_400
        let (year, month, day) = CivilDate.date(ofDay: days)
        // 1970-01-01 was a Thursday.
        let weekday = HTTPDate.weekdays[Int((days % 7 + 11) % 7)]
        let clock = [time / 3_600, time / 60 % 60, time % 60].map { Self.digits($0, 2) }.joined(separator: ":")
        let name = { (text: String) in text.prefix(1).uppercased() + text.dropFirst().prefix(2) }
        return "\(name(weekday)), \(Self.digits(day, 2)) \(name(HTTPDate.months[Int(month) - 1])) \(Self.digits(year, 4)) \(clock) GMT"
    }

    private static func digits(_ value: Int64, _ count: Int) -> String {
        let text = String(value)
        return String(repeating: "0", count: max(0, count - text.count)) + text
    }

    fileprivate static let weekdays = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"]
    fileprivate static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
}

/// Days and dates of the Gregorian calendar, by eras of 400 years that begin in March.
private enum CivilDate {
    static func date(ofDay days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
    }

    /// - Returns: `nil` if there is no such day, such as 30 February.
    static func day(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64? {
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let days = era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
        return date(ofDay: days) == (year, month, day) ? days : nil
    }
}

/// Parses the formats from lower-case bytes; each attempt starts at the first byte.
private struct Scanner {
    let bytes: [UInt8]
    var position = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    /// `sun, 06 nov 1994 08:49:37 gmt`
    mutating func fixed() -> Int64? {
        position = 0
        guard name(among: HTTPDate.weekdays.map { $0.prefix(3) }) != nil, skip(", "), let day = number(2), skip(" "),
            let month = name(among: HTTPDate.months.map { $0[...] }), skip(" "), let year = number(4), skip(" "), let time = time(),
            skip(" gmt")
        else { return nil }
        return moment(year, month, day, time)
    }

    /// `sunday, 06-nov-94 08:49:37 gmt`
    mutating func rfc850(now: Int64) -> Int64? {
        position = 0
        guard name(among: HTTPDate.weekdays.map { $0[...] }) != nil, skip(", "), let day = number(2), skip("-"),
            let month = name(among: HTTPDate.months.map { $0[...] }), skip("-"), let short = number(2), skip(" "), let time = time(),
            skip(" gmt")
        else { return nil }
        // A year that seems more than 50 years ahead is the latest such year in the past.
        let thisYear = CivilDate.date(ofDay: (now >= 0 ? now : now - 86_399) / 86_400).year
        var year = thisYear - thisYear % 100 + short
        if year > thisYear + 50 { year -= 100 }
        if year <= thisYear - 50 { year += 100 }
        return moment(year, month, day, time)
    }

    /// `sun nov  6 08:49:37 1994`
    mutating func asctime() -> Int64? {
        position = 0
        guard name(among: HTTPDate.weekdays.map { $0.prefix(3) }) != nil, skip(" "),
            let month = name(among: HTTPDate.months.map { $0[...] }), skip(" "), let day = skip(" ") ? number(1) : number(2), skip(" "),
            let time = time(), skip(" "), let year = number(4)
        else { return nil }
        return moment(year, month, day, time)
    }

    private func moment(_ year: Int64, _ month: Int, _ day: Int64, _ time: Int64) -> Int64? {
        guard position == bytes.count, let day = CivilDate.day(year, Int64(month) + 1, day) else { return nil }
        return day * 86_400 + time
    }

    /// `08:49:37`; a leap second counts as the first of the next minute.
    private mutating func time() -> Int64? {
        guard let hour = number(2), hour < 24, skip(":"), let minute = number(2), minute < 60, skip(":"), let second = number(2),
            second <= 60
        else { return nil }
        return hour * 3_600 + minute * 60 + second
    }

    private mutating func skip(_ text: StaticString) -> Bool {
        let matches = text.withUTF8Buffer { bytes[position...].starts(with: $0) }
        if matches { position += text.utf8CodeUnitCount }
        return matches
    }

    private mutating func number(_ digits: Int) -> Int64? {
        guard position + digits <= bytes.count else { return nil }
        var value: Int64 = 0
        for byte in bytes[position..<position + digits] {
            guard (0x30...0x39).contains(byte) else { return nil }
            value = value * 10 + Int64(byte - 0x30)
        }
        position += digits
        return value
    }

    private mutating func name(among names: [Substring]) -> Int? {
        guard let index = names.firstIndex(where: { bytes[position...].starts(with: $0.utf8) }) else { return nil }
        position += names[index].utf8.count
        return index
    }
}
