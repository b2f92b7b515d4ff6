import FreshetWire
import Testing

@testable import FreshetServer

@Suite("Requests that are made to do harm", .overBothStores) struct HostileInputTests {
    private static let json = [("Content-Type", "application/json")]

    private static func increments(_ path: String, from number: Int = 1, count: Int = 1) -> String {
        let writes = (number..<number + count).map { #"{"number":\#($0),"op":"increment","key":"c/deep","path":"\#(path)","by":1}"# }
        return #"{"client":"evil","writes":[\#(writes.joined(separator: ","))]}"#
    }

    @Test func anIncrementWithThousandsOfStepsIsRefusedAndNothingElse() async throws {
        try await TestServer.with { server in
            // Given a path of 30,000 steps, which once ended the process
            let path = String(repeating: "/a", count: 30_000)
            // When a device sends it again and again
            for _ in 0..<3 {
                let reply = try await server.request("POST", "/v1/shop/writes", Self.json, Self.increments(path))
                // Then it is refused, with the bound and a short excerpt
                #expect(reply.status == 400 && reply.problem?.code == .invalidJSON)
                #expect(reply.problem?.detail.contains("at most 4096 bytes") == true)
                #expect((reply.problem?.detail.utf8.count ?? 0) < 300)
            }
            #expect(try await server.request("GET", "/healthz").status == 200)
        }
    }

    @Test func whatIncrementsMakeCanBeReadByEverybody() async throws {
        try await TestServer.with { server in
            // Given a record at the deepest that a put may store
            let levels = JSONReader.maximumDepth - 1
            let deepest = String(repeating: #"{"a":"#, count: levels) + "1" + String(repeating: "}", count: levels)
            try await server.put("/v1/shop/records/c/deep", deepest)
            // When increments make members as deep as a pointer goes, and one beyond
            let inside = String(repeating: "/a", count: 100) + String(repeating: "/b", count: 28)
            let made = try await server.request("POST", "/v1/shop/writes", Self.json, Self.increments(inside))
            let beyond = try await server.request("POST", "/v1/shop/writes", Self.json, Self.increments(inside + "/b", from: 2))
            // Then the first is done, the second refused, and lists and changes are readable
            #expect(made.status == 200 && made.text.contains(#""status":"applied""#))
            #expect(beyond.status == 400)
            let list = try await server.request("GET", "/v1/shop/records/c").message(RecordList.self)
            try JSONReader.validate(try #require(list.records.first?.content?.bytes))
            let page = try await server.request("GET", "/v1/shop/changes?since=0&wait=0").message(ChangePage.self)
            #expect(page.changes.count == 1)
        }
    }

    @Test(arguments: [#""\ud800""#, #"{"a":1,"a":2}"#, #"{"a":{"b":1,"\u0062":2}}"#])
    func valuesThatReadersTakeInDifferentWaysAreRefused(value: String) async throws {
        try await TestServer.with { server in
            try await server.put("/v1/shop/records/c/1", "{}")
            // When such a value comes as a record, as a patch, and in a batch
            let put = try await server.request("PUT", "/v1/shop/records/c/1", Self.json, value)
            let patch = try await server.request(
                "PATCH", "/v1/shop/records/c/1", [("Content-Type", "application/merge-patch+json")], #"{"x":\#(value)}"#)
            let batch = try await server.request(
                "POST", "/v1/shop/writes", Self.json, #"{"client":"d","writes":[{"number":1,"op":"put","key":"c/1","value":\#(value)}]}"#)
            // Then each is refused, and the record is unchanged
            for reply in [put, patch, batch] { #expect(reply.status == 400 && reply.problem?.code == .invalidJSON) }
            #expect(try await server.request("GET", "/v1/shop/records/c/1").text == "{}")
        }
    }

    @Test func aMemberThatComesTwiceInAMessageIsRefused() async throws {
        try await TestServer.with { server in
            // When one write names two keys
            let reply = try await server.request(
                "POST", "/v1/shop/writes", Self.json,
                #"{"client":"d","writes":[{"number":1,"op":"put","key":"c/a","key":"c/b","value":1}]}"#)
            // Then neither is written
            #expect(reply.status == 400 && reply.problem?.detail.contains("'key' twice") == true)
            #expect(try await server.request("GET", "/v1/shop/records/c/b").status == 404)
        }
    }

    @Test func aLargeMergeIsRefusedBeforeItIsParsed() async throws {
        var configuration = RecordServerConfiguration()
        configuration.editedBytes = 1_000
        try await TestServer.with(configuration) { server in
            // Given a value beyond the edit limit, and a small one
            try await server.put("/v1/shop/records/c/large", "{\"a\":\"\(String(repeating: "x", count: 1_000))\"}")
            try await server.put("/v1/shop/records/c/small", "{}")
            let merge = [("Content-Type", "application/merge-patch+json")]
            // When the one is patched and incremented, and the other gets a large patch
            let replies = [
                try await server.request("PATCH", "/v1/shop/records/c/large", merge, #"{"a":null}"#),
                try await server.request("PATCH", "/v1/shop/records/c/small", merge, "{\"a\":\"\(String(repeating: "x", count: 1_000))\"}"),
            ]
            let increment = try await server.request(
                "POST", "/v1/shop/writes", Self.json,
                #"{"client":"d","writes":[{"number":1,"op":"increment","key":"c/large","path":"/n","by":1}]}"#)
            // Then the bound is named, and nothing has changed
            for reply in replies { #expect(reply.status == 413 && reply.problem?.detail.contains("at most 1000") == true) }
            #expect(increment.status == 200 && increment.text.contains("too-large"))
            #expect(try await server.request("GET", "/v1/shop/records/c/small").text == "{}")
            #expect(try await server.request("GET", "/v1").text.contains(#""editLimit":1000"#))
        }
    }

    @Test func aLargeValueToBeginFromIsRefusedBeforeItIsParsed() async throws {
        var configuration = RecordServerConfiguration()
        configuration.editedBytes = 1_000
        try await TestServer.with(configuration) { server in
            // Given an increment of a record that is not there, whose value takes no increment at the path
            let value = "[\(Array(repeating: "1", count: 1_000).joined(separator: ","))]"
            let increment = #"{"number":1,"op":"increment","key":"c/new","path":"/x","by":1,"value":\#(value)}"#
            // When
            let reply = try await server.request("POST", "/v1/shop/writes", Self.json, #"{"client":"d","writes":[\#(increment)]}"#)
            // Then it is refused for its size, which is known before it is parsed
            #expect(reply.status == 200 && reply.text.contains("too-large") && reply.text.contains("at most 1000"))
        }
    }

    @Test func editsOfARecordInOneBatchSeeOneAnother() async throws {
        try await TestServer.with { server in
            // Given a batch that increments, patches, replaces and deletes one record in between
            let writes = [
                #"{"number":1,"op":"increment","key":"c/1","path":"/n","by":1}"#,
                #"{"number":2,"op":"increment","key":"c/1","path":"/n","by":1}"#,
                #"{"number":3,"op":"patch","key":"c/1","value":{"x":true}}"#,
                #"{"number":4,"op":"increment","key":"c/1","path":"/n","by":40}"#,
                #"{"number":5,"op":"increment","key":"c/1","path":"/x","by":1}"#,
                #"{"number":6,"op":"put","key":"c/1","value":{"n":100}}"#,
                #"{"number":7,"op":"increment","key":"c/1","path":"/n","by":1}"#,
                #"{"number":8,"op":"delete","key":"c/1"}"#,
                #"{"number":9,"op":"increment","key":"c/1","path":"/n","by":7}"#,
            ]
            // When it is sent in pieces that end after each write
            var values: [String] = []
            for end in 1...writes.count {
                let batch = #"{"client":"d\#(end)","writes":[\#(writes[..<end].joined(separator: ","))]}"#
                _ = try await server.request("DELETE", "/v1/shop/records/c/1")
                #expect(try await server.request("POST", "/v1/shop/writes", Self.json, batch).status == 200)
                values.append(try await server.request("GET", "/v1/shop/records/c/1").text)
            }
            // Then each write found what the one before had made
            #expect(values[0...4] == [#"{"n":1}"#, #"{"n":2}"#, #"{"n":2,"x":true}"#, #"{"n":42,"x":true}"#, #"{"n":42,"x":true}"#])
            #expect(values[5...6] == [#"{"n":100}"#, #"{"n":101}"#])
            #expect(values[7].contains("not-found") && values[8] == #"{"n":7}"#)
        }
    }

    @Test func aBatchOfManyLargeEditsIsDoneInParts() async throws {
        try await TestServer.with { server in
            // Given a record of nearly a megabyte
            try await server.put("/v1/shop/records/c/deep", "{\"a\":0,\"t\":\"\(String(repeating: "x", count: 900_000))\"}")
            let before = try await Self.commits(server)
            // When a batch increments it forty times
            let reply = try await server.request("POST", "/v1/shop/writes", Self.json, Self.increments("/a", from: 1, count: 40))
            // Then no transaction does it all, each is done once, and one response says so
            #expect(try await Self.commits(server) - before > 3)
            #expect(try reply.message(WriteResults.self).results.map(\.number) == (1...40).map { Int64($0) })
            #expect(reply["Freshet-Last-Write"] == "40")
            #expect(try await server.request("GET", "/v1/shop/records/c/deep").text.hasPrefix(#"{"a":40,"#))
        }
    }

    /// How many transactions have changed something.
    private static func commits(_ server: TestServer) async throws -> Int {
        let lines = try await server.request("GET", "/metrics").text.split(separator: "\n")
        return try #require(
            lines.first { $0.hasPrefix("freshet_commits_total ") }.flatMap { Int($0.dropFirst("freshet_commits_total ".count)) })
    }

    @Test func recentChangesOfManyNamespacesShareOneBudget() async throws {
        var configuration = RecordServerConfiguration()
        configuration.recentTotalBytes = 400_000
        try await TestServer.with(configuration) { server in
            // Given readers of twenty namespaces
            var cursors: [String] = []
            for place in 0..<20 {
                cursors.append(
                    try await server.request("GET", "/v1/n\(place)/changes?since=now").message(ChangePage.self).cursor.description)
            }
            // When each namespace gets 100 KB
            let value = "\"" + String(repeating: "x", count: 50_000) + "\""
            for place in 0..<20 { for id in 1...2 { try await server.put("/v1/n\(place)/records/c/\(id)", value) } }
            // Then memory holds no more than the budget, and each reader still gets its changes
            let metrics = try await server.request("GET", "/metrics").text
            let line = try #require(metrics.split(separator: "\n").first { $0.hasPrefix("freshet_feed_recent_bytes ") })
            #expect(try #require(line.split(separator: " ").last.flatMap { Int($0) }) <= 400_000)
            for place in 0..<20 {
                let page = try await server.request("GET", "/v1/n\(place)/changes?since=\(cursors[place])").message(ChangePage.self)
                #expect(page.changes.count == 2)
            }
        }
    }

    @Test func aPrefixIsBoundedLikeAnID() async throws {
        try await TestServer.with { server in
            for (prefix, encoded) in [(String(repeating: "x", count: 513), String(repeating: "x", count: 513)), (#"a\u0000"#, "a%00")] {
                // When a sweep names a prefix with which no id begins
                let reply = try await server.request(
                    "POST", "/v1/shop/invalidations", Self.json, #"{"collection":"c","prefix":"\#(prefix)"}"#)
                // Then it is refused
                #expect(reply.status == 400 && reply.problem?.code == .invalidKey)
                // And a list and a poll refuse it as well; a NUL never comes past the parser of the target
                for path in ["records/c?prefix=\(encoded)", "changes?since=0&wait=0&prefix=\(encoded)"] {
                    let reply = try await server.request("GET", "/v1/shop/\(path)")
                    #expect(reply.status == 400 && (encoded == "a%00" || reply.problem?.code == .invalidKey), "\(path)")
                }
            }
            let longest = String(repeating: "x", count: 512)
            let reply = try await server.request(
                "POST", "/v1/shop/invalidations", Self.json, #"{"collection":"c","prefix":"\#(longest)"}"#)
            #expect(reply.status == 200)
        }
    }

    @Test func aProblemRepeatsLittleOfWhatWasSent() async throws {
        try await TestServer.with { server in
            let long = String(repeating: "z", count: 1 << 20)
            // When names of a megabyte come where others are expected
            let bodies = [
                ("/v1/shop/writes", #"{"client":"\#(long)","writes":[]}"#),
                ("/v1/shop/writes", #"{"client":"d","writes":[{"number":1,"op":"\#(long)","key":"c/1"}]}"#),
                (
                    "/v1/shop/writes",
                    #"{"client":"d","writes":[{"number":1,"op":"increment","key":"c/1","path":"/n","by":\#(String(repeating: "9", count: 1 << 20))}]}"#
                ),
                ("/v1/shop/reads", #"{"keys":[{"key":"\#(long)"}]}"#),
                ("/v1/shop/invalidations", #"{"\#(long)":1}"#),
                ("/v1/shop/invalidations", #"{"collection":"\#(long)"}"#),
                ("/v1/shop/writes", #"{"\#(long)":1,"\#(long)":2}"#),
            ]
            for (path, body) in bodies {
                let reply = try await server.request("POST", path, Self.json, body)
                // Then the answer shows where it began, and no more
                #expect(reply.status == 400 && reply.body.count < 1_000, "\(path) \(body.prefix(60)): \(reply.status), \(reply.body.count)")
            }
        }
    }

    @Test func keysAreCountedWhileTheyAreRead() async throws {
        try await TestServer.with { server in
            // Given more keys than a request takes
            let keys = Array(repeating: #"{"key":"c/1"}"#, count: 10_001).joined(separator: ",")
            let names = Array(repeating: #""c/1""#, count: 10_001).joined(separator: ",")
            // When they are read and invalidated
            let replies = [
                try await server.request("POST", "/v1/shop/reads", Self.json, #"{"keys":[\#(keys)]}"#),
                try await server.request("POST", "/v1/shop/invalidations", Self.json, #"{"keys":[\#(names)]}"#),
            ]
            // Then the bound is named
            for reply in replies { #expect(reply.status == 413 && reply.problem?.detail.contains("at most 10000") == true) }
        }
    }

    @Test func anAddressWithAllItsConnectionsIsToldSo() async throws {
        var configuration = RecordServerConfiguration()
        configuration.connectionsPerAddress = 1
        configuration.trustedProxies = []
        try await TestServer.with(configuration) { server in
            let refused = try await server.thread { connection in
                // Given an address that has its connection
                _ = try connection.request("GET", "/v1")
                // When it opens another
                return try RawConnection(port: server.port).readReply()
            }
            // Then the answer says why, and when to come again
            #expect(refused.status == 503 && refused.problem?.code == .overloaded && refused["Retry-After"] != nil)
            #expect(refused.problem?.detail.contains("1 connections") == true)
        }
    }

    /// The bytes of requests in memory, with their heads.
    private static func requestBytes(_ metrics: String) -> Int {
        let name = "freshet_http_request_bytes "
        return metrics.split(separator: "\n").first { $0.hasPrefix(name) }.flatMap { Int($0.dropFirst(name.count)) } ?? 0
    }

    @Test func aBodyThatStopsGivesWayToOneThatComes() async throws {
        var configuration = RecordServerConfiguration()
        configuration.bodyBytes = 1 << 20
        configuration.requestMemory = 1 << 20
        try await TestServer.with(configuration) { server in
            let body = [UInt8](repeating: 0x78, count: 900_000)
            let (written, refused) = try await server.thread { connection in
                // Given a client that sends most of a body and stops
                try connection.send(
                    Array("PUT /v1/shop/records/c/1 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n".utf8) + body)
                // (which the server has read: of two bodies that still come, either may give way)
                let other = try RawConnection(port: server.port)
                while try Self.requestBytes(other.request("GET", "/metrics").text) < body.count {}
                // When another writes, and both do not fit
                return (try other.request("PUT", "/v1/shop/records/c/2", [], body: body), try connection.readReply())
            }
            // Then the other's is written, and the first client is refused with a time to come again
            #expect(written.status == 200 || written.status == 201)
            #expect(refused.status == 503 && refused.problem?.code == .overloaded && refused["Retry-After"] != nil)
        }
    }
}
