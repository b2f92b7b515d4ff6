import FreshetWire
import Testing

@testable import FreshetServer

@Suite("Response fields for browsers", .overBothStores) struct BrowserFieldTests {
    private static let page = "<script>fetch('/v1/shop/records/c/secret')</script>"

    @Test(arguments: ["text/html", "image/svg+xml", "application/json"])
    func aStoredValueRunsNothing(_ type: String) async throws {
        try await TestServer.with { server in
            // Given a value that is a page, or is said to be one
            let value = type == "application/json" ? "1" : Self.page
            #expect(try await server.request("PUT", "/v1/shop/records/c/page", [("Content-Type", type)], value).status == 201)
            // When a browser reads it
            let read = try await server.request("GET", "/v1/shop/records/c/page")
            // Then it is the value, in a sandbox where nothing loads or runs, of no other type, and in nobody else's cache
            #expect(read.status == 200 && read.text == value && read["Content-Type"] == type)
            #expect(read["Content-Security-Policy"] == "sandbox; default-src 'none'")
            #expect(read["X-Content-Type-Options"] == "nosniff")
            #expect(read["Cache-Control"] == "private, no-cache")
            // And the answer that confirms a cached value says no less of caches
            let tag = try #require(read["ETag"])
            let unchanged = try await server.request("GET", "/v1/shop/records/c/page", [("If-None-Match", tag)])
            #expect(unchanged.status == 304 && unchanged["Cache-Control"] == "private, no-cache")
            #expect(unchanged["X-Content-Type-Options"] == "nosniff")
        }
    }

    @Test(arguments: [
        "/healthz", "/readyz", "/metrics", "/openapi.json", "/none", "/v1/shop", "/v1/shop/records/c", "/v1/shop/records/c/none",
        "/v1/shop/changes?since=0&wait=0", "/v1/shop/changes?since=none", "/v1/shop/changes?wait=0",
    ])
    func noAnswerIsTakenForAnotherType(_ path: String) async throws {
        try await TestServer.with { server in
            try await server.put("/v1/shop/records/c/1", "1")
            #expect(try await server.request("GET", path)["X-Content-Type-Options"] == "nosniff")
        }
    }
}
