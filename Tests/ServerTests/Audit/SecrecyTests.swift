import Foundation
import FreshetTestSupport
import FreshetTrust
import FreshetWire
import HTTPTypes
import Logging
import Synchronization
import Testing

@testable import FreshetServer

/// Secrets in everything that a server writes, while its clients send all kinds of requests.
@Suite("Secrecy of keys, tokens and tickets") struct SecrecyTests {
    private let folder = TemporaryDirectory()

    /// Keeps all messages and metadata, of all levels.
    private struct RecordingHandler: LogHandler {
        let text: RecordedText
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) { text.append("\(event.level) \(event.message) \(event.metadata ?? [:])") }
    }

    private final class RecordedText: Sendable {
        private let lines = Mutex<[String]>([])

        func append(_ line: String) { lines.withLock { $0.append(line) } }

        var bytes: [UInt8] { Array(lines.withLock { $0 }.joined(separator: "\n").utf8) }
    }

    /// A secret, and the pieces of it that nothing may show.
    private struct Known {
        let name: String
        let pieces: [[UInt8]]

        /// - Parameter public: the bytes at its start that are no secret.
        init(_ name: String, _ text: String, public count: Int) {
            self.name = name
            let secret = Array(text.utf8.dropFirst(count))
            // A part of 16 bytes has one of these pieces, and 8 random letters are nowhere else by chance.
            pieces = stride(from: 0, to: secret.count - 8, by: 8).map { Array(secret[$0..<$0 + 8]) }
        }

        func isIn(_ bytes: [UInt8]) -> Bool { pieces.contains { !bytes.ranges(of: $0).isEmpty } }
    }

    private func key(_ server: TestServer, _ grants: String, isAdmin: Bool = false, isRevoked: Bool = false) throws -> String {
        let made = try AccessServer(test: server).key(grants, isAdmin: isAdmin)
        if isRevoked { try server.server.core?.forget(made.stored.id) }
        return String(made.field.1.dropFirst("Bearer ".count))
    }

    /// All files below the folder.
    private func files() throws -> [(path: String, bytes: [UInt8])] {
        let paths = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
        return try paths.map { folder.file($0) }.filter { !$0.isDirectory }.map { path in
            (path, Array(try Data(contentsOf: URL(filePath: path))))
        }
    }

    @Test("Logs, the audit log, metrics, responses and all files have no part of a secret")
    func everything() async throws {
        // Given a server that logs everything
        var configuration = try TokenServer.configuration(.fixed(KeySet([TokenSigner.hs256.verificationKey()])))
        configuration.storage = .directory(folder.file("data"))
        configuration.auditLog = folder.file("audit.jsonl")
        let log = RecordedText()
        let clock = TestClock()
        var logger = Logger(label: "freshet", factory: { _ in RecordingHandler(text: log) })
        logger.logLevel = .trace
        let running = try RecordServer.running(configuration, environment: clock.environment, logger: logger)
        let server = TestServer(running)
        logger.trace("the log is recorded")
        let all = #"[{"ns":"shop","in":["*"],"may":["read","write","invalidate","create","drop","inspect"]}]"#
        let tokens = TokenServer(server: AccessServer(test: server), clock: clock)
        func token(_ changes: [String: String?]) -> String {
            String(tokens.field(.hs256, ["freshet": all, "freshet_role": nil].merging(changes) { $1 }).1.dropFirst("Bearer ".count))
        }
        let credentials = [
            ("administrator", try key(server, all, isAdmin: true)),
            ("reader", try key(server, #"[{"ns":"shop","in":["a"],"may":["read"]}]"#)),
            ("revoked", try key(server, all, isRevoked: true)), ("token", token([:])), ("expired", token(["exp": "1"])),
            ("forged", String(token([:]).dropLast(2)) + "AA"),
        ]
        var known = credentials.map { name, text in
            Known(
                name, text,
                public: text.hasPrefix("fk_")
                    ? 14 : text.utf8.lastIndex(of: UInt8(ascii: ".")).map { text.utf8.distance(from: text.utf8.startIndex, to: $0) } ?? 0)
        }
        var answers: [[UInt8]] = []
        // When each of them is used for every endpoint, in its place
        for (_, credential) in credentials {
            for endpoint in Endpoint.allCases where endpoint != .makeKey && endpoint != .rotateKey {
                let path = endpoint.pattern.replacing("{namespace}", with: "shop").replacing("{collection}", with: "a").replacing(
                    "{id}", with: "1")
                let target = path.replacing("{client}", with: "c") + (endpoint == .getChanges ? "?since=0&wait=0" : "")
                let body = endpoint.method == .get ? nil : #"{"keys":[{"key":"a/1"}]}"#
                for fields in [[], [("Origin", "https://evil.example")], [("Accept", "text/event-stream"), ("Connection", "close")]] {
                    if endpoint == .getChanges, fields.count == 2 { continue }
                    let reply = try await server.request(
                        endpoint.method.rawValue, target, TestServer.json + fields + [("Authorization", "Bearer \(credential)")], body)
                    answers.append(Array(reply.fields.map { "\($0.name): \($0.value)\n" }.joined().utf8) + reply.body)
                }
            }
        }
        // And where it does not belong: in the path, the query, other fields, a cursor, a body, and bytes that are no request
        for (_, credential) in credentials {
            for (method, target, fields, body) in [
                ("GET", "/v1/\(credential)", [], nil as String?), ("GET", "/v1/shop/records/\(credential)/1", [], nil),
                ("GET", "/\(credential)", [], nil), ("GET", "/v1/shop/changes?since=\(credential)", [], nil),
                ("GET", "/v1/shop/changes?since=now&ticket=\(credential)", [("Accept", "text/event-stream")], nil),
                ("GET", "/v1/shop?token=\(credential)", [("Authorization", "Basic \(credential)")], nil),
                ("GET", "/v1/shop", [("Authorization", "Bearer \(credential) \(credential)")], nil),
                ("GET", "/v1/shop/clients/\(credential)", [("Authorization", "Bearer \(credential)x")], nil),
                ("POST", "/v1/shop/writes", [("Authorization", "Bearer \(credential)"), ("Content-Type", credential)], "{}"),
                (
                    "POST", "/v1/shop/writes", [("Authorization", "Bearer \(credential)"), ("Content-Type", "application/json")],
                    "\"\(credential)"
                ),
                ("PUT", "/v1/shop/records/a/1", [("Authorization", "Bearer \(credential)"), ("If-Match", credential)], "1"),
                (credential.hasPrefix("fk_") ? credential : "GET", "/v1/shop", [], nil),
            ] { _ = try await server.request(method, target, fields, body) }
            try await server.thread { connection in
                try connection.send(Array("GET /v1/shop HTTP/1.1\r\nAuthorization \(credential)\r\n\r\n".utf8))
                _ = try connection.readToEnd()
            }
        }
        // And a ticket is bought, used, and used again
        let administrator = ("Authorization", "Bearer \(credentials[0].1)")
        for _ in 0..<2 {
            let bought = try await server.request("POST", "/v1/shop/tickets", TestServer.json + [administrator], "{}").text
            let ticket = String(bought.drop { $0 != "f" }.prefix(46))
            #expect(ticket.hasPrefix("ft_"))
            known.append(Known("ticket", ticket, public: 3))
            for _ in 0..<2 {
                let head = try await server.thread { connection in
                    try connection.sendRequest("GET", "/v1/shop/changes?since=0&ticket=\(ticket)", [("Accept", "text/event-stream")])
                    return try connection.readHead()
                }
                answers.append(Array(head.fields.map { "\($0.name): \($0.value)\n" }.joined().utf8))
            }
        }
        clock.advance(61_000)
        for target in ["/metrics", "/admin/denials", "/admin/keys"] {
            answers.append(try await server.request("GET", target, [administrator]).body)
        }
        await running.stop()
        // Then
        let files = try files()
        #expect(files.contains { $0.path.hasSuffix("freshet.db") } && files.contains { $0.path.hasSuffix("audit.jsonl") })
        let audit = try #require(files.first { $0.path.hasSuffix("audit.jsonl") }).bytes
        #expect(audit.count { $0 == 0x0A } > 20, "\(String(decoding: audit, as: UTF8.self))")
        #expect(!log.bytes.isEmpty)
        for secret in known {
            #expect(!secret.isIn(log.bytes), "the log has a part of \(secret.name): \(String(decoding: log.bytes, as: UTF8.self))")
            for file in files { #expect(!secret.isIn(file.bytes), "\(file.path) has a part of \(secret.name)") }
            for answer in answers { #expect(!secret.isIn(answer), "\(secret.name) is in \(String(decoding: answer, as: UTF8.self))") }
        }
        // And the search finds what it looks for
        #expect(known.allSatisfy { secret in secret.pieces.allSatisfy { secret.isIn([0] + $0) } })
    }
}

extension String {
    fileprivate var isDirectory: Bool {
        var isDirectory: ObjCBool = false
        return FileManager.default.fileExists(atPath: self, isDirectory: &isDirectory) && isDirectory.boolValue
    }
}
