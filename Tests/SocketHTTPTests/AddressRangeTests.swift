import Testing

@testable import FreshetSocketHTTP

@Suite("Address range")
struct AddressRangeTests {
    @Test(
        "A range contains the addresses that its prefix begins",
        arguments: [
            ("192.0.2.1", "192.0.2.1", true), ("192.0.2.1", "192.0.2.2", false), ("10.0.0.0/8", "10.255.1.2", true),
            ("10.0.0.0/8", "11.0.0.0", false), ("10.1.2.3/8", "10.9.9.9", true), ("0.0.0.0/0", "203.0.113.7", true),
            ("0.0.0.0/0", "2001:db8::1", false), ("::/0", "2001:db8::1", true), ("2001:db8::/32", "2001:db8:ffff::1", true),
            ("2001:db8::/32", "2001:db9::1", false), ("2001:db8::/65", "2001:db8::8000:0:0:0", false), ("::1", "::1", true),
            ("10.0.0.0/8", "::ffff:10.1.1.1", true), ("10.0.0.0/32", "10.0.0.0", true),
        ])
    func contains(range: String, address: String, isContained: Bool) throws {
        #expect(try #require(AddressRange(range)).contains(#require(IPAddress(address))) == isContained)
    }

    @Test(
        "Text that is neither an address nor a network is refused",
        arguments: ["", "localhost", "10.0.0.0/33", "::/129", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0/8", "10.0.0.0/8/8"])
    func invalid(text: String) {
        #expect(AddressRange(text) == nil)
    }

    @Test("Loopback is the machine itself", arguments: [("127.0.0.1", true), ("127.9.9.9", true), ("::1", true), ("10.0.0.1", false)])
    func loopback(text: String, isLoopback: Bool) throws {
        let address = try #require(IPAddress(text))
        #expect(AddressRange.loopback.contains { $0.contains(address) } == isLoopback)
    }

    @Test("A subscriber is an IPv4 address or an IPv6 network of 64 bits")
    func subscriber() throws {
        func subscriber(_ text: String) throws -> IPAddress { try #require(IPAddress(text)).subscriber }
        #expect(try subscriber("2001:db8::1") == subscriber("2001:db8::2:3"))
        #expect(try subscriber("2001:db8::1") != subscriber("2001:db8:0:1::1"))
        #expect(try subscriber("192.0.2.1") != subscriber("192.0.2.2"))
        #expect(try subscriber("192.0.2.1") == subscriber("::ffff:192.0.2.1"))
    }
}
