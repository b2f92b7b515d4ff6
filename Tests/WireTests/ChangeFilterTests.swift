import FreshetWire
import Testing

@Suite("Change filter")
struct ChangeFilterTests {
    @Test("matches records by collection and prefix")
    func records() throws {
        let filter = try ChangeFilter(collections: ["a", "b"], prefix: "eu-")
        for key in ["a/eu-1", "b/eu-"] { #expect(filter.matches(try RecordKey(key))) }
        for key in ["a/us-1", "c/eu-1"] { #expect(!filter.matches(try RecordKey(key))) }
        #expect(ChangeFilter.all.matches(try RecordKey("c/1")))
    }

    @Test(
        "matches a sweep exactly if some key can be in both",
        arguments: [
            ("a", "", true), ("a", "e", true), ("a", "eu-west", true), ("a", "us", false), ("c", "", false), ("c", "eu-", false),
        ])
    func sweeps(collection: String, prefix: String, isMatch: Bool) throws {
        let filter = try ChangeFilter(collections: ["a"], prefix: "eu-")
        #expect(filter.matches(.collection(collection, prefix: prefix)) == isMatch)
        #expect(filter.matches(.everything))
    }
}
