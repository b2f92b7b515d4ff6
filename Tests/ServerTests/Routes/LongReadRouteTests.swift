import Dispatch
import FreshetTestSupport
import FreshetWire
import Testing

@testable import FreshetServer

@Suite("Reads that take long", .overBothStores) struct LongReadRouteTests {
    private static let json = [("Content-Type", "application/json")]

    /// A JSON text of so many bytes.
    private static func value(count: Int) -> String { "\"\(String(repeating: "x", count: count - 2))\"" }

    @Test func valuesAbove64KiBAreNotReadOnTheEventLoop() async throws {
        let directory = TemporaryDirectory()
        var configuration = RecordServerConfiguration(directory: directory.file("data"))
        configuration.pendingReads = 4
        try await TestServer.with(configuration) { server in
            // Given a value at the bound and one beyond, and a read queue that takes nothing more
            let (small, large) = ("/v1/shop/records/c/small", "/v1/shop/records/c/large")
            try await server.put(small, Self.value(count: 64 << 10))
            let written = try await server.put(large, Self.value(count: 64 << 10 + 1))
            let tag = try #require(try await server.request("GET", large)["ETag"])
            let reads = try #require(server.server.core?.reads)
            let gate = DispatchSemaphore(value: 0)
            do {
                defer { for _ in 0..<4 { gate.signal() } }
                for _ in 0..<4 {
                    while !reads.submit({ gate.wait() }) { await Task.yield() }
                }
                // When they are asked for
                let atBound = try await server.request("GET", small)
                let beyond = [
                    try await server.request("GET", large), try await server.request("GET", large, [("If-None-Match", "\"x-1\"")]),
                ]
                // Then the small one is answered as usual, and the large one is not before the queue has room
                #expect(atBound.status == 200 && atBound.body.count == 64 << 10)
                for reply in beyond {
                    #expect(reply.status == 503 && reply.problem?.code == .overloaded && reply.cursor == written.cursor)
                    #expect((1...4).contains(Int(reply["Retry-After"] ?? "") ?? 0))
                }
                // And a request that needs no value needs no queue
                let unchanged = try await server.request("GET", large, [("If-None-Match", tag)])
                #expect(unchanged.status == 304 && unchanged["ETag"] == tag && unchanged.cursor == written.cursor)
                #expect(try await server.request("GET", large, [("If-Match", "\"x-1\"")]).status == 412)
            }
            // And once it has, the large one comes whole, and with its fields
            var reply = try await server.request("GET", large)
            while reply.status == 503 { reply = try await server.request("GET", large) }
            #expect(reply.status == 200 && reply.text == Self.value(count: 64 << 10 + 1))
            #expect(reply["Content-Type"] == "application/json" && reply["ETag"] == tag && reply.cursor == written.cursor)
            let head = try await server.request("HEAD", large)
            #expect(head.status == 200 && head["Content-Length"] == "65537" && head["ETag"] == tag)
        }
    }

    @Test func aLargeValueComesWithTheLastWriteOfItsOwnSnapshot() async throws {
        try await TestServer.with { server in
            // Given
            let value = Self.value(count: 100_000)
            let batch = #"{"client":"phone","writes":[{"number":1,"op":"put","key":"c/1","value":\#(value)}]}"#
            #expect(try await server.request("POST", "/v1/shop/writes", Self.json, batch).status == 200)
            // When
            let reply = try await server.request("GET", "/v1/shop/records/c/1?client=phone")
            // Then
            #expect(reply.status == 200 && reply.text == value && reply["Freshet-Last-Write"] == "1")
        }
    }
}
