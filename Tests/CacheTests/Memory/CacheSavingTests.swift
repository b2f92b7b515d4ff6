import Foundation
import FreshetCache
import FreshetTestSupport
import Testing

@Suite struct CacheSavingTests {
    private let folder = TemporaryDirectory()
    private let time = ManualCacheClock(wall: 1_000_000)

    @Test func comesBackAsItWasSaved() throws {
        // Given
        let cache = Cache<String, [Int]>(costLimit: 100, countLimit: 50, clock: time.clock, shards: 2, cost: { _ in 1 })
        cache.setValue([1], forKey: "fixed", cost: 7, lifetime: .after(.seconds(60)), tags: ["tag"])
        cache.setValue([2], forKey: "ever", lifetime: .unlimited)
        cache.setValue([3], forKey: "sliding", lifetime: .sliding(.seconds(50)))
        cache.setValue([4], forKey: "until", lifetime: .until(Date(timeIntervalSince1970: 1_060)))
        cache.setValue([5], forKey: "short", lifetime: .after(.seconds(1)))
        time.advance(by: .seconds(10))
        cache.freshenValue(forKey: "fixed", lifetime: .after(.seconds(60)))
        // When it is loaded on a machine with another uptime, ten seconds later
        try cache.save(to: folder.file("saved"))
        let other = ManualCacheClock(wall: 1_020_000)
        other.advance(by: .seconds(0))
        let loaded = try Cache<String, [Int]>(contentsOf: folder.file("saved"), clock: other.clock, cost: { _ in 1 })
        // Then expired entries are omitted, and all others are unchanged
        #expect(Set(loaded.keys) == ["fixed", "ever", "sliding", "until"] && loaded.costLimit == 100 && loaded.countLimit == 50)
        let fixed = try #require(loaded.entry(forKey: "fixed"))
        #expect(fixed.cost == 7 && fixed.tags == ["tag"] && fixed.value == [1] && fixed.expiresAt == Date(timeIntervalSince1970: 1_070))
        #expect(fixed.storedAt == Date(timeIntervalSince1970: 1_000) && fixed.validatedAt == Date(timeIntervalSince1970: 1_010))
        other.advance(by: .seconds(29))
        #expect(loaded["sliding"] == [3])
        other.advance(by: .seconds(11))
        #expect(loaded["until"] == nil && loaded["sliding"] == [3] && loaded["fixed"] == [1])
        other.advance(by: .seconds(10))
        #expect(loaded["fixed"] == nil && loaded["ever"] == [2] && loaded["sliding"] == [3])
        #expect(folder.files == ["saved"])
    }

    @Test func valuesFromTheFutureAreOmittedSinceTheirAgeIsUnknown() throws {
        // Given
        let cache = Cache<String, Int>(clock: time.clock)
        cache.setValue(1, forKey: "fixed", lifetime: .after(.seconds(3_600)))
        cache.setValue(2, forKey: "sliding", lifetime: .sliding(.seconds(3_600)))
        cache.setValue(3, forKey: "until", lifetime: .until(Date(timeIntervalSince1970: 4_600)))
        cache.setValue(4, forKey: "ever", lifetime: .unlimited)
        try cache.save(to: folder.file("saved"))
        // When the wall clock has been set back, by a little or by much
        let little = try Cache<String, Int>(contentsOf: folder.file("saved"), clock: ManualCacheClock(wall: 950_000).clock)
        let much = try Cache<String, Int>(contentsOf: folder.file("saved"), clock: ManualCacheClock(wall: 500_000).clock)
        // Then
        #expect(Set(little.keys) == ["fixed", "sliding", "until", "ever"])
        #expect(Set(much.keys) == ["until", "ever"])
    }

    @Test func keepsTheOrderOfEvictionAndItsLimits() throws {
        // Given
        let cache = Cache<Int, Int>(countLimit: 100, shards: 1)
        for key in 0..<300 {
            if cache[key / 3] == nil { cache[key / 3] = key }
        }
        // When, then
        try cache.save(to: folder.file("saved"))
        let loaded = try Cache<Int, Int>(contentsOf: folder.file("saved"))
        #expect(loaded.keys == cache.keys)
        let small = try Cache<Int, Int>(contentsOf: folder.file("saved"), countLimit: 10)
        #expect(small.count == 10 && small.countLimit == 10)
    }

    @Test func canBeAPartOfSomethingElse() throws {
        let cache = Cache<String, Int>(countLimit: 9)
        cache["one"] = 1
        let data = try JSONEncoder().encode(["cache": cache])
        let decoded = try JSONDecoder().decode([String: Cache<String, Int>].self, from: data)
        #expect(decoded["cache"]?["one"] == 1 && decoded["cache"]?.countLimit == 9)
    }

    @Test func saysWhatIsWrongWithAFile() throws {
        // Given
        let path = folder.file("saved")
        #expect(throws: CacheError.cannotRead(path: path, reason: "No such file or directory")) { try Cache<Int, Int>(contentsOf: path) }
        folder.write(Array("{}".utf8), to: "saved")
        #expect { try Cache<Int, Int>(contentsOf: path) } throws: { error in
            guard case .notACache(path, _)? = error as? CacheError else { return false }
            return "\(error)".contains("begin with an empty one")
        }
        folder.write(Array(#"{"version":2,"costLimit":1,"countLimit":1,"entries":[]}"#.utf8), to: "saved")
        #expect(throws: CacheError.notACache(path: path, reason: "it is of version 2, and this reads 1")) {
            try Cache<Int, Int>(contentsOf: path)
        }
    }

    @Test func aFileIsReplacedAsAWholeOrNotAtAll() throws {
        // Given
        let path = folder.file("saved")
        let cache = Cache<Int, Double>()
        cache[1] = 1
        try cache.save(to: path)
        // When a value cannot be encoded, or the folder does not exist
        cache[2] = .nan
        #expect { try cache.save(to: path) } throws: { error in
            guard case .cannotEncode? = error as? CacheError else { return false }
            return true
        }
        #expect(throws: CacheError.cannotWrite(path: "/no/such/folder/saved", reason: "No such file or directory")) {
            cache[2] = nil
            try cache.save(to: "/no/such/folder/saved")
        }
        // Then
        #expect(try Cache<Int, Double>(contentsOf: path).keys == [1] && folder.files == ["saved"])
    }
}
