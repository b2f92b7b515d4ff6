/// A day of the Gregorian calendar, which holds for all years before it too.
package struct CivilDate: Hashable, Sendable {
    package let year: Int64
    /// 1 to 12.
    package let month: Int64
    /// 1 to 31.
    package let day: Int64

    /// The date of a day, by eras of 400 years that begin with 1 March, so that the leap day comes last.
    ///
    /// - Parameter days: counted from 1970-01-01, within some billions of years. Beyond, it traps.
    package init(daysSince1970 days: Int64) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    }

    /// A date by its numbers; `nil` where there is none, as 31 February.
    package init?(year: Int64, month: Int64, day: Int64) {
        guard (1...12).contains(month), (1...31).contains(day) else { return nil }
        let date = CivilDate(daysSince1970: Self.days(year, month, day))
        guard date.day == day else { return nil }
        self = date
    }

    /// The date of a moment, and the seconds since its midnight, both in UTC.
    ///
    /// - Parameter seconds: counted from 1970-01-01T00:00:00Z.
    package static func split(secondsSince1970 seconds: Int64) -> (date: CivilDate, secondOfDay: Int64) {
        let days = (seconds >= 0 ? seconds : seconds - 86_399) / 86_400
        return (CivilDate(daysSince1970: days), seconds - days * 86_400)
    }

    /// How many days it comes after 1970-01-01.
    package var daysSince1970: Int64 { Self.days(year, month, day) }

    /// 0 for Sunday to 6. 1970-01-01 was a Thursday.
    package var weekday: Int { Int((daysSince1970 % 7 + 11) % 7) }

    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}
