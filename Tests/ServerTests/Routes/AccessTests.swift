import Dispatch
import Foundation
import FreshetTestSupport
import FreshetTrust
import FreshetWire
import Testing

@testable import FreshetServer

@Suite("Keys and rights over HTTP", .overBothStores) struct AccessTests {
    private static let all = #"[{"ns":"shop","in":["*"],"may":["read","write","invalidate","create","drop","inspect"]}]"#

    @Test("A write without a right is rejected by itself: its number is used, and the others are applied")
    func forbiddenWriteInABatch() async throws {
        try await AccessServer.with { server in
            // Given
            let operate = try server.key(Self.all).field
            _ = try await server.request("PUT", "/v1/shop/records/a/0", operate, TestServer.json, "0")
            let part = try server.key(#"[{"ns":"shop","in":["a"],"may":["read","write"]}]"#).field
            let batch = #"""
                {"client":"till","writes":[{"number":1,"op":"put","key":"a/1","value":1},{"number":2,"op":"put","key":"b/1","value":2},
                {"number":3,"op":"put","key":"a/2","value":3}]}
                """#
            // When
            let results = try await server.post("/v1/shop/writes", part, batch).message(WriteResults.self)
            // Then
            #expect(results.results.count == 3)
            guard case .rejected(let problem) = results.results[1].verdict else { Issue.record("it was not rejected"); return }
            #expect(problem.code == .forbidden && problem.needs == Problem.Need(may: "write", of: "shop:b/1"))
            guard case .applied = results.results[0].verdict, case .applied = results.results[2].verdict else {
                Issue.record("the others were not applied")
                return
            }
            #expect(try await server.request("GET", "/v1/shop/records/b/1", operate).status == 404)
            let next = #"{"client":"till","writes":[{"number":4,"op":"put","key":"a/3","value":4}]}"#
            #expect(try await server.post("/v1/shop/writes", part, next).status == 200)
        }
    }

    @Test("A key is shown the namespaces that it may know, however many others come before them")
    func knownNamespaces() async throws {
        // Given more namespaces than are listed
        let store = MemoryRecordStore(seed: 1)
        let names = (0...1_000).map { "a\(10_000 + $0)" } + ["shop", "tenant-1", "tenant-2", "tenants"]
        let submissions = try names.map { Submission.invalidate([.everything], in: try Namespace($0)) { _ in } }
        try GroupCommit.commit(submissions, to: store, at: WriteTime(milliseconds: 1_000), editLimit: 1_000).complete()
        var configuration = RecordServerConfiguration()
        configuration.requiresKeys = true
        let server = AccessServer(test: try TestServer(sharing: SharedStore(store), configuration))
        let some = try server.key(
            #"[{"ns":"tenant-*","in":["a"],"may":["read"]},{"ns":"shop","in":["*"],"may":["write"]},{"ns":"none","in":["*"],"may":["read"]}]"#
        )
        let all = try server.key(#"[{"ns":"*","in":["*"],"may":["read"]}]"#)
        // When
        let known = try await server.request("GET", "/v1", some.field).text
        let listed = try await server.request("GET", "/v1", all.field).text
        await server.test.server.stop()
        // Then
        #expect(known.contains(#""namespaces":["shop","tenant-1","tenant-2"]"#))
        #expect(listed.contains(#""a10999"]"#) && !listed.contains("a11000"))
    }

    @Test("Only who may create can make a namespace by the first write")
    func create() async throws {
        try await AccessServer.with { server in
            let writer = try server.key(#"[{"ns":"shop","in":["*"],"may":["read","write"]}]"#).field
            let refused = try await server.request("PUT", "/v1/shop/records/a/1", writer, TestServer.json, "1")
            #expect(try refused.status == 403 && refused.message(Problem.self).needs?.may == "create")
            let operate = try server.key(Self.all).field
            #expect(try await server.request("PUT", "/v1/shop/records/a/1", operate, TestServer.json, "1").status == 201)
            #expect(try await server.request("PUT", "/v1/shop/records/a/1", writer, TestServer.json, "2").status == 200)
        }
    }

    @Test("A route that does not exist states no position to a stranger", arguments: ["/v1/shop/nothing", "/v1/other/nothing"])
    func unknownRoute(_ target: String) async throws {
        try await AccessServer.with { server in
            let operate = try server.key(Self.all).field
            _ = try await server.request("PUT", "/v1/shop/records/a/1", operate, TestServer.json, "1")
            // When
            let reply = try await server.request("GET", target, nil)
            // Then
            #expect(reply.status == 404 && reply.cursor == nil)
        }
    }

    /// Sends a write that waits for the committer, and revokes the key after it, in the same transaction.
    ///
    /// - Returns: the answer to the write.
    private func reply(
        of server: AccessServer, revoking key: KeyIdentifier, to write: @escaping @Sendable () async throws -> Reply
    ) async throws -> Reply {
        let core = try #require(server.test.server.core)
        let (isUnderWay, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        core.committer.submit(
            .access(
                then: { (_: Committed<Void>) in },
                { _ in
                    isUnderWay.signal()
                    mayEnd.wait()
                    return .success(())
                }))
        try await server.test.thread { _ in isUnderWay.wait() }
        async let reply = write()
        while core.committer.waiting < 1 { await Task.yield() }
        core.committer.submit(
            .access(
                then: { (_: Committed<Void>) in },
                { work in
                    try work.remove(.key, named: key.text)
                    return .success(())
                }))
        mayEnd.signal()
        return try await reply
    }

    @Test("A write that was done is acknowledged although its key is revoked in the same transaction")
    func acknowledgementAfterARevocation() async throws {
        let directory = TemporaryDirectory()
        try await AccessServer.with({ $0.storage = .directory(directory.file("data")) }) { server in
            // Given
            let (stored, field) = try server.key(Self.all)
            // When
            let reply = try await reply(of: server, revoking: stored.id) {
                try await server.request("PUT", "/v1/shop/records/a/1", field, TestServer.json, "1")
            }
            // Then
            #expect(reply.status == 201)
            #expect(try await server.request("GET", "/v1/shop/records/a/1", field).status == 401)
        }
    }

    @Test("A refusal shows no record to a key that was revoked while the write waited")
    func refusalAfterARevocation() async throws {
        // On disk: reads of a store in memory wait for its transaction.
        let directory = TemporaryDirectory()
        try await AccessServer.with({ $0.storage = .directory(directory.file("data")) }) { server in
            // Given a record that a write will be refused with
            let operate = try server.key(Self.all).field
            _ = try await server.request("PUT", "/v1/shop/records/a/1", operate, TestServer.json, #"{"secret":"s3cr3t"}"#)
            let (stored, field) = try server.key(Self.all)
            // When
            let refused = try await reply(of: server, revoking: stored.id) {
                try await server.request("PUT", "/v1/shop/records/a/1", field, TestServer.json + [("If-None-Match", "*")], "1")
            }
            // Then
            #expect(refused.status == 401 && !String(decoding: refused.body, as: UTF8.self).contains("s3cr3t"))
            #expect(refused.cursor == nil)
        }
    }

    @Test("Reads of many records name those that the key may not read, and continue behind them")
    func forbiddenReads() async throws {
        try await AccessServer.with { server in
            let operate = try server.key(Self.all).field
            for key in ["a/1", "b/1", "a/2"] {
                _ = try await server.request("PUT", "/v1/shop/records/\(key)", operate, TestServer.json, "1")
            }
            let part = try server.key(#"[{"ns":"shop","in":["a"],"may":["read"]}]"#).field
            let body = #"{"keys":[{"key":"b/1"},{"key":"a/1"},{"key":"b/2"},{"key":"b/1"},{"key":"a/2"},{"key":"a/3"}]}"#
            // When
            let response = try await server.post("/v1/shop/reads", part, body).message(ReadsResponse.self)
            // Then
            #expect(response.records.map(\.key.description) == ["a/1", "a/2"])
            #expect(response.missing.map(\.description) == ["a/3"] && response.forbidden.map(\.description) == ["b/1", "b/2"])
        }
    }

    @Test("The rights of a key are those of its grants in the namespace")
    func rights() async throws {
        try await AccessServer.with { server in
            let key = try server.key(#"[{"ns":"shop","in":["a","b/x*"],"may":["read"]},{"ns":"*","in":["*"],"may":["drop"]}]"#)
            let reply = try await server.request("GET", "/v1/shop/rights", key.field)
            let text = String(decoding: reply.body, as: UTF8.self)
            #expect(
                text
                    == #"{"principal":"key:\#(key.stored.id)","expires":null,"read":["a","b/x*"],"write":[],"invalidate":[],"create":[],"drop":["*"],"inspect":[]}"#
            )
        }
    }

    @Test("An administrator makes, lists, rotates, disables and revokes keys over HTTP")
    func administration() async throws {
        try await AccessServer.with { server in
            // Given
            let administrator = try server.key(Self.all, isAdmin: true).field
            let body = #"{"name":"backend","allow":[{"ns":"shop","in":["*"],"may":["read","write","create"]}]}"#
            // When
            let made = try await server.post("/admin/keys", administrator, body)
            let token = try #require(Self.member("key", of: made))
            let id = String(token.dropFirst(3).prefix(10))
            let field = ("Authorization", "Bearer \(token)")
            // Then
            #expect(made.status == 201)
            #expect(try await server.request("PUT", "/v1/shop/records/a/1", field, TestServer.json, "1").status == 201)
            let list = try await server.request("GET", "/admin/keys", administrator)
            #expect(String(decoding: list.body, as: UTF8.self).contains(id))
            #expect(!String(decoding: list.body, as: UTF8.self).contains(token.suffix(20)))
            // When it is rotated without overlap
            let rotated = try await server.post("/admin/keys/\(id)/rotate", administrator, "{}")
            let second = ("Authorization", "Bearer \(try #require(Self.member("key", of: rotated)))")
            // Then
            #expect(try await server.request("GET", "/v1/shop/records/a/1", field).status == 401)
            #expect(try await server.request("GET", "/v1/shop/records/a/1", second).status == 200)
            // When it is disabled and enabled
            for (isDisabled, status) in [("true", 401), ("false", 200)] {
                let change = #"{"disabled":\#(isDisabled)}"#
                _ = try await server.request("PATCH", "/admin/keys/\(id)", administrator, TestServer.json, change)
                #expect(try await server.request("GET", "/v1/shop/records/a/1", second).status == status)
            }
            // When it is revoked
            #expect(try await server.request("DELETE", "/admin/keys/\(id)", administrator).status == 200)
            // Then
            #expect(try await server.request("GET", "/v1/shop/records/a/1", second).status == 401)
            #expect(try await server.request("GET", "/admin/keys/\(id)", administrator).status == 404)
        }
    }

    @Test("An administrator who replaces or revokes the own key gets the answer, and the new secret")
    func ownKey() async throws {
        try await AccessServer.with { server in
            // Given
            let (stored, first) = try server.key(Self.all, isAdmin: true)
            // When
            let rotated = try await server.post("/admin/keys/\(stored.id)/rotate", first, "{}")
            let second = ("Authorization", "Bearer \(try #require(Self.member("key", of: rotated)))")
            // Then
            #expect(try await server.request("GET", "/admin/keys", first).status == 401)
            #expect(try await server.request("GET", "/admin/keys", second).status == 200)
            #expect(try await server.request("DELETE", "/admin/keys/\(stored.id)", second).status == 200)
            #expect(try await server.request("GET", "/admin/keys", second).status == 401)
        }
    }

    private static func member(_ name: String, of reply: Reply) -> String? {
        guard case .object(let members)? = try? JSONDocument(reply.body),
            case .string(let text)? = members.first(where: { $0.name == name })?.value
        else { return nil }
        return text
    }

    @Test("Keys are kept on disk, and only as hashes")
    func keysOnDisk() async throws {
        let directory = TemporaryDirectory()
        let path = directory.file("data")
        // Given a key that was made while no server ran
        let made = try OfflineKeys.make(inDirectory: path, request: Array(#"{"name":"first","admin":true}"#.utf8), now: 0)
        var configuration = RecordServerConfiguration(directory: path)
        configuration.requiresKeys = true
        // When
        try await TestServer.with(configuration) { server in
            let reply = try await server.request("GET", "/admin/keys", [("Authorization", "Bearer \(made.token)")])
            // Then
            #expect(reply.status == 200 && String(decoding: reply.body, as: UTF8.self).contains(made.id))
        }
        let secret = Array(made.token.utf8.dropFirst(14).prefix(43))
        for file in try FileManager.default.contentsOfDirectory(atPath: path) {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: "\(path)/\(file)"))
            #expect(bytes.firstRange(of: Data(secret)) == nil, "\(file)")
        }
    }
}
