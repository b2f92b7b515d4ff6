internal import FreshetPlatform
internal import FreshetWire

/// Durations, sizes and rates as a configuration writes them.
enum Quantity {
    /// `500ms`, `30s`, `10m`, `24h` or `7d`, in milliseconds.
    static func duration(_ text: String) -> Int64? {
        number(text, [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)])
    }

    /// A duration in the largest unit that has a whole number of it.
    static func text(ofDuration milliseconds: Int64) -> String {
        let units: [(name: String, factor: Int64)] = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)]
        return units.first { milliseconds.isMultiple(of: $0.factor) }.map { "\(milliseconds / $0.factor)\($0.name)" } ?? ""
    }

    /// `512B`, `64KiB`, `4MiB`, `10GiB` or `2TiB`, in bytes.
    static func size(_ text: String) -> Int64? {
        number(text, [("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40), ("B", 1)])
    }

    /// `20/s`, `10/m` or `100/h`; with `isSize`, `4MiB/s`.
    static func rate(_ text: String, isSize: Bool) -> Rate? {
        guard let slash = text.utf8.lastIndex(of: UInt8(ascii: "/")) else { return nil }
        let amount = String(text[..<slash])
        let periods: [String: Int64] = ["s": 1_000, "m": 60_000, "h": 3_600_000]
        guard let period = periods[String(text[text.utf8.index(after: slash)...])],
            let count = isSize ? size(amount) : number(amount, [("", 1)]), (1...Rate.maximumCount).contains(count)
        else { return nil }
        return Rate(count, per: period)
    }

    /// Digits without a needless zero, and one of the units.
    private static func number(_ text: String, _ units: [(name: String, factor: Int64)]) -> Int64? {
        let digits = text.utf8.prefix { (0x30...0x39).contains($0) }
        let unit = text.utf8.dropFirst(digits.count)
        guard let value = Int64(String(Substring(digits))), digits.first != UInt8(ascii: "0") || digits.count == 1,
            let factor = units.first(where: { unit.elementsEqual($0.name.utf8) })?.factor
        else { return nil }
        let (product, overflows) = value.multipliedReportingOverflow(by: factor)
        return overflows ? nil : product
    }
}

extension StrictReader {
    /// A duration within `range`, in milliseconds.
    mutating func duration(_ range: ClosedRange<Int64>) throws(TrustError) -> Int64 {
        let text = try string()
        guard let value = Quantity.duration(text) else {
            throw fail("'\(text.shortened)' is no duration: it takes ms, s, m, h or d, such as 24h")
        }
        guard range.contains(value) else {
            let (least, most) = (Quantity.text(ofDuration: range.lowerBound), Quantity.text(ofDuration: range.upperBound))
            throw fail("'\(text.shortened)' is out of range: it takes \(least) to \(most)")
        }
        return value
    }

    /// A size in bytes, at least 1.
    mutating func size() throws(TrustError) -> Int64 {
        let text = try string()
        guard let value = Quantity.size(text), value > 0 else {
            throw fail("'\(text.shortened)' is no size: it takes B, KiB, MiB, GiB or TiB, such as 10GiB")
        }
        return value
    }

    mutating func rate(isSize: Bool = false) throws(TrustError) -> Rate {
        let text = try string()
        guard let rate = Quantity.rate(text, isSize: isSize) else {
            throw fail(
                "'\(text.shortened)' is no rate: it takes \(isSize ? "a size" : "a number") and /s, /m or /h, such as \(isSize ? "4MiB/s" : "20/s")"
            )
        }
        return rate
    }
}
