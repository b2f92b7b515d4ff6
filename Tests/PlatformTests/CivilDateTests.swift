import FreshetPlatform
import Testing

@Suite("Days and dates of the calendar")
struct CivilDateTests {
    @Test("each day of 1,200 years, walked one by one, is the date that follows by the rule for leap years")
    func walk() throws {
        // Given the first day of the year -400, which was a Saturday as 1600 began with one
        var (year, month, day): (Int64, Int64, Int64) = (-400, 1, 1)
        var days = try #require(CivilDate(year: year, month: month, day: day)).daysSince1970
        var weekday = 6
        func length(_ month: Int64, of year: Int64) -> Int64 {
            guard month == 2 else { return [4, 6, 9, 11].contains(month) ? 30 : 31 }
            return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        }
        while year < 800 {
            // Then both directions agree
            let date = CivilDate(daysSince1970: days)
            guard date == CivilDate(year: year, month: month, day: day), date.year == year, date.month == month, date.day == day,
                date.daysSince1970 == days, date.weekday == weekday
            else {
                Issue.record("day \(days) is \(date), and not \(year)-\(month)-\(day), weekday \(weekday)")
                return
            }
            // And the day after a month's last is none of it
            if day == length(month, of: year), CivilDate(year: year, month: month, day: day + 1) != nil {
                Issue.record("\(year)-\(month) has a day \(day + 1)")
            }
            (days, weekday, day) = (days + 1, (weekday + 1) % 7, day + 1)
            if day > length(month, of: year) { (month, day) = (month + 1, 1) }
            if month > 12 { (year, month) = (year + 1, 1) }
        }
    }

    @Test(
        "a moment is a date and its seconds, before 1970 too",
        arguments: [
            (0, 1970, 1, 1, 0), (-1, 1969, 12, 31, 86_399), (86_399, 1970, 1, 1, 86_399), (-86_400, 1969, 12, 31, 0),
            (1_795_275_245, 2026, 11, 21, 56_045), (-62_167_219_200, 0, 1, 1, 0), (253_402_300_799, 9999, 12, 31, 86_399),
        ] as [(Int64, Int64, Int64, Int64, Int64)])
    func moments(seconds: Int64, year: Int64, month: Int64, day: Int64, secondOfDay: Int64) {
        let (date, second) = CivilDate.split(secondsSince1970: seconds)
        #expect(date == CivilDate(year: year, month: month, day: day) && second == secondOfDay)
    }

    @Test("there is no such day", arguments: [(2026, 2, 29), (1900, 2, 29), (2026, 13, 1), (2026, 0, 1), (2026, 1, 0), (2026, 4, 31)])
    func none(year: Int64, month: Int64, day: Int64) { #expect(CivilDate(year: year, month: month, day: day) == nil) }
}
