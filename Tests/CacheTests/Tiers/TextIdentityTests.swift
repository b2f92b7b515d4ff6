import FreshetCache
import FreshetTestSupport
import Testing

/// Keys by their `==`, tags by their bytes: the same answer in memory, on disk, and in both.
@Suite(.timeLimit(.minutes(2))) struct TextIdentityTests {
    struct Title: RawRepresentable, Hashable, DiskKey { var rawValue: String }

    let folder = TemporaryDirectory()

    private func cache<Key: DiskKey & Hashable>(_ disk: DiskCache, limit: Int = .max) -> TwoTierCache<Key, String> {
        TwoTierCache(primary: Cache(countLimit: limit), secondary: disk)
    }

    // MARK: Tags

    private static let composed: CacheTag = "caf\u{E9}"
    private static let decomposed: CacheTag = "cafe\u{301}"

    @Test func aTagIsItsBytes() {
        #expect(Self.composed != Self.decomposed && Set([Self.composed, Self.decomposed]).count == 2)
        #expect(Self.decomposed < Self.composed && !(Self.composed < Self.composed))
        #expect(Array(Self.composed.text.utf8) == Array("caf\u{E9}".utf8) && "\(Self.composed)" == "café")
        #expect(CacheTag("user/\(7)") == "user/\(7)")
    }

    /// The tags of a value, that of an invalidation, and whether it reaches the value.
    private static let invalidations: [(tags: Set<CacheTag>, tag: CacheTag, isReached: Bool)] = [
        ([composed], composed, true), ([decomposed], decomposed, true), ([composed], decomposed, false), ([decomposed], composed, false),
        ([composed, decomposed], composed, true), ([composed, decomposed], decomposed, true), ([""], "", true), (["a"], "", false),
        (["K"], "\u{212A}", false), (["a\r\n"], "a\r", false),
    ]

    @Test(arguments: Self.invalidations) func anInvalidationByTagReachesTheSameValuesInEachTier(
        tags: Set<CacheTag>, tag: CacheTag, isReached: Bool
    ) async throws {
        // Given
        let memory = Cache<String, Int>()
        memory.setValue(1, forKey: "key", tags: tags)
        let disk = try await DiskCache.open(folder.file("disk"))
        try await disk.setValue([1], forKey: "key", tags: Array(tags))
        let tiers = try await DiskCache.open(folder.file("tiers"))
        let both: TwoTierCache<String, String> = cache(tiers)
        both.setValue("old", forKey: "key", tags: tags)
        try await both.flush()
        // When
        #expect(memory.removeAll(taggedWith: tag) == (isReached ? 1 : 0))
        #expect(try await disk.removeAll(taggedWith: tag) == (isReached ? 1 : 0))
        try await both.removeAll(taggedWith: tag)
        // Then no tier brings an outdated value back
        #expect(both["key"] == (isReached ? nil : "old"))
        #expect(await both.value(forKey: "key") == (isReached ? nil : "old"))
        #expect(try await tiers.contains("key") == !isReached)
    }

    @Test func allTagsOfAValueSurviveItsWayThroughTheTiers() async throws {
        // Given a value with two tags that look alike, which was read from the disk and stored again
        let tags: Set = [Self.composed, Self.decomposed]
        let disk = try await DiskCache.open(folder.path)
        let first: TwoTierCache<String, String> = cache(disk)
        first.setValue("old", forKey: "key", tags: tags)
        try await first.flush()
        let second: TwoTierCache<String, String> = cache(disk)
        #expect(await second.entry(forKey: "key")?.tags == tags)
        #expect(await second.freshenValue(forKey: "key"))
        try await second.flush()
        // Then
        #expect(try await disk.entry(forKey: "key")?.tags == tags.sorted())
        for tag in tags { #expect(try await disk.removeAll(taggedWith: tag) == (tag == tags.first ? 1 : 0)) }
    }

    @Test func tagsSurviveAFile() throws {
        let tags: Set = [Self.composed, Self.decomposed]
        let cache = Cache<String, Int>()
        cache.setValue(1, forKey: "key", tags: tags)
        try cache.save(to: folder.file("saved"))
        #expect(try Cache<String, Int>(contentsOf: folder.file("saved")).entry(forKey: "key")?.tags == tags)
    }

    // MARK: Names

    private static let texts = [
        "", "a", "e", "\u{E9}", "e\u{301}", "\u{1EC7}", "e\u{323}\u{302}", "e\u{302}\u{323}", "\u{E9}\u{323}", "e\u{323}\u{301}",
        "\u{212A}", "K", "k", "\u{AC01}", "\u{1100}\u{1161}\u{11A8}", "\u{AC00}\u{11A8}", "\u{AC00}", "\r\n", "\r", "\n", "👨‍👩‍👧", "👨",
        "\u{2126}",
        "\u{3A9}", "\u{FB1D}", "\u{5D9}\u{5B4}", "ﬁ", "fi", "\u{301}", "\0", "\u{1D15E}", "\u{1D157}\u{1D165}", "\u{FEFF}a",
        "≠", "=\u{338}",
    ]

    @Test func namesAreEqualExactlyIfTheKeysAre() {
        for left in Self.texts {
            for right in Self.texts {
                #expect((left == right) == (left.nameBytes == right.nameBytes), "\(left.unicodeScalars) \(right.unicodeScalars)")
                let titles = (Title(rawValue: left), Title(rawValue: right))
                #expect((titles.0 == titles.1) == (titles.0.nameBytes == titles.1.nameBytes))
                let (one, other) = (RequestKey(left, [right: left]), RequestKey(right, [left: right]))
                #expect((one == other) == (one.nameBytes == other.nameBytes))
            }
        }
    }

    @Test func aNameIsAnotherSpellingOfItsKey() {
        // All blocks with decompositions
        for block in [0...0x2FFF, 0xAC00...0xAFFF, 0xF900...0xFB4F, 0x1_1000...0x1_1FFF, 0x1_D100...0x1_D1FF, 0x2_F800...0x2_FA1F] {
            let names = block.compactMap { Unicode.Scalar($0) }.map(String.init).map { ($0, $0.nameBytes) }
            let wrong = names.filter { String(validating: $1, as: UTF8.self) != $0 || String(decoding: $1, as: UTF8.self).nameBytes != $1 }
            #expect(wrong.isEmpty, "\(wrong.map(\.0.unicodeScalars))")
        }
    }

    @Test func aValueIsFoundUnderEachSpellingOfItsKey() async throws {
        let disk = try await DiskCache.open(folder.path)
        for (left, right) in zip(Self.texts, Self.texts.dropFirst()) where left == right {
            let keys: TwoTierCache<String, String> = cache(disk, limit: 0)
            let titles: TwoTierCache<Title, String> = cache(disk, limit: 0)
            keys[left] = "text"
            try await keys.flush()
            #expect(await keys.value(forKey: right) == "text")
            // The raw value's name, so the titles read it too
            #expect(await titles.value(forKey: Title(rawValue: right)) == "text")
            keys[right] = nil
            try await keys.flush()
            #expect(await keys.value(forKey: left) == nil)
        }
    }

    // MARK: Prefixes

    private static let prefixes: [(key: String, prefix: String, begins: Bool)] = [
        ("caf\u{E9}/1", "caf\u{E9}", true), ("cafe\u{301}/1", "caf\u{E9}", true), ("caf\u{E9}/1", "cafe\u{301}", true),
        ("e\u{301}tat", "e", true), ("\u{E9}tat", "e", true), ("\u{E9}tat", "f", false), ("e", "\u{E9}", false),
        ("user/\u{301}x", "user/", true), ("user", "user/", false), ("user/1", "", true), ("", "", true), ("", "a", false),
        ("👨‍👩‍👧/1", "👨", true), ("👨‍👩‍👧/1", "👩", false), ("🇩🇪/1", "🇩", true), ("a\r\nb", "a\r", true), ("a\r\nb", "a\n", false),
        ("\u{AC01}", "\u{AC00}", true), ("\u{AC01}", "\u{1100}", true), ("\u{AC01}", "\u{AC01}", true), ("\u{AC00}", "\u{AC01}", false),
        ("e\u{323}\u{301}", "e\u{323}", true), ("\u{E9}\u{323}", "e\u{323}", true), ("\u{E9}\u{323}", "\u{E9}", false),
        ("K1", "\u{212A}", true),
    ]

    @Test(arguments: Self.prefixes) func aPrefixReachesTheSameKeysInEachTier(key: String, prefix: String, begins: Bool) async throws {
        // Given
        let memory = Cache<String, Int>()
        (memory[key], memory["other"]) = (1, 2)
        let disk = try await DiskCache.open(folder.path)
        let both: TwoTierCache<String, String> = cache(disk)
        (both[key], both["other"]) = ("1", "2")
        try await both.flush()
        // When
        memory.removeAll(withPrefix: prefix)
        try await both.removeAll(withPrefix: prefix)
        // Then
        #expect(memory.contains(key) == !begins && memory.contains("other") == !prefix.isEmpty)
        #expect((both[key] == nil) == begins && (both["other"] == nil) == prefix.isEmpty)
        #expect(try await disk.contains(key.nameBytes) == !begins)
        #expect((await both.value(forKey: key) == nil) == begins)
    }

    @Test func equalKeysBeginWithTheSamePrefixes() {
        for (left, right) in zip(Self.texts, Self.texts.dropFirst()) where left == right {
            for prefix in Self.texts {
                let (one, other) = (Cache<String, Int>(), Cache<String, Int>())
                (one[left + "/1"], other[right + "/1"]) = (1, 1)
                #expect(one.removeAll(withPrefix: prefix) == other.removeAll(withPrefix: prefix))
            }
        }
    }

    @Test func aDiskCacheByItselfComparesBytes() async throws {
        // Given two keys that look alike
        let disk = try await DiskCache.open(folder.path)
        try await disk.setValue([1], forKey: "caf\u{E9}")
        try await disk.setValue([2], forKey: "cafe\u{301}")
        #expect(try await disk.value(forKey: "caf\u{E9}")?.bytes == [1])
        // When, then
        #expect(try await disk.removeAll(withPrefix: "cafe") == 1)
        #expect(try await disk.contains("caf\u{E9}"))
    }
}
