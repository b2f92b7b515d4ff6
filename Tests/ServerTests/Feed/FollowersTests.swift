import FreshetTestSupport
import FreshetWire
import Testing

@testable import FreshetServer

/// Many clients follow while many write, over real sockets and threads, with so little memory for changes that the
/// store has to answer as well. No client misses a change or gets one twice: a poll waits for a minute, and none may
/// end with nothing.
@Suite("Followers and writers at the same time") struct FollowersTests {
    private static let writers = 4
    private static let writes = 60
    private static var total: Int { writers * writes }

    @Test(arguments: [false, true])
    func nobodyMissesAnything(isOnDisk: Bool) async throws {
        // Given
        let directory = TemporaryDirectory()
        var configuration = RecordServerConfiguration()
        configuration.recentChanges = 8
        if isOnDisk { configuration.storage = .directory(directory.path) }
        try await TestServer.with(configuration) { server in
            let start = try #require(try await server.request("GET", "/v1/shop").cursor)
            // When
            let seen = try await withThrowingTaskGroup(of: (isOdd: Bool, revisions: [Int64]).self) { group in
                for number in 0..<8 {
                    let isOdd = number % 2 == 1
                    let filter = isOdd ? "&collection=odd" : ""
                    group.addTask {
                        (isOdd, try await server.thread { try poll($0, from: start, filter, isOdd ? Self.total / 2 : Self.total) })
                    }
                    group.addTask {
                        (isOdd, try await server.thread { try stream($0, from: start, filter, isOdd ? Self.total / 2 : Self.total) })
                    }
                }
                for writer in 0..<Self.writers {
                    group.addTask {
                        try await server.thread { connection in
                            for number in 0..<Self.writes {
                                let collection = number % 2 == 1 ? "odd" : "even"
                                let path = "/v1/shop/records/\(collection)/\(writer)-\(number)"
                                _ = try connection.request("PUT", path, [("Content-Type", "application/json")], body: Array("1".utf8))
                            }
                            return (false, [])
                        }
                    }
                }
                return try await group.reduce(into: [(isOdd: Bool, revisions: [Int64])]()) { if !$1.revisions.isEmpty { $0.append($1) } }
            }
            // Then
            #expect(seen.count == 16)
            let all = seen.filter { !$0.isOdd }.map(\.revisions)
            let odd = seen.filter(\.isOdd).map(\.revisions)
            for revisions in all { #expect(revisions == Array(1...Int64(Self.total))) }
            for revisions in odd {
                #expect(revisions == odd.first)
                #expect(revisions == revisions.sorted() && Set(revisions).count == Self.total / 2)
            }
        }
    }

    private struct SleptThrough: Error {}

    private func poll(_ connection: RawConnection, from start: Cursor, _ filter: String, _ count: Int) throws -> [Int64] {
        var cursor = start
        var revisions: [Int64] = []
        while revisions.count < count {
            let reply = try connection.request("GET", "/v1/shop/changes?since=\(cursor)&wait=60\(filter)")
            guard reply.status == 200 else { throw SleptThrough() }
            let page = try reply.message(ChangePage.self)
            revisions += page.changes.map(\.revision.number)
            cursor = page.cursor
        }
        return revisions
    }

    private func stream(_ connection: RawConnection, from start: Cursor, _ filter: String, _ count: Int) throws -> [Int64] {
        try connection.sendRequest("GET", "/v1/shop/changes?since=\(start)\(filter)", [("Accept", "text/event-stream")])
        _ = try connection.readHead()
        var revisions: [Int64] = []
        while revisions.count < count {
            let event = String(decoding: try connection.readChunk(), as: UTF8.self)
            guard let data = event.split(separator: "\n").first(where: { $0.hasPrefix("data: ") }) else { continue }
            revisions += try ChangePage(json: Array(data.dropFirst(6).utf8)).changes.map(\.revision.number)
        }
        return revisions
    }
}
