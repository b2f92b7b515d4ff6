import FreshetWire
import Testing

@Suite("Timestamps")
struct TimestampTests {
    static let moments: [(Int64, String, String)] = [
        (0, "1970-01-01T00:00:00.000Z", "Thu, 01 Jan 1970 00:00:00 GMT"),
        (951_782_400_001, "2000-02-29T00:00:00.001Z", "Tue, 29 Feb 2000 00:00:00 GMT"),
        (1_795_275_245_250, "2026-11-21T15:34:05.250Z", "Sat, 21 Nov 2026 15:34:05 GMT"),
        (-1, "1969-12-31T23:59:59.999Z", "Wed, 31 Dec 1969 23:59:59 GMT"),
        (253_402_300_799_999, "9999-12-31T23:59:59.999Z", "Fri, 31 Dec 9999 23:59:59 GMT"),
        (-62_167_219_200_000, "0000-01-01T00:00:00.000Z", "Sat, 01 Jan 0000 00:00:00 GMT"),
    ]

    @Test("both text forms", arguments: moments)
    func forms(milliseconds: Int64, text: String, httpDate: String) {
        let timestamp = Timestamp(milliseconds: milliseconds)
        #expect(timestamp.description == text)
        #expect(timestamp.httpDate == httpDate)
        #expect(Timestamp(text) == timestamp)
    }

    @Test("beyond what both can show it is clamped")
    func clamps() {
        #expect(Timestamp(milliseconds: .max).description == "9999-12-31T23:59:59.999Z")
        #expect(Timestamp(milliseconds: .min).description == "0000-01-01T00:00:00.000Z")
    }

    @Test("days of 800 years come back")
    func days() {
        for day in stride(from: Int64(-150_000), through: 150_000, by: 17) {
            let timestamp = Timestamp(milliseconds: day * 86_400_000 + 1)
            guard Timestamp(timestamp.description) == timestamp else {
                Issue.record("day \(day) came back as another: \(timestamp)")
                return
            }
        }
    }

    @Test(
        "no other text is a timestamp",
        arguments: [
            "", "2026-02-31T00:00:00.000Z", "2026-13-01T00:00:00.000Z", "2026-01-01 00:00:00.000Z", "2026-01-01T24:00:00.000Z",
            "x026-01-01T00:00:00.000Z",
        ])
    func refuses(text: String) { #expect(Timestamp(text) == nil) }
}
