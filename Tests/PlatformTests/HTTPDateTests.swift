import FreshetPlatform
import Testing

@Suite struct HTTPDateTests {
    /// 2024-05-01T00:00:00Z
    private let now: Int64 = 1_714_521_600

    @Test(
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Wed Nov 16 08:49:37 1994", 784_975_777),
            ("sUN, 06 nOV 1994 08:49:37 gmt", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Wed, 31 Dec 1969 23:59:59 GMT", -1), ("Thu, 29 Feb 2024 12:00:00 GMT", 1_709_208_000),
            ("Tue, 19 Jan 2038 03:14:08 GMT", 2_147_483_648), ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
            ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_800),
            // Two digits of a year: at most 50 years ahead.
            ("Tuesday, 01-May-74 00:00:00 GMT", 3_292_358_400), ("Thursday, 01-May-75 00:00:00 GMT", 168_134_400),
        ] as [(String, Int64)])
    func everyFormatIsRead(_ text: String, _ seconds: Int64) {
        #expect(HTTPDate(text, now: now)?.seconds == seconds)
    }

    @Test(arguments: [
        "", "0", "-1", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06 Nov 1994 08:49:37 CEST",
        "Sun, 06 Nov 1994 08:49:37 +0000", "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 94 08:49:37 GMT", "Sun 06 Nov 1994 08:49:37 GMT",
        "Sun, 06  Nov 1994 08:49:37 GMT", "Sun, 06-Nov-1994 08:49:37 GMT", "Sun, 06 Nov 1994 08.49.37 GMT", "Sun, 06 Nov 1994 8:49:37 GMT",
        "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:00 GMT", "Sun, 06 Nov 1994 08:49:61 GMT", "Thu, 30 Feb 2024 12:00:00 GMT",
        "Wed, 29 Feb 2023 12:00:00 GMT", "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 32 Oct 1994 08:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37 GMT ", " Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT, x", "Sun Nov 6 08:49:37 1994",
        "1994-11-06T08:49:37Z", "Sun, 06 Növ 1994 08:49:37 GMT",
    ])
    func whatIsNoDateIsNone(_ text: String) {
        #expect(HTTPDate(text, now: now) == nil)
    }

    @Test func whatIsWrittenIsReadAgain() {
        // Given moments all over the calendar
        for seconds in stride(from: Int64(-62_167_219_200), through: 253_402_300_799, by: 86_399 * 4_001) {
            let text = HTTPDate(seconds: seconds).description
            // Then each has 29 bytes that mean it
            #expect(text.utf8.count == 29 && HTTPDate(text, now: now)?.seconds == seconds)
        }
        #expect(HTTPDate(seconds: 784_111_777).bytes == Array("Sun, 06 Nov 1994 08:49:37 GMT".utf8))
        #expect(HTTPDate(seconds: 784_111_777).description == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(HTTPDate(seconds: .max).description == "Fri, 31 Dec 9999 23:59:59 GMT")
        #expect(HTTPDate(seconds: .min).description == "Sat, 01 Jan 0000 00:00:00 GMT")
    }

    @Test(
        "the last and the first second of a day, a year and a leap day",
        arguments: [
            (951_782_399, "Mon, 28 Feb 2000 23:59:59 GMT"), (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
            (951_868_800, "Wed, 01 Mar 2000 00:00:00 GMT"), (1_735_689_599, "Tue, 31 Dec 2024 23:59:59 GMT"),
            (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"), (-1, "Wed, 31 Dec 1969 23:59:59 GMT"),
        ] as [(Int64, String)])
    func turnsOfTheCalendar(_ seconds: Int64, _ text: String) {
        #expect(HTTPDate(seconds: seconds).description == text)
    }

    @Test("weekdays follow each other, before 1970 too") func weekdays() {
        let names = (-7...7).map { HTTPDate(seconds: $0 * 86_400).description.prefix(3) }
        #expect(names == ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed", "Thu"])
    }
}
