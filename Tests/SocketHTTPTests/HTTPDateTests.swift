import Testing

@testable import SocketHTTP

@Suite("HTTP date")
struct HTTPDateTests {
    @Test(
        "Moments are written as RFC 9110 writes them",
        arguments: [
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (951_782_399, "Mon, 28 Feb 2000 23:59:59 GMT"),
            (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
            (951_868_800, "Wed, 01 Mar 2000 00:00:00 GMT"),
            (1_709_164_800, "Thu, 29 Feb 2024 00:00:00 GMT"),
            (1_735_689_599, "Tue, 31 Dec 2024 23:59:59 GMT"),
            (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
            (253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT"),
            (-1, "Wed, 31 Dec 1969 23:59:59 GMT"),
            (-62_167_219_200, "Sat, 01 Jan 0000 00:00:00 GMT"),
        ])
    func format(seconds: Int, text: String) {
        #expect(String(decoding: HTTPDate.format(seconds), as: UTF8.self) == text)
    }

    @Test("Weekdays go round")
    func weekdays() {
        // Given a fortnight around the epoch, Then each day's name follows the other
        let names = (-7...7).map { String(decoding: HTTPDate.format($0 * 86_400).prefix(3), as: UTF8.self) }
        #expect(names == ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed", "Thu"])
    }
}
