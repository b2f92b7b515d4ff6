import Testing

@testable import FreshetClient

@Suite struct EvictingTableTests {
    @Test func whatFitsIsKept() {
        var table = EvictingTable<Int, String>(costLimit: 100)
        for key in 0..<10 { table.insert(key, "\(key)", cost: 10) }
        #expect(table.count == 10 && table.totalCost == 100 && table.evictions == 0)
        let (third, eleventh) = (table.value(3), table.value(11))
        #expect(third == "3" && eleventh == nil)
    }

    @Test func theTotalNeverExceedsTheLimit() {
        // Given values of many sizes, and reads, replacements and removals in between
        var table = EvictingTable<Int, Int>(costLimit: 1_000, ghostCapacity: 64)
        var random = SplitMix(7)
        for turn in 0..<20_000 {
            let key = Int(random.next() % 300)
            switch random.next() % 5 {
            case 0: table.remove(key)
            case 1: _ = table.value(key)
            default: table.insert(key, turn, cost: Int(random.next() % 40))
            }
            // Then the sum of the costs stays within the limit at every step
            #expect(table.totalCost <= 1_000)
        }
        #expect(table.evictions > 0)
        for key in table.keys.sorted() { table.remove(key) }
        #expect(table.totalCost == 0 && table.isConsistent)
    }

    @Test func oneThatIsReadOftenSurvivesAScan() {
        // Given a table in which some keys are read again and again
        var table = EvictingTable<Int, Int>(costLimit: 100)
        for key in 0..<50 { table.insert(key, key, cost: 1) }
        for _ in 0..<3 { for key in 0..<20 { _ = table.value(key) } }
        // When a thousand keys pass through that are never read again
        for key in 1_000..<2_000 { table.insert(key, key, cost: 1) }
        // Then those that were read are still there
        for key in 0..<20 { #expect(table.peek(key) != nil) }
    }

    @Test func oneThatComesBackSoonIsRemembered() {
        // Given a key that was evicted unread from the small queue
        var table = EvictingTable<Int, Int>(costLimit: 100, ghostCapacity: 1_000)
        table.insert(1, 1, cost: 1)
        for key in 100..<250 { table.insert(key, key, cost: 1) }
        #expect(table.peek(1) == nil)
        // When it comes again, and then a few hundred others
        table.insert(1, 1, cost: 1)
        for key in 300..<400 { table.insert(key, key, cost: 1) }
        // Then it outlasts those that came with it, having entered the main queue at once
        #expect(table.peek(1) != nil)
    }

    @Test func thePinnedAreNeverEvicted() {
        var table = EvictingTable<Int, Int>(costLimit: 10)
        table.pin(1)
        table.insert(1, 1, cost: 4)
        table.insert(2, 2, cost: 4)
        table.pin(2)
        for key in 10..<100 { table.insert(key, key, cost: 4) }
        #expect(table.peek(1) == 1 && table.peek(2) == 2)
        // Even above the limit, which everything else then leaves
        table.pin(3)
        let accepted = table.insert(3, 3, cost: 50)
        #expect(accepted)
        #expect(table.peek(1) == 1 && table.peek(3) == 3 && table.count == 3)
        // Until they are let go of as often as they were held
        table.pin(3)
        table.unpin(3)
        #expect(table.peek(3) == 3)
        table.unpin(3)
        #expect(table.peek(3) == nil && table.totalCost == 8 && table.isConsistent)
    }

    @Test func whatIsTooBigIsRefusedAndLeavesNothingOldBehind() {
        var table = EvictingTable<Int, Int>(costLimit: 10)
        table.insert(1, 1, cost: 5)
        let accepted = table.insert(1, 2, cost: 11)
        #expect(!accepted)
        #expect(table.peek(1) == nil && table.totalCost == 0)
    }

    @Test func theHitRatioIsThatOfS3FIFO() {
        // Given keys of Zipf's distribution with exponent 1, and a capacity of a tenth of them
        var random = SplitMix(42)
        let weights = (1...10_000).map { 1 / Double($0) }
        var sums: [Double] = []
        for weight in weights { sums.append((sums.last ?? 0) + weight) }
        var table = EvictingTable<Int, Int>(costLimit: 1_000, ghostCapacity: 1_000)
        var hits = 0
        let turns = 200_000
        for _ in 0..<turns {
            let point = Double(random.next() >> 11) / Double(1 << 53) * sums[sums.count - 1]
            var low = 0
            var high = sums.count - 1
            while low < high {
                let middle = (low + high) / 2
                if sums[middle] < point { low = middle + 1 } else { high = middle }
            }
            if table.value(low) != nil { hits += 1 } else { table.insert(low, low, cost: 1) }
        }
        // Then it hits about as often as the ideal (the thousand most popular keys: 76 %), far above first-in-first-out (62 %)
        #expect(Double(hits) / Double(turns) > 0.70)
    }
}

/// A small deterministic generator, so that a failure repeats.
struct SplitMix: RandomNumberGenerator {
    private var state: UInt64
    init(_ seed: UInt64) { state = seed }
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
