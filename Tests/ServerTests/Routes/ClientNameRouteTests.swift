import FreshetTrust
import FreshetWire
import Testing

@testable import FreshetServer

@Suite("A client name of another principal, over HTTP", .overBothStores) struct ClientNameRouteTests {
    private static let all = #"[{"ns":"shop","in":["*"],"may":["read","write","create","inspect"]}]"#
    private static let write = #"[{"ns":"shop","in":["*"],"may":["read","write"]}]"#

    private func batch(_ number: Int, as client: String = "till") -> String {
        #"{"client":"\#(client)","writes":[{"number":\#(number),"op":"put","key":"a/\#(number)","value":1}]}"#
    }

    @Test("it is refused with advice and without a position, and nothing is done")
    func refusal() async throws {
        try await AccessServer.with { server in
            // Given
            let first = try server.key(Self.all).field
            let other = try server.key(Self.write).field
            let administrator = try server.key(#"[{"ns":"shop","in":["*"],"may":["write"]}]"#, isAdmin: true).field
            #expect(try await server.post("/v1/shop/writes", first, batch(1)).status == 200)
            // When
            let single = TestServer.json + [("Freshet-Client", "till"), ("Freshet-Write", "2")]
            let replies = [
                try await server.post("/v1/shop/writes", other, batch(2)),
                try await server.post("/v1/shop/writes", administrator, batch(2)),
                try await server.request("PUT", "/v1/shop/records/a/2", other, single, "1"),
                try await server.request("GET", "/v1/shop/clients/till", other),
            ]
            // Then
            for reply in replies {
                let problem = try reply.message(Problem.self)
                #expect(reply.status == 403 && problem.code == .clientTaken && problem.detail.contains("another client name"))
                #expect(reply.cursor == nil && reply["WWW-Authenticate"] == nil)
            }
            // When
            let status = try await server.request("GET", "/v1/shop/clients/till", first).message(ClientStatus.self)
            // Then
            #expect(status.last == 1)
            #expect(try await server.request("GET", "/v1/shop/records/a/2", first).status == 404)
            #expect(try await server.post("/v1/shop/writes", first, batch(2)).status == 200)
            #expect(try await server.post("/v1/shop/writes", other, batch(1, as: "till-2")).status == 200)
            #expect(try await server.request("GET", "/v1/shop/clients/unknown", other).status == 200)
        }
    }

    @Test("the right to inspect shows the numbers of other principals, and a new secret of a key keeps its names")
    func inspection() async throws {
        try await AccessServer.with { server in
            // Given
            let (stored, first) = try server.key(Self.all)
            let inspector = try server.key(Self.all).field
            let administrator = try server.key("[]", isAdmin: true).field
            #expect(try await server.post("/v1/shop/writes", first, batch(1)).status == 200)
            // When, then
            #expect(try await server.request("GET", "/v1/shop/clients/till", inspector).message(ClientStatus.self).last == 1)
            #expect(try await server.post("/v1/shop/writes", inspector, batch(2)).status == 403)
            // When
            let rotated = try await server.post("/admin/keys/\(stored.id)/rotate", administrator, "{}")
            let text = String(decoding: rotated.body, as: UTF8.self)
            let second = ("Authorization", "Bearer " + String(text.dropFirst(#"{"key":""#.count).prefix(63)))
            // Then
            #expect(try await server.post("/v1/shop/writes", first, batch(2)).status == 401)
            #expect(try await server.post("/v1/shop/writes", second, batch(2)).status == 200)
            // When the key is revoked
            #expect(try await server.request("DELETE", "/admin/keys/\(stored.id)", administrator).status == 200)
            // Then
            #expect(try await server.post("/v1/shop/writes", inspector, batch(3)).status == 200)
        }
    }
}
