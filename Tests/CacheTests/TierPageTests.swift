import FoundationEssentials
import FreshetCache
import FreshetTestSupport
import Testing

private struct Titles: Sendable {
    var sources: [CacheSource] = []
    mutating func add(_ value: [String], _ source: CacheSource, _ recorded: Date) { sources.append(source) }
}

/// The page's lines about two tiers, with the test's disk.
private func tierExample(_ disk: DiskCache, show: (String?, String?, String, Int, Bool) -> Void) async throws {
    @Sendable func download(_ number: Int) async throws -> User { User(name: "number \(number)") }
    // tiers begin
    struct User: Codable, Sendable { var name: String }

    var configuration = TwoTierCache<Int, User>.Configuration()
    configuration.lifetime = .after(.seconds(3_600))
    let users = TwoTierCache<Int, User>(primary: Cache(countLimit: 10_000), secondary: disk, configuration)

    users[7] = User(name: "Ann")  // in memory now, on disk soon
    users.setValue(User(name: "Bob"), forKey: 8, tags: ["team"], protection: .memoryOnly)
    let quick = users[7]  // memory alone, at once
    let ann = await users.value(forKey: 7)  // memory, or else the disk
    let eve = try await users.value(forKey: 9) { try await download(9) }  // or else a load, one for all who ask

    let fetched = await users.prefetch([7, 9, 10]) { try await download($0) }
    let verified = await users.entry(forKey: 7)?.validatedAt  // for "updated 2 minutes ago"
    try await users.removeAll(taggedWith: "team")
    try await users.flush()  // until all is on disk; throws what went wrong there
    // tiers end
    show(quick?.name, ann?.name, eve.name, fetched.loaded.count, verified != nil && users[8] == nil)
}

/// The page's lines about requests.
private func requestExample(_ disk: DiskCache, present: ([String], CacheSource, Date) -> Void) async throws -> [String] {
    @Sendable func askForTitles() async throws -> [String] { ["one", "two"] }
    // requests begin
    let requests = RequestCache<[String]>(TwoTierCache(primary: Cache(), secondary: disk))
    let key = RequestKey("titles", ["page": "2", "sort": "name"])  // the order does not count

    for try await titles in requests.values(forKey: key, policy: .cacheThenNetwork, load: { try await askForTitles() }) {
        present(titles.value, titles.source, titles.storedAt)  // the cached titles, at once; then the fetched ones
    }
    let kept = try await requests.cachedValue(forKey: key)  // never fetches; RequestError.notCached where there is nothing
    // requests end
    try await requests.cache.flush()
    return kept.value
}

@Suite struct TierPageTests {
    @Test(arguments: ["tiers", "requests"]) func theExamplesAreThoseThatAreCompiled(name: String) throws {
        // Given the page's Swift and the compiled lines
        let root = #filePath.components(separatedBy: "/Tests/")[0]
        let page = try String(contentsOfFile: root + "/docs/cache.md", encoding: .utf8)
        let source = try String(contentsOfFile: #filePath, encoding: .utf8)
        let compiled = unindented(try #require(excerpt(of: source, from: "    // \(name) begin\n", to: "    // \(name) end\n")))
        // Then the page shows them
        #expect(page.contains("```swift\n" + compiled + "```\n"))
    }

    @Test func theTiersExampleRuns() async throws {
        let folder = TemporaryDirectory()
        var shown = 0
        try await tierExample(DiskCache.open(folder.path)) { quick, ann, eve, loaded, isRight in
            #expect(quick == "Ann" && ann == "Ann" && eve == "number 9" && loaded == 1 && isRight)
            shown += 1
        }
        #expect(shown == 1)
    }

    @Test func theRequestsExampleRuns() async throws {
        let folder = TemporaryDirectory()
        let disk = try await DiskCache.open(folder.path)
        var titles = Titles()
        for _ in 1...2 { #expect(try await requestExample(disk) { titles.add($0, $1, $2) } == ["one", "two"]) }
        #expect(titles.sources == [.network, .disk, .network])
    }
}
