import FreshetClient
import FreshetTestKit
import Synchronization
import Testing

/// Many tests on one server.
@Suite(.timeLimit(.minutes(5))) struct ParallelTests {
    @Test func aHundredKitsOnOneServerDoNotMeet() async throws {
        // Given one server, and a hundred tests that run at once, each with two devices and separate faults
        let server = try TestKit.Server()
        let namespaces = try await withThrowingTaskGroup(of: String.self) { group in
            for number in 1...100 {
                group.addTask {
                    let kit = try TestKit(on: server)
                    let phone = try await kit.device("phone"), laptop = try await kit.device("laptop")
                    let lost = try kit.fault(number.isMultiple(of: 2) ? .dropReply : .cut, on: .writes, of: phone)
                    // When all of them count under the same key
                    let count = 1 + number % 20
                    for _ in 0..<count { try await phone.tallies.increment("/count", of: "visits") }
                    try await kit.waitUntilIdle(within: .seconds(240))
                    // Then each kit has only its own count
                    #expect(laptop.tallies["visits"]?.value == Tally(count: count))
                    #expect(try await kit.tallies.all().map(\.value) == [Tally(count: count)])
                    #expect(kit.matchCount(of: lost) == 1 && kit.matchCount == 1)
                    await kit.close()
                    return kit.namespace
                }
            }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(namespaces.count == 100)
        await server.stop()
    }

    /// A hundred separate tests, as a runner starts them.
    @Test(arguments: 1...100) func oneOfAHundredTestsOnTheSharedServer(_ number: Int) async throws {
        let kit = try TestKit()
        let phone = try await kit.device("phone"), laptop = try await kit.device("laptop")
        try await phone.notes.setValue(Note(text: "\(number)"), forKey: "1")
        try await kit.waitUntilIdle(within: .seconds(240))
        #expect(laptop.notes["1"]?.value == Note(text: "\(number)"))
        #expect(try await kit.notes.all().map(\.value) == [Note(text: "\(number)")])
        await kit.close()
    }
}
