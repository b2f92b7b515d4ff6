import Testing

@testable import FreshetServer

@Suite("The pace of lookups in the file")
struct LookupLatencyTests {
    private var pace = LookupLatency()

    private mutating func look(_ count: Int, _ nanoseconds: Int64) { for _ in 0..<count { pace.took(nanoseconds) } }

    @Test("lookups from memory are not slow, even if a thread had to wait for its processor")
    mutating func memory() {
        look(1_000, 5_000)
        #expect(!pace.isSlow)
        look(1, 50_000_000)
        #expect(!pace.isSlow)
        look(1, -1)
        #expect(!pace.isSlow)
    }

    @Test("a slow disk is noticed after some lookups, and forgotten after some from memory")
    mutating func disk() {
        look(10, 5_000)
        look(20, 120_000)
        #expect(pace.isSlow)
        // The half of a group that is in memory changes nothing
        for _ in 0..<100 {
            look(1, 5_000)
            look(1, 120_000)
        }
        #expect(pace.isSlow)
        look(40, 5_000)
        #expect(!pace.isSlow)
    }
}
