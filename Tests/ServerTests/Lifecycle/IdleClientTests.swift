import FreshetTestSupport
import FreshetWire
import Testing

@testable import FreshetServer

/// A client that comes back after its outcomes were forgotten, over HTTP.
@Suite("Idle clients over HTTP") struct IdleClientTests {
    private func send(_ numbers: ClosedRange<Int>, to server: TestServer) async throws -> String {
        let writes = numbers.map { #"{"number":\#($0),"op":"increment","key":"a/counter","path":"","by":1}"# }
        let body = #"{"client":"phone","writes":[\#(writes.joined(separator: ","))]}"#
        return try await server.request("POST", "/v1/shop/writes", TestServer.json, body).text
    }

    @Test(arguments: [false, true])
    func aClientThatReturnsAfterAYearGoesOnAndNothingIsAppliedTwice(_ isOnDisk: Bool) async throws {
        // Given
        let directory = TemporaryDirectory()
        var configuration = RecordServerConfiguration()
        if isOnDisk { configuration.storage = .directory(directory.file("data")) }
        let clock = TestClock()
        try await TestServer.with(configuration, environment: clock.environment) { server in
            let first = try await send(1...2, to: server)
            // When
            clock.advance(365 * 86_400_000)
            await server.server.compact()
            let again = try await send(1...2, to: server)
            clock.advance(86_400_000)
            await server.server.compact()
            let late = try await send(1...2, to: server)
            let next = try await send(2...3, to: server)
            // Then
            #expect(again == first)
            #expect(late.contains(#"[{"number":1,"status":"settled"},{"number":2,"status":"settled"}]"#))
            #expect(next.contains(#"[{"number":2,"status":"settled"},{"number":3,"status":"applied","revision":3}]"#))
            #expect(try await server.request("GET", "/v1/shop/records/a/counter").text == "3")
            #expect(try await server.request("GET", "/v1/shop/clients/phone").text == #"{"client":"phone","last":3}"#)
            let status = try await server.request("GET", "/v1/shop").message(NamespaceStatus.self)
            #expect(status.clients == 1 && status.outcomes == 1 && status.outcomeBytes > 0)
            let metrics = try await server.request("GET", "/metrics").text
            #expect(metrics.contains("freshet_outcomes_forgotten_total 2\n"))
        }
    }

    @Test func statusAndMetricsShowWhatIsHeld() async throws {
        try await TestServer.with { server in
            // Given
            _ = try await send(1...3, to: server)
            try await server.put("/v1/shop/records/a/2", "1")
            _ = try await server.request("DELETE", "/v1/shop/records/a/2")
            _ = try await server.request("POST", "/v1/shop/invalidations", TestServer.json, #"{"keys":["b/1","b/2"]}"#)
            try await server.put("/v1/other/records/a/1", "12")
            // When
            let status = try await server.request("GET", "/v1/shop").message(NamespaceStatus.self)
            let metrics = try await server.request("GET", "/metrics").text
            // Then
            #expect(status.records == 1 && status.bytes == 1 && status.tombstones == 1 && status.invalidations == 2)
            #expect(status.clients == 1 && status.outcomes == 3)
            for line in [
                "freshet_store_namespaces 2", "freshet_store_records 2", "freshet_store_value_bytes 3", "freshet_store_tombstones 1",
                "freshet_store_invalidations 2", "freshet_store_clients 1", "freshet_store_outcomes 3",
                "freshet_store_outcome_bytes \(status.outcomeBytes)",
            ] { #expect(metrics.contains(line + "\n"), "\(line)") }
        }
    }

    @Test func aRetentionOfLessThanADayIsRefused() {
        var configuration = RecordServerConfiguration()
        configuration.outcomeRetention = .seconds(3_600)
        #expect(throws: RecordServerError.self) { try RecordServer.running(configuration) }
    }
}
