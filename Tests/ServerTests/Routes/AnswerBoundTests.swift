import FreshetWire
import Testing

@testable import FreshetServer

@Suite("Answers of bounded size", .overBothStores) struct AnswerBoundTests {
    private static let json = [("Content-Type", "application/json")]
    /// The most bytes around the values of such an answer.
    private static let frame = 256 << 10

    private static func value(_ letter: Character, count: Int) -> String { "\"\(String(repeating: letter, count: count - 2))\"" }

    @Test func aRequestForManyRecordsIsAnsweredInPages() async throws {
        try await TestServer.with { server in
            // Given six records of a mebibyte, and a request that names each of them 1,500 times
            for id in 1...6 { try await server.put("/v1/shop/records/c/\(id)", Self.value("x", count: 1 << 20)) }
            var items = try (0..<9_000).map { ReadsRequest.Item(key: try RecordKey("c/\($0 % 6 + 1)")) }
            var found: [String] = []
            var answers = 0
            // When a client continues from where each answer ends
            while !items.isEmpty, answers < 10 {
                let reply = try await server.request(
                    "POST", "/v1/shop/reads", Self.json, String(decoding: ReadsRequest(items: items).json, as: UTF8.self))
                let response = try reply.message(ReadsResponse.self)
                // Then no answer has more than 4 MiB of values, nor any record twice
                #expect(reply.status == 200 && reply.body.count <= 4 << 20 + Self.frame)
                #expect(Set(response.records.map(\.key)).count == response.records.count)
                found += response.records.map(\.key.id)
                items = response.next.map { Array(items[$0...]) } ?? []
                answers += 1
            }
            #expect(Set(found) == Set(["1", "2", "3", "4", "5", "6"]))
        }
    }

    private static func conflicts(_ keys: [String]) -> String {
        let writes = keys.enumerated().map { #"{"number":\#($0 + 1),"op":"put","key":"\#($1)","value":0,"ifRevision":99}"# }
        return #"{"client":"evil","writes":[\#(writes.joined(separator: ","))]}"#
    }

    private static func shown(_ reply: Reply) throws -> [Record?] {
        try reply.message(WriteResults.self).results.map { outcome in
            guard case .rejected(let problem) = outcome.verdict else { return nil }
            return problem.current
        }
    }

    @Test func aThousandRejectionsOfALargeRecordDoNotShowItsValue() async throws {
        try await TestServer.with { server in
            // Given
            try await server.put("/v1/shop/records/c/large", Self.value("x", count: 1 << 20))
            let body = Self.conflicts(Array(repeating: "c/large", count: 1_000))
            // When a batch is rejected, and sent again
            for _ in 1...2 {
                let reply = try await server.request("POST", "/v1/shop/writes", Self.json, body)
                // Then
                #expect(reply.status == 200 && reply.body.count < 1 << 20 && reply["Freshet-Last-Write"] == "1000")
                let shown = try Self.shown(reply)
                #expect(shown.count == 1_000 && shown.allSatisfy { $0?.revision.number == 1 && $0?.size == 1 << 20 && $0?.content == nil })
            }
        }
    }

    @Test func rejectionsShowAMebibyteOfValuesAndEachRecordOnce() async throws {
        try await TestServer.with { server in
            // Given 20 records of the largest size that is shown, and one beyond
            for id in 1...20 { try await server.put("/v1/shop/records/c/\(id)", Self.value("x", count: 64 << 10)) }
            try await server.put("/v1/shop/records/c/beyond", Self.value("x", count: 64 << 10 + 1))
            let keys = ["c/beyond"] + (0..<980).map { "c/\($0 % 20 + 1)" }
            // When
            let reply = try await server.request("POST", "/v1/shop/writes", Self.json, Self.conflicts(keys))
            // Then
            #expect(reply.status == 200 && reply.body.count < 1 << 20 + 1 << 20)
            let shown = try Self.shown(reply)
            #expect(shown.count == 981 && shown.allSatisfy { $0 != nil })
            #expect(shown.compactMap { $0?.content == nil ? nil : $0?.key.id } == (1...16).map { "\($0)" })
        }
    }

    @Test func aSingleRejectionDoesNotShowALargeValueEither() async throws {
        try await TestServer.with { server in
            // Given
            try await server.put("/v1/shop/records/c/large", Self.value("x", count: 64 << 10 + 1))
            try await server.put("/v1/shop/records/c/small", Self.value("x", count: 64 << 10))
            let absent = Self.json + [("If-None-Match", "*")]
            // When
            let large = try await server.request("PUT", "/v1/shop/records/c/large", absent, "1")
            let small = try await server.request("PUT", "/v1/shop/records/c/small", absent, "1")
            let numbered = try await server.request(
                "PUT", "/v1/shop/records/c/large", absent + [("Freshet-Client", "d"), ("Freshet-Write", "1")], "1")
            // Then
            for reply in [large, numbered] {
                #expect(reply.status == 412 && reply.body.count < 1_000)
                #expect(reply.problem?.current?.revision.number == 1 && reply.problem?.current?.content == nil)
            }
            #expect(small.status == 412 && small.problem?.current?.content?.bytes.count == 64 << 10)
            #expect(small.cursor == large.cursor)
        }
    }

    @Test func aPollNamesAtMost64Collections() async throws {
        try await TestServer.with { server in
            func poll(_ count: Int) async throws -> Reply {
                let names = (1...count).map { "&collection=c\($0)" }.joined()
                return try await server.request("GET", "/v1/shop/changes?since=now&wait=0\(names)")
            }
            // When
            let most = try await poll(64)
            let more = try await poll(65)
            let twice = try await server.request(
                "GET", "/v1/shop/changes?since=now&wait=0" + String(repeating: "&collection=c", count: 65))
            // Then
            #expect(most.status == 200 && twice.status == 400)
            #expect(more.status == 400 && more.problem?.code == .invalidRequest && more.problem?.detail.contains("at most 64") == true)
        }
    }

    @Test func aRecordLargerThanAPageComesAlone() async throws {
        try await TestServer.with { server in
            // Given
            try await server.put("/v1/shop/records/c/large", Self.value("x", count: 5 << 20))
            try await server.put("/v1/shop/records/c/small", "1")
            // When
            let reply = try await server.request(
                "POST", "/v1/shop/reads", Self.json, #"{"keys":[{"key":"c/none"},{"key":"c/large"},{"key":"c/small"}]}"#)
            // Then
            let response = try reply.message(ReadsResponse.self)
            #expect(response.records.map(\.size) == [5 << 20] && response.missing.map(\.id) == ["none"] && response.next == 2)
        }
    }
}
