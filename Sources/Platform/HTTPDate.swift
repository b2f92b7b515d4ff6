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
    package var description: String { String(unsafeUninitializedCapacity: Self.length) { buffer in write(to: buffer) } }

    /// The 29 bytes of ``description``.
    package var bytes: [UInt8] {
        [UInt8](unsafeUninitializedCapacity: Self.length) { buffer, count in count = write(to: buffer) }
    }

    private static let length = 29

    /// - Returns: the number of bytes written.
    private func write(to buffer: UnsafeMutableBufferPointer<UInt8>) -> Int {
        let (date, second) = CivilDate.split(secondsSince1970: min(max(seconds, -62_167_219_200), 253_402_300_799))
        var writer = Writer(buffer: buffer)
        writer.write("SunMonTueWedThuFriSat", part: date.weekday)
        writer.write(", ")
        writer.write(date.day, digits: 2)
        writer.write(" ")
        writer.write("JanFebMarAprMayJunJulAugSepOctNovDec", part: Int(date.month) - 1)
        writer.write(" ")
        writer.write(date.year, digits: 4)
        writer.write(" ")
        writer.write(second / 3_600, digits: 2)
        writer.write(":")
        writer.write(second / 60 % 60, digits: 2)
        writer.write(":")
        writer.write(second % 60, digits: 2)
        writer.write(" GMT")
        return writer.count
    }

    private struct Writer {
        let buffer: UnsafeMutableBufferPointer<UInt8>
        var count = 0

        private mutating func write(_ byte: UInt8) {
            buffer[count] = byte
            count += 1
        }

        mutating func write(_ text: StaticString) { text.withUTF8Buffer { for byte in $0 { write(byte) } } }

        /// Writes one of the names of three letters each that `names` consists of.
        mutating func write(_ names: StaticString, part: Int) {
            names.withUTF8Buffer { for byte in $0[part * 3..<part * 3 + 3] { write(byte) } }
        }

        mutating func write(_ value: Int64, digits: Int) {
            var divisor: Int64 = digits == 4 ? 1_000 : 10
            while divisor > 0 {
                write(UInt8(ascii: "0") + UInt8(value / divisor % 10))
                divisor /= 10
            }
        }
    }

    fileprivate static let weekdays = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"]
    fileprivate static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
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
        let thisYear = CivilDate.split(secondsSince1970: now).date.year
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
        guard position == bytes.count, let date = CivilDate(year: year, month: Int64(month) + 1, day: day) else { return nil }
        return date.daysSince1970 * 86_400 + time
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
