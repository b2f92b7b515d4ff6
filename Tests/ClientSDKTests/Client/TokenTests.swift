import FreshetClient
import Synchronization
import Testing

@Suite struct TokenTests {
    @Test func aRefusedTokenIsAskedForAfreshOnce() async throws {
        // Given a gate that lets one token in, and a client whose first token is an old one
        let seen = Mutex<[String]>([])
        let server = ScriptedServer { connection in
            while let request = connection.request() {
                let token = request.head.split(separator: "\r\n").first { $0.hasPrefix("Authorization: ") }.map(String.init) ?? "none"
                seen.withLock { $0.append(token) }
                if token.hasSuffix("new") {
                    connection.respond("{\"changes\":[],\"cursor\":\"e1-7\",\"upToDate\":true}", fields: "Freshet-Cursor: e1-7\r\n")
                    connection.waitUntilClosed()
                } else {
                    connection.respond("", status: "401 Unauthorized")
                }
            }
        }
        let client = try World.client(server.url) { $0.token = { needsFresh in needsFresh ? "new" : "old" } }
        try await client.start()
        // Then it comes in with the new one, at the second request
        _ = try await first(of: client.statuses) { $0.cursor?.revision == Revision(7) }
        #expect(seen.withLock { Array($0.prefix(2)) } == ["Authorization: Bearer old", "Authorization: Bearer new"])
    }

    @Test func aTokenThatStaysRefusedIsSaidToBe() async throws {
        let server = ScriptedServer { connection in
            while connection.request() != nil { connection.respond("", status: "401 Unauthorized") }
        }
        let client = try World.client(server.url) { $0.token = { _ in "never" } }
        try await client.start()
        // A machine that is busy elsewhere may first take the slow closure for a dead connection: only the word itself counts.
        _ = try await first(of: client.statuses, "unauthorized") { $0.feedError == .unauthorized }
    }

    @Test(arguments: [true, false]) func aTokenClosureThatFailsIsTriedAgain(_ throwing: Bool) async throws {
        struct Locked: Error {}
        // Given a closure that fails twice, or gives what would break the field
        let world = try World()
        let calls = Counter()
        let client = try world.client {
            $0.token = { _ in
                guard calls.next() <= 2 else { return nil }
                if throwing { throw Locked() }
                return "a\r\nHost: elsewhere"
            }
        }
        try await client.start()
        // Then the client gets through all the same
        try await within { try await client.live() }
        #expect(calls.count > 2)
    }
}

/// Counts calls from any thread.
final class Counter: Sendable {
    private let value = Mutex(0)
    var count: Int { value.withLock { $0 } }

    func next() -> Int {
        value.withLock { value in
            value += 1
            return value
        }
    }
}
