import FreshetWire
import Testing

@testable import FreshetServer

/// Responses that state the last decided write of a client.
@Suite("The last write over HTTP", .overBothStores) struct LastWriteRouteTests {
    /// A put, an increment, a refused write and a delete of nothing, by `till-1`; revisions 1 and 2 are taken.
    private static let batch = """
        {"client":"till-1","writes":[
          {"number":1,"op":"put","key":"fruits/fig","value":{"n":1}},
          {"number":2,"op":"increment","key":"fruits/fig","path":"/n","by":1},
          {"number":3,"op":"put","key":"fruits/fig","value":9,"ifRevision":1},
          {"number":4,"op":"delete","key":"fruits/kiwi"}]}
        """

    @Test("reads, records and catch-up pages state the number that is decided in their snapshot")
    func responsesStateTheNumber() async throws {
        try await TestServer.with { server in
            // Given
            let written = try await server.request("POST", "/v1/shop/writes", TestServer.json, Self.batch)
            #expect(written["Freshet-Last-Write"] == "4")
            let cursor = try #require(written.cursor)
            // When
            let replies = [
                try await server.request("GET", "/v1/shop/changes?since=0&wait=0&client=till-1"),
                try await server.request("GET", "/v1/shop/changes?since=now&wait=0&client=till-1"),
                try await server.request("GET", "/v1/shop/changes?since=\(cursor)&wait=0&client=till-1"),
                try await server.request("GET", "/v1/shop/records/fruits/fig?client=till-1"),
                try await server.request("GET", "/v1/shop/records/fruits/kiwi?client=till-1"),
                try await server.request(
                    "GET", "/v1/shop/records/fruits/fig?client=till-1", [("If-None-Match", "\"\(cursor)\"")]),
                try await server.request("POST", "/v1/shop/reads", TestServer.json, #"{"client":"till-1","keys":[{"key":"fruits/fig"}]}"#),
            ]
            // Then
            #expect(replies.map(\.status) == [200, 200, 204, 200, 404, 304, 200])
            for reply in replies { #expect(reply["Freshet-Last-Write"] == "4" && reply.cursor == cursor) }
            #expect(try replies[0].message(ChangePage.self).upToDate)
        }
    }

    @Test("a client that never wrote has the number 0, and a namespace that nobody wrote to too")
    func numberOfAClientThatNeverWrote() async throws {
        try await TestServer.with { server in
            let unmade = try await server.request("GET", "/v1/shop/changes?since=0&wait=0&client=till-1")
            let missing = try await server.request("GET", "/v1/shop/records/fruits/apple?client=till-1")
            #expect(missing.status == 404 && (missing["Freshet-Last-Write"] == "0") == (missing.cursor != nil))
            try await server.put("/v1/shop/records/fruits/apple", "1")
            let made = try await server.request("GET", "/v1/shop/records/fruits/apple?client=till-1")
            #expect(unmade["Freshet-Last-Write"] == "0" && made["Freshet-Last-Write"] == "0")
        }
    }

    @Test("without a client no number is stated, and a poll that waits cannot ask for one")
    func whoGetsNoNumber() async throws {
        try await TestServer.with { server in
            // Given
            _ = try await server.request("POST", "/v1/shop/writes", TestServer.json, Self.batch)
            // When
            let page = try await server.request("GET", "/v1/shop/changes?since=0&wait=0")
            let record = try await server.request("GET", "/v1/shop/records/fruits/fig")
            let poll = try await server.request("GET", "/v1/shop/changes?since=0&wait=5&client=till-1")
            let stream = try await server.request(
                "GET", "/v1/shop/changes?since=0&wait=0&client=till-1", [("Accept", "text/event-stream")])
            let name = try await server.request("GET", "/v1/shop/records/fruits/fig?client=till%201")
            // Then
            #expect(page["Freshet-Last-Write"] == nil && record["Freshet-Last-Write"] == nil)
            for refused in [poll, stream] {
                #expect(try refused.status == 400 && refused.message(Problem.self).code == .invalidRequest)
                #expect(try refused.message(Problem.self).detail.contains("wait=0"))
            }
            #expect(name.status == 400)
        }
    }

    @Test("a rejection shows the record as its whole batch leaves it")
    func currentIsOfTheBatchsEnd() async throws {
        try await TestServer.with { server in
            // Given
            let body = """
                {"client":"till-1","writes":[
                  {"number":1,"op":"put","key":"fruits/fig","value":{"n":1}},
                  {"number":2,"op":"put","key":"fruits/fig","value":9,"ifRevision":0},
                  {"number":3,"op":"increment","key":"fruits/fig","path":"/n","by":1}]}
                """
            // When it is sent, and sent again
            for _ in 0..<2 {
                let reply = try await server.request("POST", "/v1/shop/writes", TestServer.json, body)
                // Then
                guard case .rejected(let problem) = try reply.message(WriteResults.self).results[1].verdict else {
                    Issue.record("not rejected")
                    return
                }
                #expect(problem.current?.revision.number == 2)
                #expect(reply["Freshet-Last-Write"] == "3")
            }
        }
    }
}
