import FreshetClient
import FreshetServer
import FreshetTestKit
import Testing

// article begins
struct Order: Codable, Hashable, Sendable {
    var dish: String
}
// article ends

@Suite("Article: getting started with the test kit", .timeLimit(.minutes(5)))
struct GettingStartedTests {
    // article begins
    @Test func anOrderReachesTheKitchen() async throws {
        let kit = try TestKit()
        let till = try await kit.device("till").collection("orders", of: Order.self)
        let kitchen = try await kit.device("kitchen").collection("orders", of: Order.self)

        try await till.setValue(Order(dish: "Soup"), forKey: "1")
        try await kit.waitUntilIdle()

        #expect(kitchen["1"]?.value == Order(dish: "Soup"))
        await kit.close()
    }
    // article ends

    // article begins
    @Test func anOrderIsStoredOnceAlthoughItsAcknowledgementIsLost() async throws {
        let kit = try TestKit()
        let till = try await kit.device("till")

        let lost = try kit.fault(.dropReply, on: .writes, of: till)
        let write = try await till.collection("orders", of: Order.self).setValue(Order(dish: "Soup"), forKey: "1")
        try await write.waitUntilConfirmed()

        #expect(kit.matchCount(of: lost) == 1)
        #expect(try await kit.backend("orders", of: Order.self).all().map(\.value) == [Order(dish: "Soup")])
    }
    // article ends

    @Test("a kit on a server with other settings syncs as well")
    func server() async throws {
        // Given
        let (kit, server) = try Self.kitOnServer()
        let till = try await kit.device("till")
        // When
        try await till.collection("orders", of: Order.self).setValue(Order(dish: "Soup"), forKey: "1")
        try await kit.waitUntilIdle()
        // Then
        #expect(kit.url == server.url)
        #expect(try await kit.backend("orders", of: Order.self).all().map(\.value) == [Order(dish: "Soup")])
        await kit.close()
        await server.stop()
    }

    private static func kitOnServer() throws -> (TestKit, TestKit.Server) {
        // article begins
        var configuration = RecordServerConfiguration()
        configuration.hold = 5  // seconds
        let server = try TestKit.Server(configuration)
        let kit = try TestKit(on: server)
        // article ends
        return (kit, server)
    }
}
