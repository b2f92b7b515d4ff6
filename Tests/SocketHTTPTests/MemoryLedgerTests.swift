import Testing

@testable import FreshetSocketHTTP

@Suite("Memory ledger")
struct MemoryLedgerTests {
    @Test("The bytes of all connections are summed; those of one that keeps little are not counted")
    func sum() {
        var ledger = MemoryLedger(.growing)
        ledger.set(100_000, of: 1)
        ledger.set(5_000, of: 2)
        ledger.set(MemoryLedger.smallest - 1, of: 3)
        #expect(ledger.bytes == 105_000)
        ledger.set(200_000, of: 1)
        ledger.set(10, of: 2)
        #expect(ledger.bytes == 200_000)
        ledger.set(0, of: 1)
        ledger.set(0, of: 1)
        #expect(ledger.bytes == 0)
    }

    @Test("The connection that has gone longest without progress gives way first, whatever it kept earlier")
    func slowest() {
        // Given a body that arrived at once and stopped, one that drips, one that continues, and a new one
        var ledger = MemoryLedger(.growing)
        ledger.set(16_000_000, of: 1)
        ledger.set(1_000_000, of: 2)
        ledger.set(1_000_000, of: 3)
        for tick in 6..<100 {
            ledger.set(1_000_000 + tick, of: 2)
            ledger.set(1_000_000 + tick * 16_384, of: 3)
        }
        ledger.set(100_000, of: 4)

        // Then they give way in that order, as many as are needed
        #expect(ledger.giveWay(freeing: 1, share: 0) == [1])
        #expect(ledger.giveWay(freeing: 16_500_000, share: 0) == [1, 2])
        #expect(ledger.giveWay(freeing: .max, share: 0) == [1, 2, 3, 4])
        #expect(ledger.giveWay(freeing: 0, share: 0).isEmpty)
    }

    @Test("For answers, accepted bytes are progress and added ones are not")
    func answers() {
        var ledger = MemoryLedger(.shrinking)
        ledger.set(500_000, of: 1)
        ledger.set(500_000, of: 2)
        ledger.set(400_000, of: 1)
        ledger.set(900_000, of: 2)
        #expect(ledger.giveWay(freeing: 1, share: 0) == [2])
    }

    @Test("Connections that keep little give way last, and only as far as all together keep more than their share")
    func small() {
        // Given many that keep little and are slow, and one that keeps much and is new
        var ledger = MemoryLedger(.growing)
        for number in 0..<10 { ledger.set(50_000, of: UInt64(number)) }
        ledger.set(100_000, of: 99)
        #expect(ledger.giveWay(freeing: 200_000, share: 1_000_000) == [99])
        #expect(ledger.giveWay(freeing: 200_000, share: 450_000) == [99, 0])
    }

    @Test("An array counts once, as long as any connection waits for it")
    func shared() {
        var shared = SharedBytes()
        let page = [UInt8](repeating: 1, count: 1000)
        let other = [UInt8](repeating: 1, count: 10)
        for _ in 0..<3 { shared.add(page) }
        shared.add(other)
        shared.add([])
        #expect(shared.bytes == 1010)
        for _ in 0..<2 { shared.remove(page) }
        #expect(shared.bytes == 1010)
        shared.remove(page)
        shared.remove(page)
        #expect(shared.bytes == 10)
    }
}
