import FreshetCache
import Testing

private func example(show: ([String], Int, String) -> Void) async {
    // article begins
    let prices = Cache<String, Int>(countLimit: 2)
    let changes = prices.changes

    prices.setValue(120, forKey: "fruit/apple", tags: ["fruit"])
    prices.setValue(80, forKey: "fruit/pear", tags: ["fruit"])
    prices["bread"] = 300  // one of the others has to go

    prices.removeAll(taggedWith: "fruit")
    prices.removeAll(withPrefix: "bread")

    var causes: [String] = []
    for await change in changes.prefix(6) { causes.append("\(change.cause) \(change.key)") }

    let before = prices.statistics
    _ = (prices["bread"], prices["milk"])
    let since = prices.statistics - before  // the changes in between
    show(causes, since.misses, prices.explain("bread").description)
    // article ends
}

@Suite("Article: following changes")
struct FollowingChangesTests {
    @Test("runs as it says")
    func runs() async {
        var shown = 0
        await example { causes, misses, story in
            shown += 1
            #expect(
                causes == [
                    "inserted fruit/apple", "inserted fruit/pear", "evicted fruit/apple", "inserted bread", "removed fruit/pear",
                    "removed bread",
                ])
            #expect(misses == 2 && !story.isEmpty)
        }
        #expect(shown == 1)
    }
}
