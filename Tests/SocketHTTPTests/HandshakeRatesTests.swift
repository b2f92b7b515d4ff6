import Testing

@testable import FreshetSocketHTTP

@Suite("Rates of handshakes")
struct HandshakeRatesTests {
    private func address(_ number: Int) throws -> IPAddress { try #require(IPAddress("10.\(number >> 16).\(number >> 8 & 255).\(number & 255)")) }

    @Test("An address begins as many as a period allows at once, then as fast as they are refilled, and others are not concerned")
    func rate() throws {
        // Given 20 in 10 ticks
        var rates = HandshakeRates(count: 20, period: 10)
        let (one, other) = (try address(1), try address(2))
        #expect((0..<25).count { _ in rates.admit(one, at: 100) } == 20)
        #expect(rates.admit(other, at: 100))
        // When a tick has passed; Then two more may begin
        #expect((0..<5).count { _ in rates.admit(one, at: 101) } == 2)
        // And a clock that is a tick behind refills nothing
        #expect(!rates.admit(one, at: 100))
        // When a period has passed; Then all may begin, and no more than that after a long time
        #expect((0..<25).count { _ in rates.admit(one, at: 111) } == 20)
        #expect((0..<25).count { _ in rates.admit(one, at: 1_000_000) } == 20)
    }

    @Test("The count of ticks may wrap, and a rate may be as low or high as a number can say")
    func extremes() throws {
        var rates = HandshakeRates(count: 1, period: 10)
        #expect(try rates.admit(address(1), at: .max) && !rates.admit(address(1), at: 3))
        #expect(try rates.admit(address(1), at: 9))
        var many = HandshakeRates(count: .max, period: .max)
        #expect(try many.admit(address(1), at: 0) && many.admit(address(1), at: 1 << 30))
        var none = HandshakeRates(count: 0, period: 0)
        #expect(try none.admit(address(1), at: 0) && !none.admit(address(1), at: 0))
    }

    @Test("Addresses are forgotten, so that they take no more than their bound")
    func memory() throws {
        var rates = HandshakeRates(count: 1, period: 10)
        for number in 0..<100_000 { #expect(try rates.admit(address(number), at: 5)) }
        #expect(rates.addresses <= 65_537)
        #expect(try !rates.admit(address(99_999), at: 5) && rates.admit(address(0), at: 5))
    }
}
