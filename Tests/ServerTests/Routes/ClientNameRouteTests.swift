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
            let replies =
                [
                    try await server.post("/v1/shop/writes", other, batch(2)),
                    try await server.post("/v1/shop/writes", administrator, batch(2)),
                    try await server.request("PUT", "/v1/shop/records/a/2", other, single, "1"),
                ] + (try await questions(server, other, "till"))
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
            for reply in try await questions(server, other, "unknown") { #expect([200, 204, 404].contains(reply.status)) }
        }
    }

    /// All requests whose responses state the last number of a client.
    private func questions(_ server: AccessServer, _ field: (String, String), _ client: String) async throws -> [Reply] {
        let long = String(repeating: "x", count: ReadBounds.lookupValueBytes + 1)
        #expect(try await server.request("PUT", "/v1/shop/records/a/long", field, TestServer.json, "\"\(long)\"").status / 100 == 2)
        var replies = [
            try await server.request("GET", "/v1/shop/clients/\(client)", field),
            try await server.post("/v1/shop/reads", field, #"{"client":"\#(client)","keys":[{"key":"a/1"},{"key":"b/1"}]}"#),
        ]
        for id in ["1", "none", "long"] {
            replies.append(try await server.request("GET", "/v1/shop/records/a/\(id)?client=\(client)", field))
        }
        let position = try #require(try await server.request("GET", "/v1/shop/changes?since=now", field).cursor)
        for since in ["0", "now", "\(position)"] {
            replies.append(try await server.request("GET", "/v1/shop/changes?since=\(since)&wait=0&client=\(client)", field))
        }
        return replies
    }

    @Test("the outcomes of a sender without the name come without the name's last number", arguments: [5, 9])
    func outcomesWithoutTheNumber(nonce: Int) async throws {
        try await AccessServer.with { server in
            // Given writes of the name's owner
            let first = try server.key(Self.all).field
            let other = try server.key(Self.write).field
            let write = #"{"number":1,"op":"put","key":"a/1","value":1,"nonce":5}"#
            let owners = try await server.post("/v1/shop/writes", first, #"{"client":"till","writes":[\#(write)]}"#)
            #expect(owners["Freshet-Last-Write"] == "1")
            // When another principal sends one of them, or another write under its number
            let own = #"{"number":1,"op":"put","key":"a/1","value":1,"nonce":\#(nonce)}"#
            let reply = try await server.post("/v1/shop/writes", other, #"{"client":"till","writes":[\#(own)]}"#)
            // Then
            #expect(reply.status == 200 && reply["Freshet-Last-Write"] == nil)
            #expect(reply.text.contains(nonce == 5 ? #""status":"applied""# : "number-taken"))
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
            for reply in try await questions(server, inspector, "till").dropFirst() { #expect(reply["Freshet-Last-Write"] == "1") }
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
