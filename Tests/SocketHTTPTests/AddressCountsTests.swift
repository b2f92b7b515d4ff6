import Testing

@testable import FreshetSocketHTTP

@Suite("Connections of an address")
struct AddressCountsTests {
    @Test("An address is served up to the limit, refused a little beyond it, dropped further on, and served again once there is room")
    func limit() throws {
        // Given an address with all its connections
        let address = try #require(IPAddress("192.0.2.1"))
        var counts = AddressCounts(limit: 2)
        counts.refusals = 1
        #expect((0..<5).map { _ in counts.admit(address) } == [.serve, .serve, .refuse, .drop, .drop])

        // When those that were counted close, Then it has room again; another address always had
        #expect(counts.admit(try #require(IPAddress("192.0.2.2"))) == .serve)
        counts.remove(address)
        #expect(counts.admit(address) == .refuse)
        for _ in 0..<2 { counts.remove(address) }
        #expect(counts.admit(address) == .serve)
    }

    @Test("A limit may be as great as a number can say")
    func noLimit() throws {
        var counts = AddressCounts(limit: .max)
        #expect(counts.admit(try #require(IPAddress("192.0.2.1"))) == .serve)
    }

    @Test("An address without connections takes no memory")
    func memory() {
        var counts = AddressCounts(limit: 10)
        for number in 0..<1000 {
            let address = IPAddress(version4: UInt32(number))
            #expect(counts.admit(address) == .serve)
            counts.remove(address)
            counts.remove(address)
        }
        #expect(counts.addresses == 0)
    }
}
