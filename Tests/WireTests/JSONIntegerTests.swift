import FreshetWire
import Testing

/// Whole numbers, of which few digits are read without a text in between.
@Suite struct JSONIntegerTests {
    /// Readers of the text alone, and of the text with something behind it.
    private func readers(_ text: String) -> [JSONReader] { ["", ",", " ", "]", "\n"].map { JSONReader(Array((text + $0).utf8)) } }

    @Test(
        arguments: [
            0, 7, -7, 999_999_999_999_999_999, -999_999_999_999_999_999, 1_000_000_000_000_000_000, .max, .min,
        ] as [Int64]) func isReadAsItIsWritten(number: Int64) throws
    {
        for var reader in readers("\(number)") { #expect(try reader.integer() == number && reader.position == "\(number)".utf8.count) }
    }

    @Test(
        "reads a whole number with a fraction or an exponent",
        arguments: [("3.0", 3), ("-1e2", -100), ("-0", 0), ("9007199254740991.0", (1 << 53) - 1)])
    func fraction(text: String, number: Int64) throws {
        for var reader in readers(text) { #expect(try reader.integer() == number && reader.position == text.utf8.count) }
    }

    @Test(arguments: [
        "9223372036854775808", "-9223372036854775809", "1.5", "1e-1", "9007199254740993.0", "1e16", "1e999", "-", "01", "-01", "00",
        "99999999999999999999999",
    ])
    func isRefused(text: String) {
        for var reader in readers(text) { #expect(throws: WireError.self) { try reader.integer() } }
    }
}
