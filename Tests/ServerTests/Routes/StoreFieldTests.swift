import FreshetTestSupport
import FreshetWire
import Testing

@testable import FreshetServer

@Suite("The store's identifier over HTTP", .overBothStores) struct StoreFieldTests {
    @Test("each answer about a namespace states it, errors and polls that waited included")
    func everyAnswerStatesIt() async throws {
        // Given
        let directory = TemporaryDirectory()
        var configuration = RecordServerConfiguration()
        configuration.storage = .directory(directory.file("data"))
        try await TestServer.with(configuration) { server in
            try await server.put("/v1/shop/records/c/1", "1")
            let cursor = try #require(try await server.request("GET", "/v1/shop/changes?since=now").cursor)
            // When
            let batch = #"{"client":"till","writes":[{"number":1,"op":"put","key":"c/2","value":1}]}"#
            let poll = Task { try await server.request("GET", "/v1/shop/changes?since=\(cursor)&wait=60") }
            try await server.waitUntil(waiting: 1, in: "shop")
            let replies = [
                try await server.request("POST", "/v1/shop/writes", TestServer.json, batch), try await poll.value,
                try await server.request("GET", "/v1/shop/changes?since=0&wait=0"),
                try await server.request("GET", "/v1/shop/changes?since=now&wait=1&client=x"),
                try await server.request("GET", "/v1/shop/changes?since=zz-1&wait=0"),
                try await server.request("GET", "/v1/shop/records/c/1"),
                try await server.request("GET", "/v1/shop/records/c/1", [("If-None-Match", "\"\(cursor)\"")]),
                try await server.request("GET", "/v1/shop/records/c/9"), try await server.request("GET", "/v1/shop/clients/till"),
                try await server.request("GET", "/v1/shop"), try await server.request("DELETE", "/v1/shop/records/c/1"),
                try await server.request("GET", "/v1/shop/nothing"),
            ]
            // Then
            #expect(replies.map(\.status) == [200, 200, 200, 400, 410, 200, 304, 404, 200, 200, 200, 404])
            let stores = Set(replies.map { $0["Freshet-Store"] })
            #expect(stores.count == 1 && stores.first??.utf8.count == 13)
        }
    }
}
