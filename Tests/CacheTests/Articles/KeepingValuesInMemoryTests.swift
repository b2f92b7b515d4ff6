import FreshetCache
import FreshetTestSupport
import Testing

private func example(_ file: String, _ film: String, show: (Int, Bool, String?, [String], String?) -> Void) throws {
    // article begins
    let time = ManualCacheClock()
    let pages = Cache<String, String>(costLimit: 1_000, countLimit: 100, clock: time.clock)

    pages["home"] = "Welcome"
    pages.setValue("Sale!", forKey: "offer", lifetime: .after(.seconds(60)))
    let cost = pages.totalCost  // 12: text and bytes cost their bytes
    let isRefused = !pages.setValue(film, forKey: "film")  // alone above the limit: refused, and counted

    time.advance(by: .seconds(61))
    let offer = pages["offer"]  // nil: over
    let keys = pages.keys  // those whose lifetime is not over

    // Written whole or not at all, without expired entries; a later process continues with it.
    try pages.save(to: file)
    let restored = try Cache<String, String>(contentsOf: file, clock: time.clock)
    show(cost, isRefused, offer, keys, restored["home"])
    // article ends
}

@Suite("Article: keeping values in memory")
struct KeepingValuesInMemoryTests {
    @Test("runs as it says")
    func runs() throws {
        let folder = TemporaryDirectory()
        var shown = 0
        try example(folder.file("pages.json"), String(repeating: "…", count: 334)) { cost, isRefused, offer, keys, restored in
            shown += 1
            #expect(cost == 12 && isRefused && offer == nil && keys == ["home"] && restored == "Welcome")
        }
        #expect(shown == 1)
    }
}
