import FreshetServer
import FreshetWire
import HTTPTypes
import Testing

@testable import freshet

@Suite(.timeLimit(.minutes(5)))
struct RecordPagesTests {
    /// Puts and deletes `count` records, so that a list has to skip their tombstones.
    private func makeTombstones(_ count: Int, in collection: String, _ remote: Remote) async throws {
        let one = try Content(json: [0x31])
        var last: Int64 = 0
        for first in stride(from: 0, to: count, by: 500) {
            var writes: [Write] = []
            for operation in [WriteOperation.put(one), .delete] {
                for place in first..<min(first + 500, count) {
                    last += 1
                    let key = try RecordKey(collection: collection, id: "t\(place)")
                    writes.append(Write(number: last, key: key, operation: operation))
                }
            }
            let batch = WriteBatch(client: try ClientIdentifier("phone"), writes: writes)
            let results = try await remote.ask(.post, "/v1/shop/writes", batch, as: WriteResults.self)
            #expect(results.results.count == writes.count)
        }
    }

    @Test func pagesWithoutRecordsAreNotTheLast() async throws {
        // Given a collection whose only record follows more tombstones than the server scans for one page
        let server = try RecordServer.running()
        let remote = try Remote(server: server.url, namespace: Namespace("shop"))
        try await makeTombstones(10_100, in: "c", remote)
        _ = try await remote.reply(.put, "/v1/shop/records/c/z", fields: [.contentType: Content.json], body: [0x31])
        // When it is read
        var pages = RecordPages(remote: remote, collection: "c")
        var counts: [Int] = []
        while let page = try await pages.next() { counts.append(page.records.count) }
        let listed = try await Program(server: server.url)("list", "c", "--namespace", "shop", "--limit", "3")
        // Then the record is found
        #expect(counts == [0, 1])
        #expect(try await RecordPages.all(remote, "c").map(\.key.id) == ["z"])
        #expect(listed.status == 0 && listed.lines.count == 1)
        await server.stop()
    }
}
