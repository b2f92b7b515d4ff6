import FoundationEssentials
import FreshetCache
import FreshetTestSupport
import Testing

private func example(_ directory: String, _ avatar: [UInt8], _ balance: [UInt8], show: (Date?, Bool) -> Void) async throws {
    // article begins
    // Time-to-live by kind of data, a limit by cost, a limit on disk.
    var configuration = DiskCache.Configuration()
    configuration.byteLimit = 50 << 20  // the least recently used leave in the background
    configuration.schema = "3/user-42"  // another version or another account reads nothing of this
    let cache = try await DiskCache.open(directory, configuration)
    try await cache.setValue(avatar, forKey: "avatar", lifetime: .after(.seconds(7 * 86_400)))
    try await cache.setValue(balance, forKey: "balance", lifetime: .after(.seconds(60)), protection: .memoryOnly)  // never touches the disk

    // "Updated 2 minutes ago": when the value was last known to be right. A 304, for instance, makes it right again.
    try await cache.freshenValue(forKey: "avatar", lifetime: .after(.seconds(7 * 86_400)))
    let updated = try await cache.value(forKey: "avatar")?.verified

    // Log-out, another account, a new schema: from this moment no process reads the earlier entries.
    try await cache.invalidateEverything(schema: "3/user-43")
    let left = try await cache.value(forKey: "avatar")
    show(updated, left == nil)
    // article ends
}

@Suite("Article: the production checklist")
struct ProductionChecklistTests {
    @Test("runs as it says, and the secret is on no disk")
    func runs() async throws {
        let folder = TemporaryDirectory()
        var shown = 0
        let secret = Array("the balance is 1,234".utf8)
        try await example(folder.path, [1, 2, 3], secret) { updated, isGone in
            shown += 1
            #expect(updated != nil && isGone)
        }
        #expect(shown == 1)
        for file in files(beneath: folder.path) {
            #expect(!String(decoding: read(file), as: UTF8.self).contains("1,234"), "\(file)")
        }
    }
}
