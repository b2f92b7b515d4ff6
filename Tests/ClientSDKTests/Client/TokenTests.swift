import FreshetClient
import FreshetFaultProxy
import FreshetTestSupport
import FreshetWire
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
                    connection.respond(
                        "{\"changes\":[],\"cursor\":\"e1-7\",\"upToDate\":true}",
                        fields: "Freshet-Cursor: e1-7\r\nContent-Type: application/json\r\n")
                    connection.waitUntilClosed()
                } else {
                    connection.respond("", status: "401 Unauthorized")
                }
            }
        }
        let client = try ServerFixture.client(server.url) { $0.token = { needsFresh in needsFresh ? "new" : "old" } }
        try await client.start()
        // Then it comes in with the new one, at the second request
        _ = try await first(of: client.statuses) { $0.cursor?.revision == Revision(7) }
        #expect(seen.withLock { Array($0.prefix(2)) } == ["Authorization: Bearer old", "Authorization: Bearer new"])
    }

    @Test func aTokenThatStaysRefusedIsSaidToBe() async throws {
        let server = ScriptedServer { connection in
            while connection.request() != nil { connection.respond("", status: "401 Unauthorized") }
        }
        let client = try ServerFixture.client(server.url) { $0.token = { _ in "never" } }
        try await client.start()
        // A machine that is busy elsewhere may first take the slow closure for a dead connection: only the word itself counts.
        let status = try await first(of: client.statuses, "unauthorized") { $0.feedError == .unauthorized }
        // Then it is neither offline nor catching up
        if case .unauthorized = status.connection {} else { Issue.record("\(status.connection)") }
    }

    @Test("a closure that never returns ends a request at its timeout, and the next request asks again")
    func silentClosure() async throws {
        // Given a client whose closure hangs, once it is live, for one call: that of a list
        let fixture = try ServerFixture()
        let isHanging = Mutex(false)
        let isAsked = Mutex(0)
        let client = try await fixture.live {
            $0.following = .cachedRecords
            $0.requestTimeout = .seconds(2)
            $0.token = { _ in
                guard isHanging.withLock({ $0 }) else { return "a" }
                isAsked.withLock { $0 += 1 }
                // Ignores that it is cancelled, as many a closure does.
                await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
                return nil
            }
        }
        isHanging.withLock { $0 = true }
        // When
        await #expect(throws: ClientError.noToken("it gave none within 2000 ms")) {
            _ = try await within { try await client.invalidate(.everything) }
        }
        // Then
        #expect(isAsked.withLock { $0 } >= 1)
        isHanging.withLock { $0 = false }
        client.retryNow()
        try await within { try await client.waitUntilLive() }
        #expect(try await within { try await client.notes.ids() } == [])
        await client.stop()
    }

    @Test func aLoginIsNoticedAtOnce() async throws {
        // Given a client whose token is refused, and that would wait for an hour before it tries again
        let isLoggedIn = Mutex(false)
        let gate = ScriptedServer { connection in
            while connection.request() != nil {
                guard isLoggedIn.withLock({ $0 }) else {
                    connection.respond("", status: "401 Unauthorized")
                    continue
                }
                connection.respond(
                    "{\"changes\":[],\"cursor\":\"e1-7\",\"upToDate\":true}",
                    fields: "Freshet-Cursor: e1-7\r\nContent-Type: application/json\r\n")
            }
        }
        let client = try ServerFixture.client(gate.url) {
            $0.token = { _ in isLoggedIn.withLock { $0 } ? "new" : "old" }
            $0.firstDelay = .seconds(18_000)
            $0.longestDelay = .seconds(18_000)
        }
        try await client.start()
        _ = try await first(of: client.statuses, "unauthorized") { if case .unauthorized = $0.connection { true } else { false } }
        // When the user logs in
        isLoggedIn.withLock { $0 = true }
        client.retryNow()
        // Then the client is there at once
        _ = try await first(of: client.statuses, "the cursor") { $0.cursor?.revision == Revision(7) }
        await client.stop()
    }

    @Test func aNetworkThatIsBackIsNoticedAtOnce() async throws {
        // Given a client that is offline, and would wait for an hour
        let fixture = try ServerFixture()
        let client = try await fixture.live(throughProxy: true) {
            $0.firstDelay = .seconds(18_000)
            $0.longestDelay = .seconds(18_000)
        }
        fixture.proxy.refuse()
        try await client.offline()
        // When the network is back
        fixture.proxy.acceptAgain()
        client.networkChanged()
        // Then the client is live, and a write needs no wait
        try await within { try await client.waitUntilLive() }
        _ = try await within { try await client.notes.setValue(Note(text: "a"), forKey: "1").waitUntilConfirmed() }
        // When nothing is wrong; Then neither call does any harm
        client.retryNow()
        client.networkChanged()
        _ = try await within { try await client.notes.setValue(Note(text: "b"), forKey: "1").waitUntilConfirmed() }
        await client.stop()
        client.retryNow()
        client.networkChanged()
    }

    @Test(arguments: [true, false]) func aTokenClosureThatFailsIsTriedAgain(_ throwing: Bool) async throws {
        struct Locked: Error {}
        // Given a closure that fails twice, or returns a token that would break the field
        let fixture = try ServerFixture()
        let calls = Counter()
        let client = try fixture.client {
            $0.token = { _ in
                guard calls.next() <= 2 else { return nil }
                if throwing { throw Locked() }
                return "a\r\nHost: elsewhere"
            }
        }
        try await client.start()
        // Then the client gets through all the same
        try await within { try await client.waitUntilLive() }
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
