import FreshetTestSupport
import FreshetTrust
import FreshetWire
import Testing

@testable import FreshetServer

/// A key that may write a record and not read it learns nothing of the record by its writes.
@Suite("Writes without the right to read", .overBothStores) struct BlindWriteTests {
    private static let all = #"[{"ns":"*","in":["*"],"may":["read","write","invalidate","create","drop","inspect"]}]"#
    private static let blind =
        #"[{"ns":"*","in":["secret"],"may":["write","invalidate"]},{"ns":"*","in":["public"],"may":["read","write"]}]"#
    private static let patchType = [("Content-Type", "application/merge-patch+json")]

    private func batch(_ writes: String..., client: String = "c", members: String = "") -> String {
        #"{"client":"\#(client)"\#(members),"writes":[\#(writes.joined(separator: ","))]}"#
    }

    /// A namespace whose head is 3, with or without the record `secret/1`.
    private func seed(_ server: AccessServer, _ operate: (String, String), _ namespace: String, hasRecord: Bool) async throws {
        let keys = ["public/1", "public/2", hasRecord ? "secret/1" : "public/3"]
        for key in keys {
            let value = #"{"salary":12345,"name":"bob"}"#
            #expect(try await server.request("PUT", "/v1/\(namespace)/records/\(key)", operate, TestServer.json, value).status == 201)
        }
    }

    private func needsRead(_ problem: Problem?, of key: String) -> Bool {
        problem?.code == .forbidden && problem?.needs == Problem.Need(may: "read", of: "shop:\(key)")
            && problem?.detail.contains("outcomes show what the record is") == true
    }

    @Test(
        "a patch, an increment, a precondition and an atomic batch are refused, state the right that is missing, and have no effect",
        arguments: [true, false])
    func refusedInBatches(_ hasRecord: Bool) async throws {
        try await AccessServer.with { server in
            // Given
            let operate = try server.key(Self.all).field
            try await seed(server, operate, "shop", hasRecord: hasRecord)
            let writer = try server.key(Self.blind).field
            let writes = [
                #""op":"increment","path":"/salary","by":0,"max":-1"#, #""op":"increment","path":"/salary","by":0,"min":0"#,
                #""op":"increment","path":"/salary","by":1"#, #""op":"increment","path":"","by":9223372036854775807"#,
                #""op":"increment","path":"/salary","by":1,"onMissing":"reject""#, #""op":"increment","path":"/salary","by":1,"value":{}"#,
                #""op":"patch","value":{}"#, #""op":"put","value":1,"ifRevision":0"#, #""op":"put","value":1,"ifRevision":3"#,
                #""op":"delete","ifRevision":3"#, #""op":"delete","ifRevision":9007199254740991"#,
            ]
            // When
            let numbered = writes.enumerated().map { #"{"number":\#($0 + 1),"key":"secret/1",\#($1)}"# }
            let refused = try await server.post(
                "/v1/shop/writes", writer, #"{"client":"c","writes":[\#(numbered.joined(separator: ","))]}"#)
            let atomic = try await server.post(
                "/v1/shop/writes", writer,
                batch(
                    #"{"number":12,"op":"put","key":"public/1","value":1}"#, #"{"number":13,"op":"put","key":"secret/1","value":1}"#,
                    members: #","atomic":true"#))
            // Then
            let outcomes = try refused.message(WriteResults.self).results + atomic.message(WriteResults.self).results.suffix(1)
            #expect(outcomes.count == writes.count + 1 && refused.cursor?.revision == Revision(3) && atomic.cursor?.revision == Revision(3))
            for outcome in outcomes {
                guard case .rejected(let problem) = outcome.verdict else { Issue.record("\(outcome)"); continue }
                #expect(needsRead(problem, of: "secret/1") && problem.current == nil, "\(outcome)")
            }
            // When the numbers are repeated for a record that the key may read
            let repeated = try await server.post(
                "/v1/shop/writes", writer, batch(#"{"number":1,"op":"put","key":"public/1","value":0}"#))
            // Then the outcome is the kept one
            guard case .rejected(let kept)? = try repeated.message(WriteResults.self).results.first?.verdict else {
                Issue.record("\(repeated.text)")
                return
            }
            #expect(kept.code == .forbidden && kept.current == nil)
            // And what the key may read and write is decided as ever
            let readable = try await server.post(
                "/v1/shop/writes", writer,
                batch(
                    #"{"number":14,"op":"increment","key":"public/1","path":"/salary","by":1,"min":0}"#,
                    #"{"number":15,"op":"put","key":"public/2","value":1,"ifRevision":2}"#))
            #expect(try readable.message(WriteResults.self).results.allSatisfy { if case .applied = $0.verdict { true } else { false } })
        }
    }

    @Test(
        "a single write with a condition and a patch are refused without a position, whether or not there is a record",
        arguments: [true, false])
    func refusedAlone(_ hasRecord: Bool) async throws {
        try await AccessServer.with { server in
            // Given
            let operate = try server.key(Self.all).field
            try await seed(server, operate, "shop", hasRecord: hasRecord)
            let writer = try server.key(Self.blind).field
            let path = "/v1/shop/records/secret/1"
            let conditions = [("If-None-Match", "*"), ("If-Match", "*"), ("If-Match", #""x-3""#), ("If-None-Match", #""x-3""#)]
            // When
            var replies = [try await server.request("PATCH", path, writer, Self.patchType, "{}")]
            for condition in conditions {
                replies.append(try await server.request("PUT", path, writer, TestServer.json + [condition], "1"))
                replies.append(try await server.request("DELETE", path, writer, [condition]))
            }
            let number = [("Freshet-Client", "c"), ("Freshet-Write", "1")]
            replies.append(try await server.request("PUT", path, writer, TestServer.json + number + [("If-Match", "*")], "1"))
            // Then
            for reply in replies {
                let problem = try reply.message(Problem.self)
                #expect(reply.status == 403 && reply.cursor == nil && needsRead(problem, of: "secret/1"))
            }
            // And no number is used
            #expect(try await server.request("PUT", path, writer, TestServer.json + number, "1").status == 200)
        }
    }

    /// Sends the same requests to a namespace with the record and to one without it, and returns the differing responses.
    private func differences(
        _ server: AccessServer, _ writer: (String, String),
        _ requests: [(method: String, path: String, fields: [(String, String)], body: String?)]
    ) async throws -> [String] {
        var transcripts: [[String]] = []
        for namespace in ["full", "none"] {
            var transcript: [String] = []
            for request in requests {
                let target = "/v1/\(namespace)/\(request.path)"
                let reply = try await server.request(request.method, target, writer, request.fields, request.body)
                let epoch = try #require(reply.cursor?.epoch.token)
                let fields = reply.fields.filter { $0.name != "date" }.map { "\($0.name): \($0.value)" }
                let text = (["\(request.method) \(request.path): \(reply.status)"] + fields + [reply.text]).joined(separator: "\n")
                transcript.append(text.split(separator: epoch, omittingEmptySubsequences: false).joined(separator: "EPOCH"))
            }
            transcripts.append(transcript)
        }
        return zip(transcripts[0], transcripts[1]).filter { $0 != $1 }.map { "\($0)\n--- and without the record ---\n\($1)" }
    }

    @Test("puts, deletes, their repeats and invalidations get the same responses whether or not there is a record")
    func sameResponses() async throws {
        try await AccessServer.with { server in
            // Given
            let operate = try server.key(Self.all).field
            try await seed(server, operate, "full", hasRecord: true)
            try await seed(server, operate, "none", hasRecord: false)
            let writer = try server.key(Self.blind).field
            let record = "records/secret/1"
            let json = TestServer.json
            func numbered(_ number: Int) -> [(String, String)] { [("Freshet-Client", "single"), ("Freshet-Write", "\(number)")] }
            let firstBatch = batch(#"{"number":1,"op":"delete","key":"secret/1","nonce":7}"#)
            let secondBatch = batch(
                #"{"number":2,"op":"put","key":"secret/1","value":1}"#, #"{"number":3,"op":"delete","key":"secret/1"}"#,
                #"{"number":4,"op":"delete","key":"secret/1"}"#)
            let foreign = batch(#"{"number":1,"op":"delete","key":"secret/1","nonce":7}"#, client: "d")
            let orders: [[(String, String, [(String, String)], String?)]] = [
                [("PUT", record, json, "1"), ("DELETE", record, [], nil), ("DELETE", record, [], nil), ("PUT", record, json, "1")],
                [("DELETE", record, [], nil), ("PUT", record, json + numbered(1), "2"), ("PUT", record, json + numbered(1), "2")],
                [("DELETE", record, numbered(2), nil), ("DELETE", record, numbered(2), nil), ("DELETE", record, numbered(3), nil)],
                [("POST", "writes", json, firstBatch), ("POST", "writes", json, firstBatch), ("POST", "writes", json, secondBatch)],
                [("POST", "writes", json, foreign), ("POST", "invalidations", json, #"{"keys":["secret/1"]}"#)],
                [("POST", "invalidations", json, #"{"collection":"secret"}"#), ("GET", "clients/c", [], nil)],
            ]
            for order in orders {
                // Given the record, or none
                for namespace in ["full", "none"] {
                    let path = "/v1/\(namespace)/records/"
                    let value = try await server.request("PUT", path + "secret/1", operate, json, #"{"salary":1}"#)
                    let other = namespace == "full" ? "public/1" : "secret/1"
                    let method = namespace == "full" ? "PUT" : "DELETE"
                    let left = try await server.request(method, path + other, operate, json, namespace == "full" ? "1" : nil)
                    #expect(value.status / 100 == 2 && left.status == 200)
                }
                // When, then
                let requests = order.map { (method: $0.0, path: $0.1, fields: $0.2, body: $0.3) }
                let found = try await differences(server, writer, requests)
                #expect(found.isEmpty, "\(found.joined(separator: "\n\n"))")
            }
        }
    }

    @Test(
        "a namespace that is full refuses puts whether or not there is a record",
        arguments: [Quotas.Space(records: 3), Quotas.Space(storage: 88)])
    func fullNamespace(_ quotas: Quotas.Space) async throws {
        try await AccessServer.with({ $0.quotas.namespace = quotas }) { server in
            // Given
            let operate = try server.key(Self.all).field
            try await seed(server, operate, "full", hasRecord: true)
            try await seed(server, operate, "none", hasRecord: false)
            let writer = try server.key(Self.blind).field
            let value = #"{"salary":54321,"name":"eve"}"#
            for namespace in ["full", "none"] {
                // When
                let single = try await server.request("PUT", "/v1/\(namespace)/records/secret/1", writer, TestServer.json, value)
                let swap = batch(
                    #"{"number":1,"op":"delete","key":"secret/1"}"#, #"{"number":2,"op":"put","key":"secret/2","value":\#(value)}"#)
                let batched = try await server.post("/v1/\(namespace)/writes", writer, swap)
                // Then
                #expect(single.status == 507 && batched.status == 507, "\(namespace): \(single.text) \(batched.text)")
                // And deletes, and what adds nothing for a key that may read, are accepted
                let readable = try await server.request("PUT", "/v1/\(namespace)/records/public/1", operate, TestServer.json, value)
                #expect(readable.status == 200)
                #expect(try await server.request("DELETE", "/v1/\(namespace)/records/secret/1", writer).status == 200)
            }
        }
    }

    @Test("a reader learns of a blind delete of nothing as of an invalidation of the record, and of another as of a delete")
    func readersOfBlindDeletes() async throws {
        try await AccessServer.with { server in
            // Given
            let operate = try server.key(Self.all).field
            try await seed(server, operate, "shop", hasRecord: true)
            let writer = try server.key(Self.blind).field
            let start = try #require(try await server.request("GET", "/v1/shop/changes?since=now", operate).cursor)
            // When
            for id in ["1", "2"] { #expect(try await server.request("DELETE", "/v1/shop/records/secret/\(id)", writer).status == 200) }
            // Then
            let page = try await server.request("GET", "/v1/shop/changes?since=\(start)&wait=0", operate).message(ChangePage.self)
            #expect(page.changes.map(\.revision.number) == [4, 5])
            guard page.changes.count == 2, case .delete(let deleted) = page.changes[0].effect,
                case .invalidate(.key(let invalidated)) = page.changes[1].effect
            else { Issue.record("\(page)"); return }
            #expect(deleted.description == "secret/1" && invalidated.description == "secret/2")
            // And a key that may read gets the responses that state what there was
            #expect(try await server.request("DELETE", "/v1/shop/records/secret/2", operate).status == 404)
            #expect(try await server.request("PUT", "/v1/shop/records/secret/2", operate, TestServer.json, "1").status == 201)
        }
    }

    @Test("a write that was rejected while its key could read is repeated without the record once the key cannot")
    func withdrawnRight() async throws {
        let keys = try KeySet([TokenSigner.hs256.verificationKey()])
        try await TokenServer.with(TokenServer.configuration(.fixed(keys))) { (tokens: TokenServer) async throws in
            // Given a principal whose tokens may read at first
            let server = tokens.server
            let everything = tokens.field(.hs256, ["freshet": Self.all, "freshet_role": nil, "sub": #""operator""#])
            try await seed(server, everything, "shop", hasRecord: true)
            let before = tokens.field(.hs256, ["freshet": Self.all, "freshet_role": nil, "sub": #""u""#, "jti": #""1""#])
            let after = tokens.field(.hs256, ["freshet": Self.blind, "freshet_role": nil, "sub": #""u""#, "jti": #""2""#])
            let write = batch(#"{"number":1,"op":"put","key":"secret/1","value":1,"ifRevision":1}"#)
            #expect(try await server.post("/v1/shop/writes", before, write).text.contains("12345"))
            // When
            let repeated = try await server.post("/v1/shop/writes", after, write)
            // Then
            guard case .rejected(let problem)? = try repeated.message(WriteResults.self).results.first?.verdict else {
                Issue.record("\(repeated.text)")
                return
            }
            #expect(problem.code == .preconditionFailed && problem.current == nil && !repeated.text.contains("12345"))
        }
    }
}
