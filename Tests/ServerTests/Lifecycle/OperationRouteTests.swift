import FreshetWire
import Testing

@testable import FreshetServer

@Suite("Operation over HTTP", .overBothStores) struct OperationRouteTests {
    @Test func healthReadinessAndTheContract() async throws {
        try await TestServer.with { server in
            // When
            let health = try await server.request("GET", "/healthz")
            let ready = try await server.request("GET", "/readyz")
            let contract = try await server.request("GET", "/openapi.json")
            let root = try await server.request("GET", "/v1")
            // Then
            for reply in [health, ready, contract, root] {
                #expect(reply.status == 200 && reply["Content-Type"] == "application/json")
                #expect(reply["Cache-Control"] == "no-store")
            }
            #expect(health.text == #"{"status":"ok"}"# && ready.text == #"{"status":"ready"}"#)
            #expect(root.text.hasPrefix(#"{"server":"freshet","protocol":1,"#))
        }
    }

    @Test func metricsCountWhatHappened() async throws {
        try await TestServer.with { server in
            // Given
            try await server.put("/v1/shop/records/fruits/apple", "1")
            _ = try await server.request("GET", "/v1/shop/records/fruits/kiwi")
            _ = try await server.request("GET", "/v1/shop/changes?since=0")
            _ = try await server.request("GET", "/no/such")
            // When
            let reply = try await server.request("GET", "/metrics")
            // Then
            #expect(reply["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8")
            for line in [
                #"freshet_http_responses_total{method="PUT",route="/v1/{namespace}/records/{collection}/{id}",status="2xx"} 1"#,
                #"freshet_http_responses_total{method="GET",route="/v1/{namespace}/records/{collection}/{id}",status="4xx"} 1"#,
                #"freshet_http_responses_total{method="",route="",status="4xx"} 1"#, "freshet_commits_total 1", "freshet_changes_total 1",
                "freshet_feed_scans_total 1", "freshet_feed_waiters 0", "freshet_write_seconds_count 1",
                #"freshet_commit_changes_bucket{le="1.0"} 1"#,
            ] { #expect(reply.text.contains(line + "\n"), "\(line)") }
            #expect(reply.text.contains("process_resident_memory_bytes "))
        }
    }

    @Test func whatNoRouteTakesIsAProblemToo() async throws {
        try await TestServer.with { server in
            // When
            let path = try await server.request("GET", "/v1/shop/nothing")
            let method = try await server.request("POST", "/v1/shop/records/fruits/apple", [], "1")
            let trace = try await server.request("TRACE", "/v1/shop/records/fruits/apple")
            let unknown = try await server.request("BREW", "/v1/shop")
            // Then
            #expect(path.status == 404 && path.problem?.code == .notFound && path.cursor == nil)
            #expect(method.status == 405 && method.problem?.code == .methodNotAllowed && method.cursor == nil)
            #expect(method["Allow"] == "DELETE, GET, HEAD, OPTIONS, PATCH, PUT")
            #expect(trace.status == 405 && trace.problem?.code == .methodNotAllowed && trace["Allow"] == method["Allow"])
            #expect(unknown.status == 501 && unknown.problem != nil)
        }
    }

    @Test func aFullQueueOfReadsIsSaidWithATime() async throws {
        // Given
        var configuration = RecordServerConfiguration()
        configuration.pendingReads = 0
        var environment = ServerEnvironment.system
        environment.random = { 2 }
        try await TestServer.with(configuration, environment: environment) { server in
            // When
            let reply = try await server.request("GET", "/v1/shop/records/fruits")
            // Then
            #expect(reply.status == 503 && reply.problem?.code == .overloaded)
            #expect(reply["Retry-After"] == "3" && reply.statesPosition)
        }
    }
}
