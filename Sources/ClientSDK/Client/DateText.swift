internal import FoundationEssentials
internal import FreshetPlatform
internal import FreshetWire

/// Dates in JSON as ISO 8601 in UTC, such as `2026-11-21T15:34:05Z` or `2026-11-21T15:34:05.25Z` (RFC 3339).
enum DateText {
    /// Returns the text of a date in the years 0000 … 9999; `nil` for another one.
    ///
    /// With as many digits after the second as are needed to read the same `Date`: none, 3, 6 or 9. Within some months of
    /// 2001, where a `Date` is finer than that, it is rounded to nanoseconds.
    static func text(of date: Date) -> String? {
        let time = date.timeIntervalSinceReferenceDate
        guard time.isFinite, range.contains(time) else { return nil }
        let whole = time.rounded(.down)
        for (digits, unit) in [(0, 1), (3, 1_000), (6, 1_000_000), (9, 1_000_000_000)] {
            var seconds = Int64(whole)
            var fraction = Int64(((time - whole) * Double(unit)).rounded())
            if fraction == unit { (seconds, fraction) = (seconds + 1, 0) }
            guard digits == 9 || self.time(seconds, fraction, of: unit) == time else { continue }
            return text(seconds, fraction, digits)
        }
        return nil
    }

    /// Parses RFC 3339 with any number of digits after the second, in UTC or with an offset; `nil` for any other form.
    static func date(of text: String) -> Date? {
        var text = text
        return text.withUTF8 { bytes in
            guard bytes.count >= 20, bytes[4] == dash, bytes[7] == dash, bytes[10] | 0x20 == UInt8(ascii: "t"), bytes[13] == colon,
                bytes[16] == colon, let year = number(bytes[0..<4]), let month = number(bytes[5..<7]), let day = number(bytes[8..<10]),
                let hour = number(bytes[11..<13]), let minute = number(bytes[14..<16]), let second = number(bytes[17..<19]),
                hour < 24, minute < 60, second <= 60, let date = CivilDate(year: year, month: month, day: day)
            else { return nil }
            var rest = bytes[19...]
            var (fraction, unit): (Int64, Int64) = (0, 1)
            if rest.first == UInt8(ascii: ".") {
                rest.removeFirst()
                let digits = rest.prefix { (0x30...0x39).contains($0) }
                guard !digits.isEmpty else { return nil }
                rest.removeFirst(digits.count)
                for digit in digits.prefix(15) { (fraction, unit) = (fraction * 10 + Int64(digit - 0x30), unit * 10) }
            }
            guard let offset = offset(rest) else { return nil }
            let seconds = date.daysSince1970 * 86_400 + hour * 3_600 + minute * 60 + second - offset - epoch
            return Date(timeIntervalSinceReferenceDate: time(seconds, fraction, of: Int(unit)))
        }
    }

    // MARK: Parts

    private static let dash = UInt8(ascii: "-")
    private static let colon = UInt8(ascii: ":")
    /// 2001-01-01T00:00:00Z in seconds since 1970.
    private static let epoch: Int64 = 978_307_200
    /// The years 0000 … 9999, in seconds since 2001.
    private static let range = -63_145_526_400.0..<252_423_993_600.0

    private static func time(_ seconds: Int64, _ fraction: Int64, of unit: Int) -> Double {
        Double(seconds) + Double(fraction) / Double(unit)
    }

    private static func text(_ sinceReference: Int64, _ fraction: Int64, _ digits: Int) -> String {
        let (date, rest) = CivilDate.split(secondsSince1970: sinceReference + epoch)
        let day = "\(padded(date.year, 4))-\(padded(date.month, 2))-\(padded(date.day, 2))"
        let time = "\(padded(rest / 3_600, 2)):\(padded(rest / 60 % 60, 2)):\(padded(rest % 60, 2))"
        return "\(day)T\(time)\(digits == 0 ? "" : ".\(padded(fraction, digits))")Z"
    }

    private static func padded(_ number: Int64, _ width: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
    }

    private static func number(_ digits: Slice<UnsafeBufferPointer<UInt8>>) -> Int64? {
        var value: Int64 = 0
        for digit in digits {
            guard (0x30...0x39).contains(digit) else { return nil }
            value = value * 10 + Int64(digit - 0x30)
        }
        return value
    }

    /// Seconds east of UTC.
    private static func offset(_ text: Slice<UnsafeBufferPointer<UInt8>>) -> Int64? {
        guard let first = text.first else { return nil }
        if first | 0x20 == UInt8(ascii: "z") { return text.count == 1 ? 0 : nil }
        guard first == UInt8(ascii: "+") || first == dash, text.count == 6, text[text.startIndex + 3] == colon,
            let hours = number(text.dropFirst().prefix(2)), let minutes = number(text.suffix(2)), hours < 24, minutes < 60
        else { return nil }
        return (hours * 3_600 + minutes * 60) * (first == dash ? -1 : 1)
    }
}

extension JSONEncoder {
    /// The encoder of ``ValueCodec/json(encoder:decoder:)``: sorted member names, and dates as ISO 8601.
    static var freshet: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .custom { date, encoder in
            guard let text = DateText.text(of: date) else {
                // Without the date itself: describing a date that is too far away traps.
                let seconds = date.timeIntervalSinceReferenceDate
                let reason = "a date takes a year from 0 to 9999; this one is \(seconds) seconds after 2001"
                throw EncodingError.invalidValue(seconds, .init(codingPath: encoder.codingPath, debugDescription: reason))
            }
            var container = encoder.singleValueContainer()
            try container.encode(text)
        }
        return encoder
    }
}

extension JSONDecoder {
    /// The decoder of ``ValueCodec/json(encoder:decoder:)``.
    static var freshet: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { decoder in
            let container = try decoder.singleValueContainer()
            // The form of earlier versions.
            if let seconds = try? container.decode(Double.self) { return Date(timeIntervalSinceReferenceDate: seconds) }
            let text = try container.decode(String.self)
            guard let date = DateText.date(of: text) else {
                throw DecodingError.dataCorruptedError(in: container, debugDescription: "'\(text)' is no date as of RFC 3339")
            }
            return date
        }
        return decoder
    }
}
