import FreshetWire
import Testing

@testable import FreshetServer

@Suite("Requests at the edges of the OpenAPI document", .overBothStores) struct ExactContractTests {
    private static let json = [("Content-Type", "application/json")]

    @Test(
        "a request that can be understood in two ways is refused, and changes nothing",
        arguments: [
            ("writes", #"{"client":"d","writes":[{"number":1,"op":"put","key":"c/1","value":1,"body":{"base64":"YQ=="}}]}"#),
            ("writes", #"{"client":"d","writes":[{"number":1,"op":"put","key":"c/1","body":{"base64":"YQ=="},"value":1}]}"#),
            ("invalidations", #"{"keys":["c/1"],"all":false}"#), ("invalidations", #"{"collection":"c","all":false}"#),
        ])
    func refusesAmbiguity(path: String, body: String) async throws {
        try await TestServer.with { server in
            // When
            let reply = try await server.request("POST", "/v1/shop/\(path)", Self.json, body)
            // Then
            #expect(reply.status == 400 && reply.problem?.code == .invalidJSON)
            #expect(try await server.request("GET", "/v1/shop").text.contains(#""head":0"#))
        }
    }

    @Test("a whole number may have a fraction of zeros, and a member of another message any value")
    func takesWholeNumbers() async throws {
        try await TestServer.with { server in
            // When
            let reply = try await server.request(
                "POST", "/v1/shop/writes", Self.json,
                #"{"client":"d","writes":[{"number":1.0,"op":"put","key":"c/1","value":1,"ifRevision":0e1,"modified":7,"size":"s"}]}"#)
            // Then
            #expect(reply.status == 200 && reply.text.contains(#""number":1,"status":"applied""#))
        }
    }
}
