import FreshetHTTPCache
import HTTPTypes

/// Lifetimes and ages: RFC 9111 §4.2.
extension CacheCase {
    static let freshness = maxAge + ages + expires + heuristics

    private static let maxAge: [CacheCase] = cases {
        reused("max-age, the last second", after: 59, age: 59, "Cache-Control: max-age=60")
        asked("max-age, the first second after", after: 60, "Cache-Control: max-age=60")
        asked("max-age, long after", after: 6_000, "Cache-Control: max-age=60")
        asked("max-age of zero", "Cache-Control: max-age=0")
        reused("max-age in capitals", after: 59, "CACHE-CONTROL: MAX-AGE=60")
        reused("max-age quoted", after: 59, "Cache-Control: max-age=\"60\"")
        reused("max-age with leading zeros", after: 59, "Cache-Control: max-age=0060")
        reused("max-age just under 2^31", after: 31_536_000, "Cache-Control: max-age=2147483647")
        reused("max-age of 2^31", after: 31_536_000, "Cache-Control: max-age=2147483648")
        reused("max-age above 2^31", after: 31_536_000, "Cache-Control: max-age=99999999999999999999")
        asked("max-age, negative", "Cache-Control: max-age=-60")
        asked("max-age with a fraction", "Cache-Control: max-age=60.0")
        asked("max-age with a letter before", "Cache-Control: max-age=a60")
        asked("max-age with a letter after", "Cache-Control: max-age=60a")
        asked("max-age in single quotes", "Cache-Control: max-age='60'")
        asked("max-age with a space before the sign", "Cache-Control: max-age =60")
        asked("max-age with a space after the sign", "Cache-Control: max-age= 60")
        asked("max-age without a number", "Cache-Control: max-age")
        asked("max-age inside another's quotation", "Cache-Control: a=\"max-age=60\"")
        reused("max-age after another's quotation", after: 59, "Cache-Control: a=\"max-age=1, b\", max-age=60")
        reused("max-age among unknown directives", after: 59, "Cache-Control: x, y=1, max-age=60, z=\"1\"")
        reused("max-age twice the same", after: 59, "Cache-Control: max-age=60, max-age=60")
        asked("max-age twice, differing on a line", "Cache-Control: max-age=60, max-age=1")
        asked("max-age twice, differing on two lines", "Cache-Control: max-age=1", "Cache-Control: max-age=60")
        reused("max-age on the second line", after: 59, "Cache-Control: public", "Cache-Control: max-age=60")
        reused("s-maxage does not shorten max-age", after: 59, "Cache-Control: max-age=60, s-maxage=1")
        asked("s-maxage does not lengthen max-age", after: 1, "Cache-Control: s-maxage=60, max-age=1")
        asked("s-maxage alone means nothing", "Cache-Control: s-maxage=60")
        reused("max-age beats an Expires in the past", after: 59, "Cache-Control: max-age=60", "Expires: @-60")
        reused("max-age beats an Expires that is no date", after: 59, "Cache-Control: max-age=60", "Expires: 0")
        asked("max-age of zero beats an Expires to come", "Cache-Control: max-age=0", "Expires: @60")
        asked("max-age that is invalid beats an Expires to come", "Cache-Control: max-age=x", "Expires: @60")
        asked("nothing says how long", "X-Nothing: 1")
    }

    private static let ages: [CacheCase] = cases {
        reused("Age counts", after: 29, age: 59, "Cache-Control: max-age=60", "Age: 30")
        asked("Age counts to the second", after: 30, "Cache-Control: max-age=60", "Age: 30")
        asked("Age that uses up the lifetime", "Cache-Control: max-age=60", "Age: 60")
        asked("Age beyond all numbers", "Cache-Control: max-age=60", "Age: 99999999999999999999")
        reused("Age that is no number is ignored", after: 59, age: 59, "Cache-Control: max-age=60", "Age: abc")
        reused("Age that is negative is ignored", after: 59, "Cache-Control: max-age=60", "Age: -100")
        reused("Age with a fraction is ignored", after: 59, "Cache-Control: max-age=60", "Age: 100.5")
        reused("Age with a parameter is ignored", after: 59, "Cache-Control: max-age=60", "Age: 100;x")
        reused("Age as a list is its first", after: 49, age: 59, "Cache-Control: max-age=60", "Age: 10, 100")
        asked("Age as a list is its first, which is enough", after: 0, "Cache-Control: max-age=60", "Age: 100, 10")
        reused("Age on two lines is the first", after: 49, age: 59, "Cache-Control: max-age=60", "Age: 10", "Age: 100")
        reused(
            "a date in the past makes older", after: 29, age: 59, answer: .ok("first", "Cache-Control: max-age=60", "Date: @-30").undated())
        asked(
            "a date in the past makes older, to the second", after: 30,
            answer: .ok("first", "Cache-Control: max-age=60", "Date: @-30").undated())
        reused(
            "a date to come does not make younger", after: 59, age: 59,
            answer: .ok("first", "Cache-Control: max-age=60", "Date: @90").undated())
        asked(
            "a date to come does not make last longer", after: 60, answer: .ok("first", "Cache-Control: max-age=60", "Date: @90").undated())
        reused("no date at all", after: 59, age: 59, answer: .ok("first", "Cache-Control: max-age=60").undated())
        reused("a date that is none", after: 59, age: 59, answer: .ok("first", "Cache-Control: max-age=60", "Date: today").undated())
        reused(
            "Age and date: the greater counts", after: 19, age: 59,
            answer: .ok("first", "Cache-Control: max-age=60", "Age: 40", "Date: @-30").undated())
        reused("the time under way counts", after: 49, age: 59, answer: .ok("first", "Cache-Control: max-age=60").late(10))
        asked("the time under way counts to the second", after: 50, answer: .ok("first", "Cache-Control: max-age=60").late(10))
        reused("the time under way adds to Age", after: 19, age: 59, answer: .ok("first", "Cache-Control: max-age=60", "Age: 30").late(10))
        CacheCase(
            "a response from the cache has an Age, a fetched one keeps the origin's",
            .get(.network, "a", origin: .ok("a", "Cache-Control: max-age=60", "Age: 7")).age(7), .get(.cache, "a").age(7), .wait(5),
            .get(.cache, "a").age(12))
        CacheCase(
            "a clock set back a little changes nothing",
            .get(.network, "a", origin: .ok("a", "Cache-Control: max-age=60")), .wait(-30), .get(.cache, "a").age(0))
        CacheCase(
            "a clock set back far makes the age unknown",
            .get(.network, "a", origin: .ok("a", "Cache-Control: max-age=60", "ETag: \"1\"")), .wait(-7_200),
            .get(.validated, "a", origin: .notModified()))
    }

    private static let expires: [CacheCase] = cases {
        validated("Expires that is empty", "Expires:", "Last-Modified: @-100000")
        reused("Expires, the last second", after: 59, age: 59, "Expires: @60")
        asked("Expires, the first second after", after: 60, "Expires: @60")
        asked("Expires in the past", "Expires: @-60")
        asked("Expires at the date", "Expires: @0")
        asked("Expires of zero", "Expires: 0")
        asked("Expires of minus one", "Expires: -1")
        asked("Expires that is empty of sense", "Expires: soon")
        reused("Expires is measured from the date", after: 9, age: 39, answer: .ok("first", "Expires: @10", "Date: @-30").undated())
        asked("Expires is measured from the date, to the second", after: 10, answer: .ok("first", "Expires: @10", "Date: @-30").undated())
        reused("Expires from a clock that is fast", after: 29, answer: .ok("first", "Expires: @50", "Date: @20").undated())
        asked("Expires from a clock that is fast, to the second", after: 30, answer: .ok("first", "Expires: @50", "Date: @20").undated())
        reused("Expires without a date", after: 59, answer: .ok("first", "Expires: @60").undated())
        reused("Expires with Age", after: 29, age: 59, "Expires: @60", "Age: 30")
        asked("Expires with Age, to the second", after: 30, "Expires: @60", "Age: 30")
        reused("Expires in the old format", after: 59, "Expires: Wednesday, 01-May-24 00:01:00 GMT")
        reused("Expires in the format of C", after: 59, "Expires: Wed May  1 00:01:00 2024")
        reused("Expires in other case", after: 59, "Expires: wED, 01 mAY 2024 00:01:00 gmt")
        reused("Expires beyond 2038", after: 31_536_000, "Expires: Thu, 18 Aug 2050 02:01:18 GMT")
        reused("Expires at the end of all years", after: 31_536_000, "Expires: Fri, 31 Dec 9999 23:59:59 GMT")
        asked("Expires in UTC", "Expires: Wed, 01 May 2024 00:01:00 UTC")
        asked("Expires in another zone", "Expires: Wed, 01 May 2024 10:01:00 AEST")
        asked("Expires with two digits of the year", "Expires: Wed, 01 May 24 00:01:00 GMT")
        asked("Expires without a comma", "Expires: Wed 01 May 2024 00:01:00 GMT")
        asked("Expires with two spaces", "Expires: Wed, 01  May 2024 00:01:00 GMT")
        asked("Expires with hyphens", "Expires: Wed, 01-May-2024 00:01:00 GMT")
        asked("Expires with points", "Expires: Wed, 01 May 2024 00.01.00 GMT")
        asked("Expires with one digit of the hour", "Expires: Wed, 01 May 2024 0:01:00 GMT")
        asked("Expires twice, differing", "Expires: @60", "Expires: @120")
        reused("Expires twice the same", after: 59, "Expires: @60", "Expires: @60")
    }

    private static let heuristics: [CacheCase] = cases {
        reused("a tenth of the time since it was modified", after: 99, "Last-Modified: @-1000")
        validated("a tenth of the time since it was modified, to the second", after: 100, "Last-Modified: @-1000")
        reused("at most a day is guessed", after: 86_399, "Last-Modified: @-315360000")
        validated("at most a day is guessed, to the second", after: 86_400, "Last-Modified: @-315360000")
        validated("modified in the future", "Last-Modified: @1000")
        validated("modified just now", "Last-Modified: @0")
        asked("modified at no date", "Last-Modified: yesterday")
        validated("no guess beside an Expires", "Last-Modified: @-1000", "Expires: @0")
        validated("no guess beside an invalid max-age", "Last-Modified: @-1000", "Cache-Control: max-age=x")
        reused(
            "a guess from the date and not from the clock", after: 69, answer: .ok("first", "Last-Modified: @-1030", "Date: @-30").undated()
        )
        reused("a guess beside private", after: 99, "Last-Modified: @-1000", "Cache-Control: private")
        reused("public lets any status be guessed", after: 99, status: 201, "Last-Modified: @-1000", "Cache-Control: public")
        reused("Pragma in a response means nothing", after: 99, "Last-Modified: @-1000", "Pragma: no-cache")
    }
}

/// What each status may do: RFC 9110 §15.1, RFC 9111 §3.
extension CacheCase {
    static let statuses: [CacheCase] = cases {
        for status in [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501] {
            reused("status \(status) is kept by a guess", after: 99, status: status, "Last-Modified: @-1000")
        }
        for status in [201, 202, 302, 303, 307, 400, 401, 403, 406, 409, 418, 429, 500, 502, 503, 504, 599] {
            CacheCase(
                "status \(status) is not kept by a guess",
                .get(.network, "first", origin: .status(status, "first", "Last-Modified: @-1000")).storage(.refused(.noLifetime)),
                .get(.network, "second", origin: .ok("second")).notSent("if-modified-since"))
        }
        for status in [
            200, 201, 202, 203, 204, 299, 300, 301, 302, 303, 307, 308, 400, 401, 403, 404, 410, 418, 429, 499, 500, 502, 503, 504, 599,
        ] {
            reused("status \(status) is kept by an explicit lifetime", after: 59, status: status, "Cache-Control: max-age=60")
        }
    }
}
