import FreshetWire
import Synchronization
import Testing

@testable import FreshetServer

/// The answers to writes whose transaction fails in the store.
@Suite("Failures of a store, over HTTP") struct StoreFailureTests {
    private static let lost = StoreError.outcomeUnknown(path: "the store", reason: "the connection was lost")
    private static let apple = "/v1/shop/records/fruits/apple"

    /// A server over a store whose transactions fail as long as `failure` has a failure.
    private static func with(
        _ body: (TestServer, _ fail: @escaping @Sendable (ObservedStore.Failure?) -> Void) async throws -> Void
    ) async throws {
        let failure = FailureSlot()
        let store = ObservedStore(MemoryRecordStore(seed: 1), answersAtOnce: false, failure: { failure.value.withLock { $0 } })
        let server = try TestServer(sharing: SharedStore(store))
        do {
            try await body(server) { new in failure.value.withLock { $0 = new } }
            await server.server.stop()
        } catch {
            await server.server.stop()
            throw error
        }
    }

    private final class FailureSlot: Sendable {
        let value = Mutex<ObservedStore.Failure?>(nil)
    }

    @Test(arguments: [ObservedStore.Failure.undone(lost), .stored(lost)])
    func aWriteWithoutANumberIsStoredOrNotAndItsProblemSaysSo(_ failure: ObservedStore.Failure) async throws {
        try await Self.with { server, fail in
            // Given
            fail(failure)
            // When
            let reply = try await server.request("PUT", Self.apple, TestServer.json, "1")
            // Then
            #expect(reply.status == 503 && reply.problem?.code == .outcomeUnknown && reply["Retry-After"] != nil)
            #expect(try await server.request("GET", Self.apple).status == (failure == .stored(Self.lost) ? 200 : 404))
        }
    }

    @Test(arguments: [ObservedStore.Failure.undone(lost), .stored(lost)], [true, false])
    func aRepeatedNumberTakesEffectOnce(_ failure: ObservedStore.Failure, _ isBatch: Bool) async throws {
        try await Self.with { server, fail in
            // Given a numbered write whose outcome is unknown
            @Sendable func send() async throws -> Reply {
                guard isBatch else {
                    let fields = TestServer.json + [("Freshet-Client", "phone"), ("Freshet-Write", "1")]
                    return try await server.request("PUT", Self.apple, fields, "1")
                }
                let batch = #"{"client":"phone","writes":[{"number":1,"op":"increment","key":"fruits/apple","path":"","by":1}]}"#
                return try await server.request("POST", "/v1/shop/writes", TestServer.json, batch)
            }
            fail(failure)
            let first = try await send()
            #expect(first.status == 503 && first.problem?.code == .outcomeUnknown && first["Retry-After"] != nil)
            // When it is repeated as it is
            fail(nil)
            let again = try await send()
            // Then it is the first and only one
            #expect((200...201).contains(again.status))
            let stored = try await server.request("GET", Self.apple)
            #expect(stored.text == "1" && stored.cursor?.revision.number == 1)
        }
    }

    @Test func aWaitingPollGetsAChangeWhoseOutcomeTheServerDoesNotKnow() async throws {
        try await Self.with { server, fail in
            // Given a poll that waits
            let start = try await server.put("/v1/shop/records/fruits/fig", "1").cursor
            async let woken = server.request("GET", "/v1/shop/changes?since=\(start)&wait=60")
            try await server.waitUntil(waiting: 1, in: "shop")
            // When a write is stored, and the server does not know
            fail(.stored(Self.lost))
            #expect(try await server.request("PUT", Self.apple, TestServer.json, "1").status == 503)
            // Then
            let page = try await woken.message(ChangePage.self)
            #expect(page.changes.map(\.revision.number) == [2] && page.upToDate)
            // And the next change follows it
            fail(nil)
            let next = try await server.put("/v1/shop/records/fruits/kiwi", "1")
            let following: ChangePage = try await server.request("GET", "/v1/shop/changes?since=\(page.cursor)&wait=60").message()
            #expect(following.cursor == next.cursor && following.changes.map(\.revision.number) == [3])
        }
    }

    @Test(arguments: [
        (StoreError.unavailable(path: "the store", reason: "it is stopped"), ProblemCode.unavailable),
        (.overloaded(path: "the store", reason: "a lock is held"), .overloaded),
    ])
    func aStoreThatTakesNoWritesNowIsNotAFailure(_ error: StoreError, _ code: ProblemCode) async throws {
        try await Self.with { server, fail in
            // Given
            fail(.undone(error))
            // When
            let reply = try await server.request("PUT", Self.apple, TestServer.json, "1")
            let ready = try await server.request("GET", "/readyz")
            // Then
            #expect(reply.status == 503 && reply.problem?.code == code && reply["Retry-After"] != nil)
            #expect(ready.status == 503)
            fail(nil)
            #expect(try await server.request("PUT", Self.apple, TestServer.json, "1").status == 201)
        }
    }
}
