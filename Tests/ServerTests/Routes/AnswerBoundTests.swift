import FreshetWire
import Testing

@testable import FreshetServer

@Suite("Answers of bounded size") struct AnswerBoundTests {
    private static let json = [("Content-Type", "application/json")]
    /// The most that stands around so many values in an answer.
    private static let frame = 256 << 10

    private static func value(_ letter: Character, count: Int) -> String { "\"\(String(repeating: letter, count: count - 2))\"" }

    @Test func aRequestForManyRecordsIsAnsweredInPages() async throws {
        try await TestServer.with { server in
            // Given six records of a mebibyte, and a request that names each of them 1,500 times
            for id in 1...6 { try await server.put("/v1/shop/records/c/\(id)", Self.value("x", count: 1 << 20)) }
            var items = try (0..<9_000).map { ReadsRequest.Item(key: try RecordKey("c/\($0 % 6 + 1)")) }
            var found: [String] = []
            var answers = 0
            // When a client asks on from where each answer ends
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
