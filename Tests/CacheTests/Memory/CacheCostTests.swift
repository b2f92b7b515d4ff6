import FoundationEssentials
import FreshetCache
import FreshetTestSupport
import Testing

private struct Picture: CostedValue, Codable, Equatable {
    var width: Int
    var cacheCost: Int { width * 4 }
}

private struct Note: Codable, Equatable {
    var text: String
}

@Suite struct CacheCostTests {
    @Test func bytesAndTextCostTheirBytes() {
        let bytes = [UInt8](repeating: 7, count: 1_000)
        expect(bytes, cost: 1_000)
        expect(bytes[10..<30], cost: 20)
        expect(ContiguousArray(bytes), cost: 1_000)
        expect(Data(bytes), cost: 1_000)
        expect(Data(bytes)[5..<10], cost: 5)
        expect("å∂", cost: 5)
        expect("å∂"[...].dropFirst(), cost: 3)
        expect(Picture(width: 3), cost: 12)
    }

    private func expect<Value: CostedValue & Sendable>(_ value: Value, cost: Int) {
        for cache in [Cache<Int, Value>(costLimit: 100_000), Cache()] {
            cache[1] = value
            #expect(cache.totalCost == cost, "\(Value.self)")
        }
    }

    @Test func aLimitInBytesHoldsWithoutACostInAnyWrite() {
        // Given
        let cache = Cache<Int, [UInt8]>(costLimit: 10_000)
        // When
        for key in 0..<100 { cache[key] = [UInt8](repeating: 0, count: 1_000) }
        // Then
        #expect(cache.count == 10 && cache.totalCost == 10_000)
        #expect(!cache.setValue([UInt8](repeating: 0, count: 10_001), forKey: 0) && cache.statistics.refusals == 1)
    }

    @Test func aClosureStatesTheCostOfOtherTypes() {
        // Given
        let cache = Cache<Int, Note>(costLimit: 10, cost: { $0.text.utf8.count })
        // When
        for key in 0..<10 { cache[key] = Note(text: "four") }
        // Then
        #expect(cache.count == 2 && cache.totalCost == 8)
    }

    @Test func aClosureTakesThePlaceOfWhatTheValueStates() {
        let cache = Cache<Int, Picture>(costLimit: 10, cost: { $0.width })
        cache[1] = Picture(width: 7)
        #expect(cache.totalCost == 7)
    }

    @Test func aWriteMayStateAnotherCost() {
        let cache = Cache<Int, [UInt8]>(costLimit: 10_000)
        cache.setValue([1, 2, 3], forKey: 1, cost: 500)
        #expect(cache.totalCost == 500)
    }

    @Test func aLoadedValueCostsWhatAWrittenOneDoes() async throws {
        let cache = Cache<Int, String>(costLimit: 10_000)
        _ = try await cache.value(forKey: 1) { "seven b" }
        _ = try await cache.value(forKey: 2, cost: { _ in 100 }, orLoad: { "seven b" })
        #expect(cache.totalCost == 107)
    }

    @Test func aValueOfNoStatedCostCostsOne() {
        let cache = Cache<Int, Note>()
        for key in 0..<3 { cache[key] = Note(text: "some text") }
        #expect(cache.totalCost == 3 && cache.costLimit == .max)
        cache.costLimit = .max
    }

    @Test func aCostLimitCannotBeSetWhereNoCostIsStated() async {
        await #expect(processExitsWith: .failure) {
            let cache = Cache<Int, Int>(countLimit: 10)
            cache.costLimit = 1_000
        }
    }

    @Test func aRestoredCacheGoesOnMeasuring() throws {
        // Given a file of a cache whose values state their cost
        let folder = TemporaryDirectory()
        let cache = Cache<Int, Picture>(costLimit: 100)
        cache[1] = Picture(width: 2)
        try cache.save(to: folder.file("saved"))
        // When
        let restored = [
            try Cache<Int, Picture>(contentsOf: folder.file("saved")),
            try JSONDecoder().decode(Cache<Int, Picture>.self, from: JSONEncoder().encode(cache)),
        ]
        // Then
        for cache in restored {
            cache[2] = Picture(width: 3)
            #expect(cache.totalCost == 20 && cache.costLimit == 100)
        }
    }

    @Test func aRestoredCacheWithACostLimitNeedsACost() throws {
        // Given
        let folder = TemporaryDirectory()
        let path = folder.file("saved")
        let cache = Cache<Int, Note>(costLimit: 100, cost: { $0.text.utf8.count })
        cache[1] = Note(text: "ten bytes.")
        try cache.save(to: path)
        // Then without a cost
        #expect(throws: CacheError.noCost(path: path)) { try Cache<Int, Note>(contentsOf: path) }
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(Cache<Int, Note>.self, from: JSONEncoder().encode(cache)) }
        // And with one
        let restored = try Cache<Int, Note>(contentsOf: path, cost: { $0.text.utf8.count })
        restored[2] = Note(text: "five.")
        #expect(restored.totalCost == 15)
        // And with no limit
        #expect(try Cache<Int, Note>(contentsOf: path, costLimit: .max).totalCost == 10)
    }

    @Test func theMemoryOfTwoTiersCostsItsBytes() async throws {
        // Given
        let memory = Cache<Int, TieredValue<[UInt8]>>(costLimit: 10_000)
        let other = Cache<Int, TieredValue<Note>>(costLimit: 100, cost: { $0.value.text.utf8.count })
        let bytes = TwoTierCache<Int, [UInt8]>(primary: memory, secondary: UserSecondary())
        let notes = TwoTierCache<Int, Note>(primary: other, secondary: UserSecondary())
        // When
        for key in 0..<100 { bytes[key] = [UInt8](repeating: 0, count: 1_000) }
        for key in 0..<100 { notes[key] = Note(text: "twenty bytes of text") }
        // Then
        #expect(memory.count == 10 && memory.totalCost == 10_000)
        #expect(other.count == 5 && other.totalCost == 100)
        try await bytes.flush()
        try await notes.flush()
    }
}
