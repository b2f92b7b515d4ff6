import FreshetCache
import FreshetTestSupport
import Testing

@Suite struct CacheModelTests {
    /// The same steps in the same order, including evictions. No expired entry is left for the sweep: the plain cache
    /// has none.
    @Test(arguments: 1...4) func doesWhatAPlainOneDoes(seed: Int) {
        // Given
        var random = SeededGenerator(seed: UInt64(seed))
        var plain = PlainCache(costLimit: seed % 2 == 0 ? .max / 2 : 100, countLimit: seed % 2 == 0 ? 30 : .max / 2)
        let cache = Cache<Int, Int>(
            costLimit: plain.costLimit, countLimit: plain.countLimit, lifetime: .unlimited, shards: seed, cost: { _ in 1 })
        // When, then at every step
        for step in 0..<15_000 {
            let key = min(Int.random(in: 0..<90, using: &random), Int.random(in: 0..<90, using: &random))
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<50: #expect(cache[key] == plain.read(key, at: 0))
            case 50..<90:
                let cost = Int.random(in: 1...12, using: &random) * (Int.random(in: 0..<50, using: &random) == 0 ? 10 : 1)
                #expect(cache.setValue(step, forKey: key, cost: cost) == plain.set(key, step, cost: cost, deadline: .max, at: 0))
            case 90..<96:
                cache.removeValue(forKey: key)
                plain.remove(key)
            case 96..<98:
                if plain.pinned.count < 3, !plain.pinned.contains(key) {
                    cache.pin(key)
                    plain.pin(key)
                }
            default:
                for key in plain.pinned.sorted().prefix(1) {
                    cache.unpin(key)
                    plain.unpin(key, at: 0)
                }
            }
            guard cache.count == plain.entries.count, cache.totalCost == plain.totalCost else {
                Issue.record(
                    "step \(step): \(cache.count) values cost \(cache.totalCost), and should be \(plain.entries.count), \(plain.totalCost)")
                return
            }
        }
        #expect(Set(cache.keys) == Set(plain.entries.keys) && cache.statistics.evictions == plain.evictions && plain.evictions > 1_000)
    }

    /// A million steps in all: never a value that is not the last one, never an expired one, never more than the limits
    /// allow.
    @Test(arguments: 1...8) func neverGivesAWrongValue(seed: Int) {
        // Given
        let time = ManualCacheClock()
        let isBounded = seed % 2 == 0
        let cache = Cache<Int, Int>(
            costLimit: isBounded ? 2_000 : .max, countLimit: isBounded ? 300 : .max, clock: time.clock, shards: seed, cost: { _ in 1 })
        var last: [Int: (value: Int, end: Int)] = [:]
        var random = SeededGenerator(seed: UInt64(seed))
        var (now, found, wrong) = (0, 0, 0)
        // When
        for step in 0..<125_000 {
            let choice = random.next()
            let key = Int(choice >> 8 & 1_023)
            switch choice & 63 {
            case 0..<34:
                let value = cache[key]
                let right = last[key].flatMap { $0.end > now ? $0.value : nil }
                if value != nil { found += 1 }
                if value != right, isBounded ? value != nil : true { wrong += 1 }
            case 34..<58:
                let lifetime = Int(choice >> 20 & 63) + 1
                if cache.setValue(step, forKey: key, cost: Int(choice >> 30 & 15), lifetime: .after(.seconds(lifetime))) {
                    last[key] = (step, now + lifetime)
                } else {
                    last[key] = nil
                }
            case 58..<62:
                cache.removeValue(forKey: key)
                last[key] = nil
            case 62:
                now += 1
                time.advance(by: .seconds(1))
            default:
                if choice >> 40 & 255 == 0 {
                    cache.removeAll { candidate, _ in candidate % 7 == 0 }
                    for candidate in last.keys where candidate % 7 == 0 { last[candidate] = nil }
                }
            }
            if isBounded, step & 7 == 0, cache.totalCost > 2_000 || cache.count > 300 { wrong += 1 }
        }
        // Then
        #expect(wrong == 0 && found > 10_000)
        #expect(Set(cache.keys).isSubset(of: last.filter { $0.value.end > now }.keys))
        if !isBounded { #expect(Set(cache.keys) == Set(last.filter { $0.value.end > now }.keys)) }
        #expect(cache.snapshot().allSatisfy { last[$0.key]?.value == $0.value })
    }
}
