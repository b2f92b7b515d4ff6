import FreshetCache
import FreshetTestSupport
import Testing

private func example(
    _ directory: String, download: @escaping @Sendable (Int) async throws -> String,
    show: (String?, String?, PrefetchResult<Int>, [String], TwoTierStatistics) -> Void
) async throws {
    // article begins
    var configuration = TwoTierCache<Int, String>.Configuration()
    configuration.lifetime = .after(.seconds(3_600))
    do {
        let disk = try await DiskCache.open(directory)
        let names = TwoTierCache<Int, String>(primary: Cache(countLimit: 10_000), secondary: disk, configuration)
        names[1] = "Ada"  // in memory now, on disk soon
        names.setValue("Ben", forKey: 2, tags: ["guests"])
        try await names.flush()  // now it is on disk; throws what went wrong there
    }

    // A later run: the disk has both, memory has nothing yet.
    let disk = try await DiskCache.open(directory)
    let names = TwoTierCache<Int, String>(primary: Cache(countLimit: 10_000), secondary: disk, configuration)
    let quick = names[1]  // nil: memory alone, at once
    let ada = await names.value(forKey: 1)  // from the disk, and from now on in memory

    // The values that will be shown next, before they are asked for: from memory, the disk, or else a load.
    let fetched = await names.prefetch([1, 2, 3, 4], atOnce: 2) { try await download($0) }

    // Out of both tiers. A read or a load that is under way does not bring the value back.
    try await names.removeAll(taggedWith: "guests")
    let stories = [await names.explain(1).description, await names.explain(2).description]
    show(quick, ada, fetched, stories, names.statistics)
    // article ends
}

@Suite("Article: two tiers")
struct TwoTiersTests {
    private struct Unknown: Error {}

    @Test("runs as it says")
    func runs() async throws {
        let folder = TemporaryDirectory()
        var shown = 0
        try await example(folder.path) { number in
            guard number == 3 else { throw Unknown() }
            return "Cem"
        } show: { quick, ada, fetched, stories, statistics in
            shown += 1
            #expect(quick == nil && ada == "Ada")
            #expect(fetched.inMemory == [1] && fetched.onDisk == [2] && fetched.loaded == [3])
            #expect(fetched.failed.count == 1 && fetched.failed[4] is Unknown && fetched.missing.isEmpty && fetched.cancelled.isEmpty)
            #expect(stories[0].hasPrefix("memory: present") && stories[0].contains("; disk: 3 bytes, verified "), "\(stories[0])")
            #expect(stories[1] == "memory: absent; disk: absent")
            #expect(statistics.diskHits == 2 && statistics.loads == 1 && statistics.failedLoads == 1)
        }
        #expect(shown == 1)
    }
}
