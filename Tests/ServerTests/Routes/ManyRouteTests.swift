import FreshetTestSupport
import FreshetWire
import Testing

@testable import FreshetServer

@Suite("Many records, batches and sweeps over HTTP", .overBothStores) struct ManyRouteTests {
    @Test func aCollectionIsListedInPages() async throws {
        try await TestServer.with { server in
            // Given
            for id in ["b", "a", "c", "d"] { try await server.put("/v1/shop/records/fruits/\(id)", "\"\(id)\"") }
            // When
            let first = try await server.request("GET", "/v1/shop/records/fruits?limit=2").message(RecordList.self)
            let second = try await server.request("GET", "/v1/shop/records/fruits?limit=2&after=\(first.next ?? "")")
            let prefixed = try await server.request("GET", "/v1/shop/records/fruits?prefix=c").message(RecordList.self)
            let empty = try await server.request("GET", "/v1/shop/records/nuts").message(RecordList.self)
            // Then
            #expect(first.records.map(\.key.id) == ["a", "b"] && first.next == "b")
            let last = try second.message(RecordList.self)
            #expect(last.records.map(\.key.id) == ["c", "d"] && last.next == nil)
            #expect(second.cursor == last.cursor && second["Cache-Control"] == "no-store")
            #expect(prefixed.records.map(\.key.id) == ["c"])
            #expect(empty.records.isEmpty && empty.next == nil)
        }
    }

    @Test func aListLooksAtTenThousandRowsAndSaysWhereToGoOn() async throws {
        let directory = TemporaryDirectory()
        try await TestServer.with(RecordServerConfiguration(directory: directory.file("data"))) { server in
            // Given more tombstones than a page looks at, and a record after them
            for batch in 0..<21 {
                let ids = (0..<500).map { 10_000 + batch * 500 + $0 }
                let first = batch * 1_000 + 1
                let puts = ids.enumerated().map { #"{"number":\#(first + $0),"op":"put","key":"c/t\#($1)","value":1}"# }
                let deletes = ids.enumerated().map { #"{"number":\#(first + 500 + $0),"op":"delete","key":"c/t\#($1)"}"# }
                let body = #"{"client":"phone","writes":[\#((puts + deletes).joined(separator: ","))]}"#
                #expect(try await server.request("POST", "/v1/shop/writes", TestServer.json, body).status == 200)
            }
            try await server.put("/v1/shop/records/c/z", "1")
            // When it is listed
            let first = try await server.request("GET", "/v1/shop/records/c?limit=10").message(RecordList.self)
            let second = try await server.request("GET", "/v1/shop/records/c?limit=10&after=\(first.next ?? "")").message(RecordList.self)
            // Then a page without records is not the last
            #expect(first.records.isEmpty && first.next == "t19999")
            #expect(second.records.map(\.key.id) == ["z"] && second.next == nil)
        }
    }

    @Test func readsGiveWhatDiffers() async throws {
        try await TestServer.with { server in
            // Given
            let known = try await server.put("/v1/shop/records/fruits/apple", "1")
            try await server.put("/v1/shop/records/fruits/fig", "2")
            // When
            let items = [
                ReadsRequest.Item(key: known.key, revision: known.revision),
                .init(key: try RecordKey("fruits/fig"), revision: known.revision),
                .init(key: try RecordKey("fruits/kiwi")),
            ]
            let reply = try await server.request(
                "POST", "/v1/shop/reads", TestServer.json, String(decoding: ReadsRequest(items: items).json, as: UTF8.self))
            // Then
            let response = try reply.message(ReadsResponse.self)
            #expect(response.records.map(\.key.id) == ["fig"])
            #expect(response.missing.map(\.id) == ["kiwi"])
            #expect(reply.status == 200 && reply.cursor == response.cursor)
        }
    }

    @Test func aBatchIsDecidedWriteByWriteAndOnce() async throws {
        try await TestServer.with { server in
            // Given
            let batch = #"""
                {"client":"till-1","writes":[
                {"number":1,"op":"put","key":"fruits/fig","value":{"stock":0}},
                {"number":2,"op":"increment","key":"fruits/fig","path":"/stock","by":12},
                {"number":3,"op":"put","key":"fruits/fig","value":1,"ifRevision":1},
                {"number":4,"op":"delete","key":"fruits/kiwi"}]}
                """#
            // When
            let first = try await server.request("POST", "/v1/shop/writes", TestServer.json, batch)
            let again = try await server.request("POST", "/v1/shop/writes", TestServer.json, batch)
            let value = try await server.request("GET", "/v1/shop/records/fruits/fig")
            let gap = try await server.request(
                "POST", "/v1/shop/writes", TestServer.json, #"{"client":"till-1","writes":[{"number":9,"op":"delete","key":"a/b"}]}"#)
            let atomic = try await server.request(
                "POST", "/v1/shop/writes", TestServer.json,
                #"{"client":"till-1","atomic":true,"writes":[{"number":5,"op":"put","key":"a/b","value":1},{"number":6,"op":"patch","key":"a/c","value":{}}]}"#
            )
            // Then
            let results = try first.message(WriteResults.self)
            #expect(results.results.map(\.number) == [1, 2, 3, 4])
            guard case .rejected(let problem) = results.results[2].verdict else { return #expect(Bool(false), "\(results)") }
            #expect(problem.code == .preconditionFailed && problem.current?.content?.bytes == value.body)
            #expect(value.text == #"{"stock":12}"#)
            #expect(results.results[3].verdict == .applied(nil))
            #expect(again.body == first.body && again.cursor == first.cursor)
            #expect(gap.status == 409 && gap.problem?.code == .writeGap && gap.problem?.expected == 5 && gap.cursor == first.cursor)
            let codes = try atomic.message(WriteResults.self).results.map { outcome -> ProblemCode? in
                guard case .rejected(let problem) = outcome.verdict else { return nil }
                return problem.code
            }
            #expect(codes == [.batchRejected, .notFound])
        }
    }

    @Test func invalidationsAreChangesForRecordsThatAreNotHere() async throws {
        try await TestServer.with { server in
            // Given
            let scopes: [(body: String, scope: InvalidationScope)] = [
                (#"{"keys":["prices/apple"]}"#, .key(try RecordKey("prices/apple"))),
                (#"{"collection":"prices","prefix":"eu-"}"#, .collection("prices", prefix: "eu-")), (#"{"all":true}"#, .everything),
            ]
            var cursor = try #require(try await server.request("GET", "/v1/shop").cursor)
            for (place, (body, scope)) in scopes.enumerated() {
                // When
                let reply = try await server.request("POST", "/v1/shop/invalidations", TestServer.json, body)
                let page = try await server.request("GET", "/v1/shop/changes?since=\(cursor)").message(ChangePage.self)
                // Then
                #expect(reply.status == 200 && reply.text == "{\"revision\":\(place + 1)}")
                #expect(page.changes.map(\.scope) == [scope])
                #expect(page.cursor == reply.cursor)
                cursor = page.cursor
            }
        }
    }

    @Test(arguments: [
        ("reads", "{}"), ("reads", "[1"), ("writes", #"{"client":"a b","writes":[]}"#), ("writes", #"{"client":"a","writes":[]}"#),
        ("writes", #"{"client":"a","writes":[{"number":1,"op":"jump","key":"a/b"}]}"#), ("invalidations", "{}"),
        ("invalidations", #"{"all":true,"keys":["a/b"]}"#),
    ])
    func badBodiesAreRefused(route: String, body: String) async throws {
        try await TestServer.with { server in
            let reply = try await server.request("POST", "/v1/shop/\(route)", TestServer.json, body)
            #expect(reply.status == 400 && reply.problem != nil)
            #expect(reply.statesPosition)
        }
    }

    @Test func tooMuchAtOnceIsRefused() async throws {
        var configuration = RecordServerConfiguration()
        configuration.bodyBytes = 1 << 20
        try await TestServer.with(configuration) { server in
            // Given
            let keys = Array(repeating: #""c/1""#, count: 10_001)
            // When
            let reads = try await server.request(
                "POST", "/v1/shop/reads", TestServer.json, "{\"keys\":[\(keys.map { "{\"key\":\($0)}" }.joined(separator: ","))]}")
            let sweeps = try await server.request(
                "POST", "/v1/shop/invalidations", TestServer.json, "{\"keys\":[\(keys.joined(separator: ","))]}")
            let body = try await server.request("PUT", "/v1/shop/records/c/1", [], String(repeating: "x", count: (1 << 20) + 1))
            // Then
            for reply in [reads, sweeps, body] {
                #expect(reply.status == 413 && reply.problem?.code == .tooLarge)
            }
            // The body was refused before its request was taken by an endpoint.
            #expect(reads.statesPosition && sweeps.statesPosition && body.cursor == nil)
        }
    }

    @Test func namespacesDoNotSeeEachOther() async throws {
        try await TestServer.with { server in
            // Given
            let other = try #require(try await server.request("GET", "/v1/other").cursor)
            try await server.put("/v1/shop/records/fruits/apple", "1")
            try await server.put("/v1/shop/records/fruits/fig", "1")
            // When
            let record = try await server.request("GET", "/v1/other/records/fruits/apple")
            let status = try await server.request("GET", "/v1/other").message(NamespaceStatus.self)
            let first = try await server.put("/v1/other/records/fruits/apple", "2")
            let shop = try await server.request("GET", "/v1/shop").message(NamespaceStatus.self)
            // Then
            #expect(record.status == 404)
            #expect(status.records == 0 && status.cursor == other)
            #expect(first.revision?.number == 1 && first.cursor.epoch == other.epoch)
            #expect(shop.records == 2 && shop.bytes == 2 && shop.cursor.revision.number == 2)
        }
    }
}
