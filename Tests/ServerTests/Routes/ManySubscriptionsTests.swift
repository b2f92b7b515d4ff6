import FreshetWire
import Testing

@testable import FreshetServer

@Suite("Readers that all want something else") struct ManySubscriptionsTests {
    private static let (records, size, readers) = (64, 63 << 10, 8)

    /// An atomic batch of 4 MiB.
    private static func batch() -> String {
        let value = String(repeating: "x", count: size)
        let writes = (1...records).map { #"{"number":\#($0),"op":"put","key":"c/\#($0)","value":"\#(value)"}"# }
        return #"{"client":"device","atomic":true,"writes":[\#(writes.joined(separator: ","))]}"#
    }

    @Test("do not make one commit copy a large batch for each of them, and none of them misses it")
    func manyLimits() async throws {
        try await TestServer.with { server in
            // Given polls that differ in their limit alone
            try await server.put("/v1/shop/records/c/0", "0")
            let start = try await server.request("GET", "/v1/shop/changes?since=now").message(ChangePage.self).cursor
            func poll(_ reader: Int, after cursor: Cursor) async throws -> Reply {
                try await server.request("GET", "/v1/shop/changes?since=\(cursor)&limit=\(reader + 2)&wait=60")
            }
            let replies = try await withThrowingTaskGroup(of: (Int, Reply).self) { group in
                for reader in 0..<Self.readers { group.addTask { (reader, try await poll(reader, after: start)) } }
                try await server.waitUntil(waiting: Self.readers, in: "shop")
                // When one batch changes what all of them wait for
                let reply = try await server.request("POST", "/v1/shop/writes", [("Content-Type", "application/json")], Self.batch())
                #expect(reply.status == 200)
                return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
            }
            // Then as many get it as 16 MiB of pages take
            let answered = replies.filter { $0.value.status == 200 }
            #expect(answered.count == 5)
            // And the others ask again, from where they were
            for (reader, reply) in replies where reply.status != 200 {
                #expect(reply.status == 204 && reply["Freshet-Cursor"] == "\(start)")
                let page = try await poll(reader, after: start).message(ChangePage.self)
                #expect(page.changes.count == Self.records && page.upToDate)
            }
        }
    }
}
