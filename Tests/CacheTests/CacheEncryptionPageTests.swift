import FoundationEssentials
import FreshetCache
import FreshetCacheEncryption
import FreshetTestSupport
import Testing

/// The page's lines on encryption, with the test's directory, key and letter.
private func pageExample(_ directory: String, key: [UInt8], letter: [UInt8]) async throws -> [UInt8]? {
    // page begins
    var configuration = DiskCache.Configuration()
    configuration.cipher = try AESGCMCipher(keyBytes: key)  // 16, 24 or 32 bytes
    let letters = try await DiskCache.open(directory, configuration)
    try await letters.setValue(letter, forKey: "letters/1", protection: .encrypted)
    let read = try await letters.value(forKey: "letters/1")?.bytes
    // page ends
    return read
}

@Suite struct CacheEncryptionPageTests {
    @Test func theExampleIsTheOneThatIsCompiled() throws {
        // Given the page's Swift and the compiled lines
        let root = #filePath.components(separatedBy: "/Tests/")[0]
        let page = try String(contentsOfFile: root + "/docs/cache.md", encoding: .utf8)
        let source = try String(contentsOfFile: #filePath, encoding: .utf8)
        let shown = try #require(excerpt(of: page, from: "```swift\nimport FreshetCacheEncryption\n\n", to: "```"))
        let compiled = try #require(excerpt(of: source, from: "    // page begins\n", to: "    // page ends"))
        // Then they are the same
        #expect(shown == unindented(compiled))
    }

    @Test func theExampleRuns() async throws {
        let folder = TemporaryDirectory()
        let read = try await pageExample(folder.path, key: Array(repeating: 1, count: 16), letter: [1, 2, 3])
        #expect(read == [1, 2, 3])
    }
}
