import Foundation
import FreshetTestSupport
import FreshetTrust
import FreshetWire
import Logging
import Synchronization
import Testing

@testable import FreshetServer

@Suite("Audit log") struct AuditLogTests {
    private static let all = #"[{"ns":"*","in":["*"],"may":["read","write","invalidate","create","drop","inspect"]}]"#
    private let folder = TemporaryDirectory()
    private let clock = TestClock()

    private var path: String { folder.file("audit.jsonl") }

    private func text(_ path: String? = nil) throws -> String {
        String(decoding: try Data(contentsOf: URL(filePath: path ?? self.path)), as: UTF8.self)
    }

    /// The lines without their times, so that they can be compared.
    private func lines(_ path: String? = nil) throws -> [String] {
        try text(path).split(separator: "\n").map { line in
            let start = line.firstRange(of: #","event":"#)?.lowerBound ?? line.startIndex
            return "{" + line[start...].dropFirst()
        }
    }

    private func with(
        _ configure: (inout RecordServerConfiguration) throws -> Void = { _ in }, _ body: (AccessServer) async throws -> Void
    ) async throws {
        try await AccessServer.with(
            { configuration in
                configuration.auditLog = path
                try configure(&configuration)
            }, environment: clock.environment
        ) { try await body($0) }
    }

    private static func identifier(_ reply: Reply) throws -> String {
        let start = try #require(reply.text.firstRange(of: #""id":""#)?.upperBound)
        return String(reply.text[start...].prefix(10))
    }

    @Test("Changes of keys, revocations, reloads and whole namespaces are lines with who, from where and what")
    func changes() async throws {
        var (id, administrator) = ("", "")
        try await with({ configuration in configuration.source = { [configuration] in configuration } }) { server in
            let (stored, key) = try server.key(Self.all, isAdmin: true)
            administrator = stored.id.text
            let made = try await server.post("/admin/keys", key, #"{"name":"till","allow":[{"ns":"shop","in":["a"],"may":["read"]}]}"#)
            id = try Self.identifier(made)
            _ = try await server.request("PATCH", "/admin/keys/\(id)", key, TestServer.json, #"{"disabled":true}"#)
            _ = try await server.post("/admin/keys/\(id)/rotate", key, #"{"overlap":60}"#)
            _ = try await server.request("DELETE", "/admin/keys/\(id)", key)
            _ = try await server.post("/admin/revocations", key, #"{"jti":"t1"}"#)
            // A namespace is created once, by its first write of any kind
            _ = try await server.request("PUT", "/v1/shop/records/a/1", key, TestServer.json, "1")
            _ = try await server.request("PUT", "/v1/shop/records/a/2", key, TestServer.json, "1")
            let batch = #"{"client":"c","writes":[{"number":1,"op":"put","key":"a/1","value":1}]}"#
            for _ in 0..<2 { _ = try await server.post("/v1/other/writes", key, batch) }
            for _ in 0..<2 { _ = try await server.post("/v1/third/invalidations", key, #"{"all":true}"#) }
            _ = try await server.post("/v1/shop/invalidations", key, #"{"collection":"a"}"#)
            _ = try await server.request("DELETE", "/v1/shop", key)
            _ = try await server.request("DELETE", "/v1/none", key)
            _ = try await server.request("PUT", "/v1/shop/records/a/1", key, TestServer.json, "1")
            try server.test.server.reload()
            #expect(try await server.request("POST", "/admin/reload", key).status == 200)
        }
        // Then
        let who = #""principal":"key:\#(administrator)""#
        func line(_ event: String, _ key: String?, _ namespace: String?, _ detail: String?, _ request: String) -> String {
            let parts = [
                #"{"event":"\#(event)",\#(who)"#, key.map { #""key":"\#($0)""# }, #""address":"127.0.0.1""#,
                namespace.map { #""ns":"\#($0)""# },
                detail.map { #""detail":"\#($0)""# }, #""request":"\#(request)"}"#,
            ]
            return parts.compactMap(\.self).joined(separator: ",")
        }
        let put = "PUT /v1/{namespace}/records/{collection}/{id}"
        let sweep = "POST /v1/{namespace}/invalidations"
        let now = Timestamp(milliseconds: clock.wall)
        #expect(
            try lines() == [
                #"{"event":"server-started"}"#,
                line("key-created", id, nil, "till", "POST /admin/keys"),
                line("key-changed", id, nil, "disabled", "PATCH /admin/keys/{id}"),
                line("key-rotated", id, nil, "overlap 60 s", "POST /admin/keys/{id}/rotate"),
                line("key-revoked", id, nil, nil, "DELETE /admin/keys/{id}"),
                line("tokens-revoked", nil, nil, "token t1, issued before \(now)", "POST /admin/revocations"),
                line("namespace-created", nil, "shop", nil, put),
                line("namespace-created", nil, "other", nil, "POST /v1/{namespace}/writes"),
                line("namespace-created", nil, "third", nil, sweep), line("everything-invalidated", nil, "third", nil, sweep),
                line("everything-invalidated", nil, "third", nil, sweep),
                line("namespace-dropped", nil, "shop", nil, "DELETE /v1/{namespace}"),
                line("namespace-created", nil, "shop", nil, put), #"{"event":"configuration-reloaded"}"#,
                line("configuration-reloaded", nil, nil, nil, "POST /admin/reload"), #"{"event":"server-stopped"}"#,
            ])
        #expect(try text().split(separator: "\n").allSatisfy { $0.hasPrefix(#"{"time":"\#(now)","#) })
    }

    @Test("Refusals are lines with the reason, the first of a kind from a client in a minute, and then their number")
    func refusals() async throws {
        var (reader, writer) = ("", "")
        try await with({ $0.quotas.principal.waits = 1 }) { server in
            let (stored, key) = try server.key(#"[{"ns":"shop","in":["a"],"may":["read"]}]"#)
            let (other, batchKey) = try server.key(#"[{"ns":"shop","in":["a"],"may":["read","write"]}]"#)
            (reader, writer) = (stored.id.text, other.id.text)
            for _ in 0..<3 { _ = try await server.request("GET", "/v1/shop/records/b/1", key) }
            _ = try await server.request("GET", "/v1/shop/changes?since=0&collection=b", key)
            _ = try await server.request("PUT", "/v1/shop/records/a/1", key, TestServer.json, "1")
            let secret = String(key.1.dropFirst("Bearer ".count))
            for _ in 0..<2 { _ = try await server.request("GET", "/v1/shop/records/a/1", ("Authorization", "Bearer \(secret)0")) }
            _ = try await server.request("GET", "/v1/shop/records/a/1", nil)
            _ = try await server.request("GET", "/none", key)
            let batch =
                #"{"client":"c","writes":[{"number":1,"op":"put","key":"b/1","value":1},{"number":2,"op":"put","key":"b/2","value":1}]}"#
            let (rejected, everything) = (try await server.post("/v1/shop/writes", batchKey, batch), try server.key(Self.all).field)
            #expect(rejected.status == 403 || rejected.text.contains("forbidden"))
            _ = try await server.request("PUT", "/v1/shop/records/a/1", everything, TestServer.json, "1")
            _ = try await server.post("/v1/shop/writes", batchKey, batch)
            _ = try await server.request("DELETE", "/v1/shop/records/a/1", everything, [("Origin", "https://evil.example")])
            clock.advance(60_000)
        }
        let found = try lines().filter { !$0.contains("server-") && !$0.contains("namespace-created") }
        let from = #""address":"127.0.0.1""#
        func denied(_ name: String, _ detail: String, _ request: String, _ count: String = "") -> String {
            #"{"event":"right-denied","principal":"key:\#(name)",\#(from),"ns":"shop","detail":"\#(detail)","request":"\#(request)"\#(count)}"#
        }
        let get = "GET /v1/{namespace}/records/{collection}/{id}"
        let refused =
            #"{"event":"token-refused",\#(from),"ns":"shop","detail":"The server does not know this key or token: check that it is whole, and meant for this server. 'freshet token inspect' shows what it states, and why.","request":"\#(get)""#
        #expect(
            found.prefix(3) == [
                denied(reader, "needs read of shop:b/1", get),
                denied(reader, "needs write of shop:a/1", "PUT /v1/{namespace}/records/{collection}/{id}"),
                refused + "}",
            ])
        #expect(found.contains(denied(reader, "needs read of shop:b/1", get, #","count":3"#)))
        #expect(found.contains(refused + #","count":1}"#) && found.count { $0.hasPrefix(refused) } == 2)
        #expect(found.contains { $0.contains(#""principal":"key:\#(writer)""#) && $0.contains("POST /v1/{namespace}/writes") })
        #expect(found.contains { $0.contains("evil.example") && !$0.contains("principal") })
    }

    @Test("A client that varies what it sends has one group of refusals, and does not hide those of others")
    func variedRefusals() async throws {
        try await AccessServer.with(environment: clock.environment) { server in
            let administrator = try server.key(Self.all, isAdmin: true).field
            let key = try server.key(#"[{"ns":"shop","in":["*"],"may":["read"]}]"#).field
            // When a stranger sends requests of other origins, and a key asks for other namespaces
            for number in 0..<20 {
                _ = try await server.request("DELETE", "/v1/x\(number)", nil, [("Origin", "http://o\(number).example")])
                _ = try await server.request("DELETE", "/v1/x\(number)", key)
            }
            let reply = try await server.request("GET", "/admin/denials", administrator)
            // Then
            #expect(reply.text.components(separatedBy: #"{"time""#).count == 3, "\(reply.text)")
            #expect(reply.text.components(separatedBy: #""count":20"#).count == 3)
        }
    }

    @Test("GET /admin/denials shows the latest refusals, with the id of a refused key and a count, without a log file")
    func denials() async throws {
        try await AccessServer.with(environment: clock.environment) { server in
            let administrator = try server.key(Self.all, isAdmin: true).field
            let (stored, key) = try server.key(Self.all)
            try server.test.server.core?.forget(stored.id)
            for _ in 0..<3 { _ = try await server.request("GET", "/v1/shop", key) }
            clock.advance(1)
            _ = try await server.request("GET", "/admin/keys", try server.key(Self.all).field)
            let reply = try await server.request("GET", "/admin/denials", administrator)
            // Then the latest comes first
            #expect(reply.status == 200 && reply.text.hasPrefix(#"{"denials":[{"time":""#))
            let entries = reply.text.components(separatedBy: #"{"time""#)
            #expect(entries.count == 3)
            #expect(entries[1].contains(#""event":"right-denied""#) && entries[1].contains(#""count":1,"last":"#))
            #expect(entries[2].contains(#""key":"\#(stored.id)""#) && entries[2].contains(#""count":3,"last":"#))
            let metrics = try await server.request("GET", "/metrics", administrator).text
            #expect(metrics.contains(#"freshet_refusals_total{event="token-refused"} 3"#))
        }
        let status = try await TestServer.with { try await $0.request("GET", "/admin/denials").status }
        #expect(status == 404)
    }

    @Test("Certificates that differ are a line, with a configuration file and without, and equal ones are none", arguments: [false, true])
    func certificates(hasFile: Bool) async throws {
        let authority = try await TestAuthority()
        let (first, second) = (try await authority.issue("first"), try await authority.issue("second"))
        // By the system's clock, by which the certificates are valid
        try await AccessServer.with({ configuration in
            configuration.auditLog = path
            let tls = RecordServerConfiguration.TLS(certificates: [.init(chain: first.chain, key: first.key)])
            configuration.otherListeners = [.init(host: "127.0.0.1", port: 0, tls: tls)]
            if hasFile { configuration.source = { [configuration] in configuration } }
        }) { server in
            try server.test.server.reload()
            try authority.replace(first, with: second)
            try server.test.server.reload()
            try server.test.server.reload()
        }
        let events = try lines().filter { !$0.contains("server-") }
        #expect(events.count { $0.hasPrefix(#"{"event":"certificate-changed","detail":"the first one ends at "#) } == 1, "\(events)")
        #expect(events.count == (hasFile ? 4 : 1))
    }

    @Test("Changes over the admin socket are the operator's, without an address")
    func socket() async throws {
        let socket = folder.file("admin.sock")
        try await with({ configuration in
            configuration.adminSocket = socket
            configuration.source = { [configuration] in configuration }
        }) { server in
            let statuses = try await server.test.thread(socket: socket) { connection in
                [
                    try connection.request(
                        "POST", "/admin/keys", TestServer.json,
                        body: Array(#"{"name":"till","allow":[{"ns":"shop","in":["a"],"may":["read"]}]}"#.utf8)
                    ).status, try connection.request("POST", "/admin/reload").status,
                ]
            }
            #expect(statuses == [201, 200])
        }
        let found = try lines().filter { !$0.contains("server-") }
        #expect(found.count == 2 && found[0].contains(#""event":"key-created","principal":"operator""#), "\(found)")
        #expect(found.last == #"{"event":"configuration-reloaded","principal":"operator","request":"POST /admin/reload"}"#)
    }

    @Test("A server without access control logs changes, and no principal")
    func openServer() async throws {
        var configuration = RecordServerConfiguration()
        configuration.auditLog = path
        try await TestServer.with(configuration) { server in
            try await server.put("/v1/shop/records/a/1", "1")
            _ = try await server.request("DELETE", "/v1/shop")
        }
        #expect(try lines().count == 4 && !text().contains("principal"))
    }

    @Test("The file has mode 0600, and after it was renamed, SIGHUP makes another one")
    func rotation() async throws {
        // A required line is written before the response.
        try await with({ $0.requiresAuditLog = true }) { server in
            let key = try server.key(Self.all).field
            _ = try await server.request("PUT", "/v1/one/records/a/1", key, TestServer.json, "1")
            let moved = folder.file("audit.jsonl.1")
            try FileManager.default.moveItem(atPath: path, toPath: moved)
            // When
            try server.test.server.reopenAuditLog()
            _ = try await server.request("PUT", "/v1/two/records/a/1", key, TestServer.json, "1")
            try FileManager.default.removeItem(atPath: path)
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            #expect(throws: RecordServerError.self) { try server.test.server.reopenAuditLog() }
            try FileManager.default.removeItem(atPath: path)
            try server.test.server.reopenAuditLog()
            // Then
            #expect(try lines(moved).count { $0.contains(#""ns":"one""#) } == 1)
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }
        #expect(try lines() == [#"{"event":"server-stopped"}"#])
    }

    @Test("A full disk stops the log and not the server, and the lost lines are counted")
    func fullDisk() async throws {
        try await with({ $0.auditLog = "/dev/full" }) { server in
            let key = try server.key(Self.all, isAdmin: true).field
            for number in 0..<3 {
                #expect(try await server.request("PUT", "/v1/n\(number)/records/a/1", key, TestServer.json, "1").status == 201)
            }
            // Lines are written later than the responses.
            var metrics = ""
            while !metrics.contains("freshet_audit_lines_lost_total 4\n") {
                metrics = try await server.request("GET", "/metrics", key).text
            }
            #expect(metrics.contains("freshet_audit_failing 1\n") && metrics.contains("freshet_audit_lines_total 0\n"))
        }
    }

    @Test("After room was made, the log goes on with the number of lost lines", .enabled(if: SmallDisk.isAvailable))
    func recovery() async throws {
        try await SmallDisk.with(kibibytes: 16) { disk in
            let path = "\(disk.path)/audit.jsonl"
            try Data(repeating: 0x20, count: 11 << 10).write(to: URL(filePath: "\(disk.path)/filler"))
            try await with({ $0.auditLog = path }) { server in
                let key = try server.key(Self.all, isAdmin: true).field
                for number in 0..<60 { _ = try await server.request("PUT", "/v1/n\(number)/records/a/1", key, TestServer.json, "1") }
                #expect(try await server.request("GET", "/metrics", key).text.contains("freshet_audit_failing 1\n"))
                // When
                try await disk.grow(to: 256)
                clock.advance(10_000)
                for number in 60..<62 { _ = try await server.request("PUT", "/v1/n\(number)/records/a/1", key, TestServer.json, "1") }
            }
            // Then all events are lines, or counted, and a line that was cut off is the only one that cannot be read
            let text = try text(path)
            let found = text.split(separator: "\n").map(String.init)
            let lost = try #require(found.first { $0.contains("lines-lost") })
            let count = try #require(Int(lost.drop { $0 != "t" }.components(separatedBy: #""count":"#).last?.dropLast() ?? ""))
            let whole = found.filter { (try? JSONDocument(Array($0.utf8))) != nil }
            #expect(whole.count { $0.contains("namespace-created") } + count == 62 && found.count - whole.count <= 1)
            #expect(found.last?.contains("server-stopped") == true)
        }
    }

    @Test(
        "If the log is required, a change is acknowledged after its line alone, and the server stops without it",
        .enabled(if: SmallDisk.isAvailable), arguments: ["namespace-created", "configuration-reloaded"])
    func required(event: String) async throws {
        try await SmallDisk.with(kibibytes: 16) { disk in
            let path = "\(disk.path)/audit.jsonl"
            try await with({ configuration in
                (configuration.auditLog, configuration.requiresAuditLog) = (path, true)
                configuration.source = { [configuration] in configuration }
            }) { server in
                let key = try server.key(Self.all, isAdmin: true).field
                let isReload = event == "configuration-reloaded"
                let success = isReload ? 200 : 201
                var statuses: [Int] = []
                for number in 0..<200 where statuses.last ?? success == success {
                    let reply =
                        isReload
                        ? try await server.request("POST", "/admin/reload", key)
                        : try await server.request("PUT", "/v1/n\(number)/records/a/1", key, TestServer.json, "1")
                    statuses.append(reply.status)
                }
                // Then the last change was made without a line, and is not acknowledged
                #expect(statuses.last == 500 && statuses.count < 200)
                let acknowledged = statuses.count { $0 == success }
                #expect(try lines(path).count { $0.contains(event) } >= acknowledged)
                let failure = await #expect(throws: RecordServerError.self) { try await server.test.server.waitUntilStopped() }
                #expect(failure?.description.contains("No space left") == true)
            }
        }
    }

    @Test("A required log that cannot be written keeps a server from starting, and so does one that cannot be opened")
    func start() {
        var configuration = RecordServerConfiguration()
        for (path, isRequired) in [("/dev/full", true), ("/none/audit.jsonl", false), ("/", false)] {
            (configuration.auditLog, configuration.requiresAuditLog) = (path, isRequired)
            do throws(RecordServerError) {
                try RecordServer(configuration).start()
                Issue.record("\(path) was taken")
            } catch {
                if case .auditLogUnusable = error {} else { Issue.record("\(error)") }
                #expect(error.description.contains("audit log"))
            }
        }
        (configuration.auditLog, configuration.requiresAuditLog) = (nil, true)
        #expect(throws: RecordServerError.self) { try configuration.check() }
    }
}
