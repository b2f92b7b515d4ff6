import FreshetTrust
import FreshetWire

@testable import FreshetServer

/// A server that requires keys, in memory, with keys that a test makes.
struct AccessServer: Sendable {
    let test: TestServer

    static func with<Result>(
        _ configure: (inout RecordServerConfiguration) throws -> Void = { _ in }, environment: ServerEnvironment = .system,
        _ body: (AccessServer) async throws -> Result
    ) async throws -> Result {
        var configuration = RecordServerConfiguration()
        configuration.requiresKeys = true
        try configure(&configuration)
        return try await TestServer.with(configuration, environment: environment) { try await body(AccessServer(test: $0)) }
    }

    /// Makes a key and returns the field that sends it.
    func key(_ grants: String, isAdmin: Bool = false, expires: Int64? = nil) throws -> (stored: StoredKey, field: (String, String)) {
        var random = SystemRandomNumberGenerator()
        let key = AccessKey(using: &random)
        let stored = StoredKey(
            key, name: "test", rights: try Rights(json: Array(grants.utf8)), isAdmin: isAdmin, created: 0, expires: expires)
        try test.server.core?.keep(stored)
        return (stored, ("Authorization", "Bearer " + String(decoding: key.token.exposed, as: UTF8.self)))
    }

    func request(
        _ method: String, _ target: String, _ key: (String, String)?, _ fields: [(String, String)] = [], _ body: String? = nil
    ) async throws -> Reply {
        try await test.request(method, target, fields + (key.map { [$0] } ?? []), body)
    }

    /// Polls twice on one connection, and returns both statuses.
    ///
    /// - Parameter first: a target to poll before, on the same connection.
    func pollTwice(_ target: String, _ key: (String, String), after first: String? = nil) async throws -> [Int] {
        try await test.thread { connection in
            if let first { _ = try connection.request("GET", first, [key]) }
            return try (0..<2).map { _ in try connection.request("GET", target, [key]).status }
        }
    }

    /// Opens a stream, and returns its first event, or nothing once the server has ended it without one.
    func stream(_ target: String, _ key: (String, String)) async throws -> [UInt8] {
        try await test.thread { connection in
            try connection.sendRequest("GET", target, [key, ("Accept", "text/event-stream")], body: nil)
            _ = try connection.read(through: "\r\n\r\n")
            return try connection.readEvent()
        }
    }

    /// Sends a message as JSON.
    func post(_ target: String, _ key: (String, String)?, _ body: String) async throws -> Reply {
        try await request("POST", target, key, TestServer.json, body)
    }
}
