import FreshetSocketHTTP
import FreshetTrust
import FreshetWire
import Testing

@testable import FreshetServer

/// Repeated polls skip the parser, the router and the look-up of their key: a revocation has to reach them all the same.
@Suite("Revocation of a key whose polls repeat", .overBothStores) struct RepeatedRevocationTests {
    private static let all = #"[{"ns":"shop","in":["*"],"may":["read","write","create","inspect"]}]"#
    private static let repetitions = 25

    /// A client with several connections, which send the same bytes.
    private struct Connections {
        let connections: [RawConnection]
        let request: [UInt8]

        init(_ count: Int, port: Int, _ target: String, _ field: (String, String)) throws {
            connections = try (0..<count).map { _ in try RawConnection(port: port) }
            request = Array("GET \(target) HTTP/1.1\r\nHost: localhost\r\n\(field.0): \(field.1)\r\n\r\n".utf8)
        }

        /// Sends the bytes once on each connection, so that all wait for their responses together, and returns the statuses.
        func poll() throws -> [Int] {
            for connection in connections { try connection.send(request) }
            return try connections.map { try $0.readReply().status }
        }
    }

    /// The statuses of each stage, and how many requests were recognised by then.
    private struct Found: Sendable {
        var before: [Int] = []
        var deletion = 0
        var after: [Int] = []
        var other: [Int] = []
        var last: [Int] = []
        var recognised: [Int] = []
    }

    @Test("After the revocation the same bytes are refused on every connection, and those of another key are still recognised")
    func revocation() async throws {
        try await AccessServer.with({ $0.loops = 3 }) { server in
            // Given forty connections of one key and ten of another
            let operate = try server.key(Self.all, isAdmin: true).field
            let (stored, revoked) = try server.key(Self.all)
            let other = try server.key(Self.all).field
            _ = try await server.request("PUT", "/v1/shop/records/a/1", operate, TestServer.json, "1")
            let cursor = try #require(try await server.request("GET", "/v1/shop", operate).cursor)
            let target = "/v1/shop/changes?since=\(cursor)&wait=0"
            let core = try #require(server.test.server.core)
            let (count, repetitions) = (Self.repetitions * 40, Self.repetitions)
            let found = try await server.test.thread { connection in
                let first = try Connections(40, port: server.test.port, target, revoked)
                let second = try Connections(10, port: server.test.port, target, other)
                func recognised() -> Int { core.statistics()?.requestsRecognised ?? -1 }
                var found = Found()
                // When each sends the same bytes again and again
                found.before = try (0..<repetitions).flatMap { _ in try first.poll() + second.poll() }
                found.recognised.append(recognised())
                // And the first key is deleted, and its connections send the same bytes
                found.deletion = try connection.request("DELETE", "/admin/keys/\(stored.id)", [operate]).status
                found.after = try (0..<2).flatMap { _ in try first.poll() }
                found.recognised.append(recognised())
                // And those of the other go on, and the first ones try again
                found.other = try (0..<repetitions).flatMap { _ in try second.poll() }
                found.recognised.append(recognised())
                found.last = try first.poll()
                return found
            }
            // Then all but the first of each connection were recognised
            #expect(found.before == Array(repeating: 204, count: count + repetitions * 10))
            #expect(found.recognised.first == 50 * (repetitions - 1))
            // And the revoked bytes are refused on every connection, as often as they come
            #expect(found.deletion == 200 && found.after == Array(repeating: 401, count: 80))
            #expect(found.last == Array(repeating: 401, count: 40))
            // And the others are served, and recognised from the second one on
            #expect(found.other == Array(repeating: 204, count: repetitions * 10))
            #expect(found.recognised == [50, 50, 60].map { $0 * (repetitions - 1) })
        }
    }
}
