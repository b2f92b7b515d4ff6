import Testing

@testable import FreshetSocketHTTP

@Suite("Rates of handshakes")
struct HandshakeRatesTests {
    private func address(_ number: Int) throws -> IPAddress {
        try #require(IPAddress("10.\(number >> 16).\(number >> 8 & 255).\(number & 255)"))
    }

    @Test("An address begins as many as a period allows at once, then as fast as they are refilled, and others are not concerned")
    func rate() throws {
        // Given 20 in 10 ticks
        var rates = HandshakeRates(count: 20, period: 10)
        let (one, other) = (try address(1), try address(2))
        func begin(_ count: Int, _ address: IPAddress, at tick: UInt32) -> Int {
            (0..<count).count { _ in rates.admit(address, at: tick) }
        }
        #expect(begin(25, one, at: 100) == 20)
        #expect(begin(1, other, at: 100) == 1)
        // When a tick has passed; Then two more may begin
        #expect(begin(5, one, at: 101) == 2)
        // And a clock that is a tick behind refills nothing
        #expect(begin(1, one, at: 100) == 0)
        // When a period has passed; Then all may begin, and no more than that after a long time
        #expect(begin(25, one, at: 111) == 20)
        #expect(begin(25, one, at: 1_000_000) == 20)
    }

    @Test("The count of ticks may wrap, and a rate may be as low or high as a number can say")
    func extremes() throws {
        func admitted(_ ticks: [UInt32], count: Int, period: Int) throws -> [Bool] {
            var rates = HandshakeRates(count: count, period: period)
            let address = try address(1)
            return ticks.map { rates.admit(address, at: $0) }
        }
        #expect(try admitted([.max, 3, 9], count: 1, period: 10) == [true, false, true])
        #expect(try admitted([0, 1 << 30], count: .max, period: .max) == [true, true])
        #expect(try admitted([0, 0], count: 0, period: 0) == [true, false])
    }

    @Test("Addresses are forgotten, so that they take no more than their bound")
    func memory() throws {
        // Given an address that has begun all of its handshakes, and many others since
        var rates = HandshakeRates(count: 1, period: 10)
        let addresses = try (0..<100_000).map(address)
        #expect(addresses.allSatisfy { rates.admit($0, at: 5) })
        // Then the latest is remembered, and the first is not
        #expect(rates.addresses <= 65_537)
        let admitted = [addresses[99_999], addresses[0]].map { rates.admit($0, at: 5) }
        #expect(admitted == [false, true])
    }
}
