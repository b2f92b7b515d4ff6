/// Durations as people write them: `250ms`, `5s`, `90m`, `3h`, `2d`.
enum DurationText {
    private static let units: [(name: String, milliseconds: Int64)] = [
        ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1),
    ]

    static func of(_ milliseconds: UInt64) -> String {
        guard milliseconds != 0 else { return "0s" }
        let unit = units.first { milliseconds % UInt64($0.milliseconds) == 0 } ?? ("ms", 1)
        return "\(milliseconds / UInt64(unit.milliseconds))\(unit.name)"
    }

    /// Milliseconds, at least 0; `nil` if the text is no duration.
    static func read(_ text: String) -> Int64? {
        let digits = text.utf8.prefix { (0x30...0x39).contains($0) }
        let name = String(text.utf8.dropFirst(digits.count)) ?? ""
        guard let number = Int64(String(digits) ?? ""), let unit = units.first(where: { $0.name == name }) else { return nil }
        let (product, overflow) = number.multipliedReportingOverflow(by: unit.milliseconds)
        return overflow ? nil : product
    }
}
