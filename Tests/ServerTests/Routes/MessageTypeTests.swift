import FreshetWire
import Testing

@testable import FreshetServer

@Suite("The type of a message") struct MessageTypeTests {
    private static let write = #"{"client":"page","writes":[{"number":1,"op":"put","key":"c/1","value":1}]}"#

    /// The types that a page of another origin may send without a preflight request, no type, and near misses.
    @Test(arguments: [
        "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=a", "", "application/jsonp", "text/json",
        "application/json, text/plain", "text/plain; a=application/json",
    ])
    func anythingButJSONIsRefusedAndHasNoEffect(_ type: String) async throws {
        try await TestServer.with { server in
            let fields = type.isEmpty ? [] : [("Content-Type", type)]
            // When a message comes as another type
            for (path, body) in [("writes", Self.write), ("reads", #"{"keys":[{"key":"c/1"}]}"#), ("invalidations", #"{"all":true}"#)] {
                let reply = try await server.request("POST", "/v1/shop/\(path)", fields, body)
                // Then it is refused, and the problem says which type is right
                #expect(reply.status == 415 && reply.problem?.code == .unsupportedMediaType)
                #expect(reply.problem?.detail.contains("so say Content-Type: application/json") == true)
            }
            // And nothing was written
            #expect(try await server.request("GET", "/v1/shop/records/c/1").status == 404)
        }
    }

    @Test(arguments: ["application/json", "application/json; charset=utf-8", "Application/JSON ;charset=UTF-8"])
    func parametersAndCaseDoNotMatter(_ type: String) async throws {
        try await TestServer.with { server in
            let reply = try await server.request("POST", "/v1/shop/writes", [("Content-Type", type)], Self.write)
            #expect(reply.status == 200 && reply.text.contains(#""status":"applied""#))
        }
    }
}
