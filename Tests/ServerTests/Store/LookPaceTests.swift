import Testing

@testable import FreshetServer

@Suite("How long looks into the file take")
struct LookPaceTests {
    private var pace = LookPace()

    private mutating func look(_ count: Int, _ nanoseconds: Int64) { for _ in 0..<count { pace.took(nanoseconds) } }

    @Test("where memory answers nobody waits, a thread that had to wait for its processor included")
    mutating func memory() {
        look(1_000, 5_000)
        #expect(!pace.isSlow)
        look(1, 50_000_000)
        #expect(!pace.isSlow)
        look(1, -1)
        #expect(!pace.isSlow)
    }

    @Test("where a disk answers that is known after some looks, and forgotten after some that memory answers")
    mutating func disk() {
        look(10, 5_000)
        look(20, 120_000)
        #expect(pace.isSlow)
        // The half of a group that memory answers changes nothing
        for _ in 0..<100 {
            look(1, 5_000)
            look(1, 120_000)
        }
        #expect(pace.isSlow)
        look(40, 5_000)
        #expect(!pace.isSlow)
    }
}
