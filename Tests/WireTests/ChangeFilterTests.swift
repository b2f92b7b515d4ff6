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

    @Test("with more collections than a request may name, the request names all of them with the same prefix")
    func requestable() throws {
        // Given
        let names = (1...65).map { "c\($0)" }
        let most = try ChangeFilter(collections: Array(names.prefix(64)) + ["c1"], prefix: "eu-")
        let more = try ChangeFilter(collections: names, prefix: "eu-")
        // Then
        #expect(most.requestable == most)
        #expect(more.requestable == (try ChangeFilter(collections: [], prefix: "eu-")))
        // And the filter itself matches what it did
        for name in names { #expect(more.matches(try RecordKey("\(name)/eu-1")) && more.matches(.collection(name, prefix: "eu"))) }
        for name in ["c0", "c", "c66", "d", "C1"] { #expect(!more.matches(try RecordKey("\(name)/eu-1"))) }
        #expect(!more.matches(try RecordKey("c1/us-1")))
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
