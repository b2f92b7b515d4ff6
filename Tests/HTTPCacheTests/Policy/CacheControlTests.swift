import FreshetHTTPCache
import HTTPTypes
import Testing

@Suite struct CacheControlTests {
    private func control(_ lines: String...) -> CacheControl {
        var fields = HTTPFields()
        for line in lines { fields.append(HTTPField(name: .cacheControl, value: line)) }
        return CacheControl(fields)
    }

    @Test(
        arguments: [
            ("max-age=60", 60), ("MAX-AGE=60", 60), ("max-age=\"60\"", 60), ("max-age=\"6\\0\"", 60), ("max-age=0", 0), ("max-age=007", 7),
            (" ,, max-age=60 , ", 60), ("a,b=c,max-age=60", 60), ("a=\"x, max-age=1\", max-age=60", 60), ("max-age=60, max-age=60", 60),
            ("max-age=2147483648", 1 << 31), ("max-age=2147483649", 1 << 31), ("max-age=99999999999999999999999999999999", 1 << 31),
            ("max-age=60\t,x", 60),
        ] as [(String, Int64)])
    func aNumberIsRead(_ line: String, _ seconds: Int64) {
        #expect(control(line).seconds("max-age") == .valid(seconds))
    }

    @Test(arguments: [
        "max-age", "max-age=", "max-age=-1", "max-age=+1", "max-age=1.5", "max-age=6o", "max-age=60s", "max-age='60'", "max-age =60",
        "max-age= 60", "max-age=60;x", "max-age=60 x", "max-age=\"60", "max-age=\"\"", "max-age=60, max-age=61", "max-age=60, max-age",
        "max-age=\"60\"x",
    ])
    func aNumberThatIsNoneIsInvalid(_ line: String) {
        #expect(control(line).seconds("max-age") == .invalid)
        #expect(control(line).validSeconds("max-age") == nil)
    }

    @Test(arguments: ["", "x-max-age=60", "max-agex=60", "foo=\"max-age=60\"", "\"max-age=60\"", "=max-age", ",,,", "\"", "="])
    func anotherDirectiveIsNotTakenForIt(_ line: String) {
        #expect(control(line).seconds("max-age") == nil)
    }

    @Test(arguments: [
        "no-store", "NO-Store", "no-store=x", "no-store=\"\"", "no-store =1", "a, no-store", "a=\"b, no-store", "a=\", no-store",
        "max-age=\"1, no-store", "@, no-store", "a=\"\\\", no-store", "no-store;x",
    ])
    func whatForbidsHoldsHoweverItIsSpelt(_ line: String) {
        #expect(control(line).has("no-store"))
    }

    @Test func linesAddUpAndEachEndsItsOwnQuotation() {
        let control = control("public, a=\"", "no-cache=\"Set-Cookie, X\"", "max-age=1")
        #expect(control.has("public") && control.has("no-cache") && control.seconds("max-age") == .valid(1))
        #expect(control.directives.contains { $0.name == "no-cache" && $0.argument == .text("Set-Cookie, X") })
        #expect(self.control("max-age=1", "max-age=2").seconds("max-age") == .invalid)
        #expect(self.control("max-age=1", "max-age=1").seconds("max-age") == .valid(1))
    }

    @Test func everyPrefixOfALineIsReadWithoutHarm() {
        let line = "max-age=\"6\\\"0\", no-cache=\"a, b\", =, ;;, \u{E9}=\u{E9}, x=\"\\"
        for length in 0...line.utf8.count {
            let prefix = String(decoding: line.utf8.prefix(length), as: UTF8.self)
            #expect(control(prefix).seconds("max-age") != .valid(60))
        }
    }

    @Test(
        arguments: [
            (["30"], 30), (["0"], 0), (["30, 7"], 30), (["30", "7"], 30), (["-1"], 0), (["x"], 0), (["1.5"], 0), (["30;a"], 0), ([""], 0),
            (["abc, 30"], 0), ([" 30 "], 30), (["99999999999999999999"], 1 << 31), ([], 0),
        ] as [([String], Int64)])
    func anAgeIsItsFirstNumber(_ lines: [String], _ seconds: Int64) {
        var fields = HTTPFields()
        for line in lines { fields.append(HTTPField(name: .age, value: line)) }
        #expect(fields.ageSeconds == seconds)
    }

    @Test(
        arguments: [
            (["Accept"], ["accept"]), (["Accept, accept , X-A"], ["accept", "x-a"]), (["A", "B"], ["a", "b"]), ([""], []), ([], []),
            ([", ,"], []), (["*"], nil), (["a, *"], nil), (["*, a"], nil), (["a", "*"], nil), (["a b"], nil), ([", *"], nil),
        ] as [([String], [String]?)])
    func varyNamesItsFields(_ lines: [String], _ names: [String]?) {
        var fields = HTTPFields()
        for line in lines { fields.append(HTTPField(name: .vary, value: line)) }
        #expect(fields.varyNames == names)
    }

    @Test(
        arguments: [
            ("\"a\"", "\"a\"", true), ("W/\"a\"", "\"a\"", true), ("\"a\"", "\"b\"", false), ("a", "\"a\"", true), ("\"\"", "\"\"", true),
            ("\"", "\"\"", false), ("w/\"a\"", "\"a\"", false),
        ] as [(String, String, Bool)])
    func entityTagsAreComparedWeakly(_ left: String, _ right: String, _ matches: Bool) throws {
        let left = try #require(EntityTag(left.utf8))
        let right = try #require(EntityTag(right.utf8))
        #expect(left.matches(right) == matches)
    }
}
