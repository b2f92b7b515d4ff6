import FreshetWire
import Testing

@testable import FreshetServer

/// A board without a battery, a virtual machine that is resumed, time synchronisation that steps.
@Suite("A server with a wrong wall clock") struct WrongClockTests {
    private static let day: Int64 = 86_400_000

    private let clock = TestClock()

    /// Runs a server over the store until the closure is done.
    private func run<Result>(_ store: any RecordStore, _ body: (TestServer) async throws -> Result) async throws -> Result {
        let test = try TestServer(sharing: SharedStore(store), environment: clock.environment)
        do {
            let result = try await body(test)
            await test.server.stop()
            return result
        } catch {
            await test.server.stop()
            throw error
        }
    }

    /// Sends the client's write 1, which has been rejected, and returns its status.
    private func sendAgain(_ client: String, to server: TestServer) async throws -> String {
        let body = #"{"client":"\#(client)","writes":[{"number":1,"op":"put","key":"a/0","value":7,"ifRevision":900}]}"#
        let text = try await server.request("POST", "/v1/shop/writes", TestServer.json, body).text
        return ["rejected", "settled"].first { text.contains("\"status\":\"\($0)\"") } ?? text
    }

    /// Deletes and invalidates a record each, and has a write rejected.
    private func leaveTraces(_ name: String, in server: TestServer) async throws {
        try await server.put("/v1/shop/records/a/\(name)", "1")
        _ = try await server.request("DELETE", "/v1/shop/records/a/\(name)")
        _ = try await server.request("POST", "/v1/shop/invalidations", TestServer.json, #"{"keys":["b/\#(name)"]}"#)
        #expect(try await sendAgain(name, to: server) == "rejected")
    }

    /// What a device finds that was at `cursor`, and repeats its write.
    private func found(since cursor: Cursor, in server: TestServer) async throws -> [String] {
        await server.server.compact()
        let changes = try await server.request("GET", "/v1/shop/changes?since=\(cursor)&wait=0").status
        let status = try await server.request("GET", "/v1/shop").message(NamespaceStatus.self)
        return [
            "\(changes)", try await sendAgain("right", to: server), "\(status.tombstones) deletes", "\(status.invalidations) invalidations",
            "\(status.outcomes) outcomes",
        ]
    }

    @Test(
        "A clock that is wrong for a while, also at a start, forgets nothing, and what was written then is forgotten in its time",
        arguments: StoreKind.allCases, [-3_650, 730])
    func wrongForAWhile(_ kind: StoreKind, _ days: Int64) async throws {
        let fixture = try StoreFixture(kind)
        // Given
        let cursor = try await run(fixture.store) { server in
            let cursor = try await server.put("/v1/shop/records/a/0", "1").cursor
            try await leaveTraces("right", in: server)
            // When the clock jumps while the server runs
            clock.set(wallForwardBy: days * Self.day)
            // Then
            let seen = try await found(since: cursor, in: server)
            #expect(seen == ["200", "rejected", "1 deletes", "1 invalidations", "1 outcomes"])
            try await leaveTraces("wrong", in: server)
            return cursor
        }
        let all = ["200", "rejected", "2 deletes", "2 invalidations", "2 outcomes"]
        // When the server starts with the wrong clock, and then with the right one, more than once
        for shift in [0, -days, days, -days] {
            clock.set(wallForwardBy: shift * Self.day)
            let seen = try await run(fixture.store) { try await found(since: cursor, in: $0) }
            #expect(seen == all)
        }
        // When nearly as much time passes as deletes are kept for, and then a day more than that
        try await run(fixture.store) { server in
            clock.advance(28 * Self.day)
            let early = try await found(since: cursor, in: server)
            clock.advance(3 * Self.day)
            let late = try await found(since: cursor, in: server)
            clock.advance(366 * Self.day)
            let later = try await found(since: cursor, in: server)
            // Then
            #expect(early == all)
            #expect(late == ["410", "rejected", "0 deletes", "0 invalidations", "2 outcomes"])
            #expect(later[1] == "settled")
        }
    }

    @Test("A store keeps the latest of all times, and nothing of a transaction that is undone", arguments: StoreKind.allCases)
    func marks(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        _ = try fixture.put("a/1", "1")
        _ = try fixture.write("a/1", .delete, at: 500)
        try fixture.invalidate(.everything, at: 900)
        let stored = try fixture.store.retention()
        // Then a store that no server has used says how late its stamps are
        #expect(stored.mark == nil && stored.latestStamp == (kind == .memory ? nil : 900))
        func raise(_ time: Int64, fails: Bool = false) throws -> RetentionClock.Mark {
            try fixture.store.transaction { transaction in
                let mark = try transaction.raise(RetentionClock.Mark(time: time, wall: time))
                if fails { throw StoreError.revisionsExhausted(fixture.namespace) }
                return mark
            }
        }
        // When
        let first = try raise(5_000)
        #expect(throws: StoreError.self) { try raise(9_000, fails: true) }
        let second = try raise(4_000)
        // Then
        #expect(first.time == 5_000 && second.time == 5_000 && second.wall >= first.wall)
        #expect(try fixture.store.retention().mark == second)
        #expect(try fixture.store.retention().latestStamp == nil)
        // The clock of PostgreSQL is the one that counts there.
        #expect((first.wall == 5_000) == (kind != .postgreSQL))
        #expect(try (fixture.store.retention().wall != nil) == (kind == .postgreSQL))
    }
}
