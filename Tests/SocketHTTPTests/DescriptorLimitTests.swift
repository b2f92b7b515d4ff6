import Testing

@testable import FreshetSocketHTTP

@Suite("Descriptor limit")
struct DescriptorLimitTests {
    @Test("A limit that suffices for the connections allowed gives no warning", arguments: [20_000, 20_001, .max])
    func enough(limit: Int) {
        #expect(DescriptorLimit.shortage(limit: limit, connections: 20_000) == nil)
    }

    @Test("A lower limit is named, with the limit that would suffice")
    func short() throws {
        let shortage = try #require(DescriptorLimit.shortage(limit: 4_096, connections: 20_000))
        #expect(shortage.contains("may open 4096 files"))
        #expect(shortage.contains("20000 connections allowed, 3840 are open at once"))
        #expect(shortage.contains("hard limit to 20256"))
    }

    @Test(
        "Some descriptors are never taken by connections",
        arguments: [(64, 32), (500, 250), (1_024, 768), (20_256, 20_000), (.max, .max - 256)])
    func room(limit: Int, room: Int) {
        #expect(DescriptorLimit.room(within: limit) == room)
    }

    @Test("A number of connections may be as great as a number can say", arguments: [Int.max, .max - 1])
    func noLimit(connections: Int) throws {
        let shortage = try #require(DescriptorLimit.shortage(limit: 4_096, connections: connections))
        #expect(shortage.contains("hard limit to \(Int.max)"))
    }
}
