import FoundationEssentials
import FreshetCache
import FreshetCacheEncryption
import FreshetClient
import FreshetTestSupport
import FreshetWire
import Testing

@testable import freshet

/// `freshet cache`, on real directories.
struct CacheCommandTests {
    private let freshet = Program()
    private let folder = TemporaryDirectory()

    private func fill() async throws {
        var configuration = DiskCache.Configuration()
        configuration.schema = "3/ann"
        configuration.cipher = try AESGCMCipher(keyBytes: Array(repeating: 1, count: 16))
        let cache = try await DiskCache.open(folder.path, configuration)
        try await cache.setValue([1, 2, 3], forKey: "user/1", lifetime: .unlimited, tags: ["users", "new"])
        try await cache.setValue(Array(repeating: 0, count: 20_000), forKey: "user/2")
        try await cache.setValue([9], forKey: "secret\n", protection: .encrypted)
        await cache.close()
    }

    @Test func inspectListsEntriesForAPerson() async throws {
        // Given
        try await fill()
        // When
        let ending = try await freshet("cache", "inspect", folder.path)
        // Then
        #expect(ending.status == 0)
        #expect(ending.lines.count == 3)
        #expect(ending.lines[0].hasPrefix("         29  20") && ending.lines[0].hasSuffix("secret   encrypted"))
        #expect(ending.lines[1].hasSuffix("never                 user/1  [new, users]"))
        #expect(ending.lines[2].hasPrefix("     20,000  20") && ending.lines[2].hasSuffix("user/2  in a file"))
    }

    @Test func inspectListsEntriesForAProgram() async throws {
        try await fill()
        // When
        let ending = try await freshet("cache", "inspect", folder.path, "--prefix", "user/", "--limit", "1", "--json")
        // Then
        #expect(ending.status == 0)
        struct Entry: Decodable {
            let directory: String, key: String, bytes: Int, expires: String?, tags: [String], encrypted: Bool, file: String?
        }
        #expect(ending.lines.count == 1)
        let entry = try JSONDecoder().decode(Entry.self, from: Data(ending.output.utf8))
        #expect(entry.directory == folder.path && entry.key == "user/1" && entry.bytes == 3 && entry.expires == nil)
        #expect(entry.tags == ["new", "users"] && !entry.encrypted && entry.file == nil)
    }

    @Test func clearOfAClientsDirectoryKeepsItsWritesOnRequest() async throws {
        // Given a client's directory with a waiting write
        var configuration = SyncClient.Configuration(url: "http://127.0.0.1:9", namespace: "shop", storage: .directory(folder.path))
        configuration.principal = "ann"
        let client = try SyncClient(configuration)
        try await client.start()
        try await client.rawCollection("notes").setValue(Content(json: Array("1".utf8)), forKey: "1")
        // When it is in use, then nothing is removed
        let refused = try await freshet("cache", "clear", folder.path, "--force")
        #expect(refused.status != 0 && refused.error.contains("in use"))
        await client.stop()
        // When the writes are kept
        let kept = try await freshet("cache", "clear", folder.path, "--force", "--keep-outbox")
        #expect(kept.status == 0 && kept.output.contains("removed 0 entries, kept 1 write"))
        try await client.start()
        #expect(client.status.waitingWrites == 1)
        await client.stop()
        // When they are not
        let removed = try await freshet("cache", "clear", folder.path, "--force", "--json")
        #expect(removed.output.contains(#""removed":0,"kept":0"#))
        try await client.start()
        #expect(client.status.waitingWrites == 0)
        await client.stop()
    }

    @Test func statsCount() async throws {
        try await fill()
        let text = try await freshet("cache", "stats", folder.path)
        #expect(text.lines.contains("entries    3") && text.lines.contains("schema     3/ann"))
        // When
        let ending = try await freshet("cache", "stats", folder.path, "--json")
        // Then
        struct Summary: Decodable { let entries: Int, bytes: Int, fileBytes: Int, schema: String }
        let summary = try JSONDecoder().decode(Summary.self, from: Data(ending.output.utf8))
        #expect(summary.entries == 3 && summary.bytes == 3 + 20_000 + 29 + 3 * (19 + 4 + 5 + 4 + 3) + 3 * 128)
        #expect(summary.schema == "3/ann")
        #expect(summary.fileBytes > 20_000)
    }

    @Test func clearTakesForceOrAnAnswer() async throws {
        try await fill()
        // When nobody answers
        let unanswered = try await freshet(["cache", "clear", folder.path])
        // Then the command fails, and names the option
        #expect(unanswered.status == ExitStatus.usage.rawValue && unanswered.error.contains("add --force"), "\(unanswered.error)")
        // When the prompt is not confirmed
        for input in ["n\n", "maybe\n"] {
            let ending = try await freshet(["cache", "clear", folder.path], input: input)
            #expect(ending.status == 0 && ending.error.contains("Remove 3 entries of \(folder.path)? [y/N]"))
            #expect(try await freshet("cache", "stats", folder.path).lines.contains("entries    3"))
        }
        // When the prompt is confirmed
        let ending = try await freshet(["cache", "clear", folder.path], input: "y\n")
        // Then
        #expect(ending.status == 0 && ending.output == "\(folder.path): removed 3 entries\n")
        #expect(try await freshet("cache", "stats", folder.path).lines.contains("entries    0"))
        // And with --force there is no prompt
        try await fill()
        let forced = try await freshet("cache", "clear", folder.path, "--force", "--json")
        #expect(forced.output == "{\"directory\":\"\(folder.path)\",\"removed\":3}\n")
        let cache = try await DiskCache.open(folder.path)
        #expect(try await cache.value(forKey: "user/1") == nil)
    }

    @Test(arguments: [["inspect"], ["stats"], ["clear", "--force"]])
    func theNameOfADirectoryIsEscapedOnATerminalOnly(_ command: [String]) async throws {
        // Given two caches in directories whose names hold terminal commands
        let paths = ["a\u{1B}[2J", "b\u{1B}[2J"].map(folder.file)
        for path in paths { try await DiskCache.open(path).close() }
        // When
        let arguments = ["cache"] + command + paths
        let shown = try await freshet.onTerminals(arguments)
        let piped = try await freshet(arguments)
        // Then
        #expect(shown.status == 0 && piped.status == 0, "\(shown) \(piped)")
        #expect(shown.output.contains(folder.file(#"a\u{1b}[2J"#)) && !shown.output.contains("\u{1B}"), "\(shown.output)")
        #expect(piped.output.contains(paths[0]))
    }

    @Test func clearingReachesThoseWhoHaveItOpen() async throws {
        let cache = try await DiskCache.open(folder.path)
        try await cache.setValue([1], forKey: "a")
        #expect(try await cache.value(forKey: "a") != nil)
        // When
        #expect(try await freshet("cache", "clear", folder.path, "--force").status == 0)
        // Then
        #expect(try await cache.value(forKey: "a") == nil)
        try await cache.setValue([2], forKey: "a")
        #expect(try await cache.value(forKey: "a")?.bytes == [2])
    }

    @Test(arguments: ["inspect", "stats", "clear"])
    func whatIsNoCacheIsNeverTouched(command: String) async throws {
        // Given a directory that is not a cache, and a cache
        let other = TemporaryDirectory()
        other.write([1], to: "letter")
        try await fill()
        let force = command == "clear" ? ["--force"] : []
        // When, then
        let missing = try await freshet(["cache", command, "/no/such"] + force)
        #expect(
            missing.status == ExitStatus.noInput.rawValue && missing.error == "error: There is no directory /no/such: look at the name.\n")
        let foreign = try await freshet(["cache", command, folder.path, other.path] + force)
        #expect(foreign.status == ExitStatus.data.rawValue)
        #expect(foreign.error.hasPrefix("error: \(other.path) is no directory of a cache: name one that a DiskCache uses"))
        #expect(other.files == ["letter"])
        // And if one of several is wrong, none is cleared
        #expect(try await freshet("cache", "stats", folder.path).lines.contains("entries    3"))
    }

    @Test("An empty directory is no cache, and the error gives no advice that fails", arguments: ["inspect", "stats"])
    func emptyDirectory(command: String) async throws {
        let ending = try await freshet("cache", command, folder.path)
        #expect(ending.status == ExitStatus.data.rawValue)
        #expect(ending.error.contains("is no directory of a cache") && !ending.error.contains("empty directory"), "\(ending.error)")
    }

    @Test func aDamagedCacheIsSaidSoAndCanBeCleared() async throws {
        try await fill()
        folder.write(Array("freshet cache 9\n".utf8), to: "freshet.cache")
        let ending = try await freshet("cache", "inspect", folder.path)
        #expect(ending.status == ExitStatus.data.rawValue && ending.error.contains("of another version, or damaged"))
        #expect(ending.error.contains("'freshet cache clear' empties it"))
        // When
        #expect(try await freshet("cache", "clear", folder.path, "--force").output == "\(folder.path): removed all entries\n")
        // Then
        #expect(try await freshet("cache", "stats", folder.path).lines.contains("entries    0"))
    }
}
