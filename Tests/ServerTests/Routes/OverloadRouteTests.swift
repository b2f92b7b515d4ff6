import Dispatch
import FreshetTestSupport
import FreshetWire
import Testing

@testable import FreshetServer

@Suite struct OverloadRouteTests {
    private static let paths = (1...3).map { "/v1/shop/records/c/\($0)" }
    private static let batch =
        #"{"client":"phone","writes":[{"number":1,"op":"put","key":"c/9","value":1},{"number":2,"op":"delete","key":"c/1"}]}"#

    @Test func beyondWhatTheDiskTakesInTimeWritesAreRefusedAtOnceAndWithoutEffect() async throws {
        // On disk: reads of a store in memory wait for its transaction.
        let directory = TemporaryDirectory()
        try await TestServer.with(RecordServerConfiguration(directory: directory.file("data"))) { test in
            // Given a transaction that does not end, one write that waits, and as many more as may wait
            let committer = try #require(test.server.core?.committer)
            let (isUnderWay, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            committer.submit(
                Submission(then: { (_: Committed<Void>) in }) { _ in
                    isUnderWay.signal()
                    mayEnd.wait()
                    return Committed(.success(()), nil)
                })
            try await test.thread { _ in isUnderWay.wait() }
            async let accepted = test.put(Self.paths[0], "1")
            while committer.waiting < 1 { await Task.yield() }
            committer.submit(
                Submission(bytes: 257 << 20, isVital: true, then: { (_: Committed<Void>) in }) { _ in Committed(.success(()), nil) })
            // When
            let refused = [
                try await test.request("PUT", Self.paths[1], [("Content-Type", "application/json")], "2"),
                try await test.request("DELETE", Self.paths[0]),
                try await test.request("POST", "/v1/shop/writes", [("Content-Type", "application/json")], Self.batch),
                try await test.request("POST", "/v1/shop/invalidations", [("Content-Type", "application/json")], #"{"all":true}"#),
            ]
            // Then
            for reply in refused {
                #expect(reply.status == 503)
                #expect(reply.problem?.code == .overloaded)
                #expect((1...4).contains(Int(reply["Retry-After"] ?? "") ?? 0))
            }
            // And when the disk continues, the accepted write is there, the refused ones are not, and the same can be
            // sent again.
            mayEnd.signal()
            #expect(try await accepted.revision?.number == 1)
            #expect(try await test.request("GET", Self.paths[1]).status == 404)
            let again: WriteResults = try await test.request("POST", "/v1/shop/writes", [("Content-Type", "application/json")], Self.batch)
                .message()
            #expect(again.results.map(\.verdict) == [.applied(Revision(2)), .applied(Revision(3))])
        }
    }
}
