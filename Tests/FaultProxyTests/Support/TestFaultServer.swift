import FreshetFaultProxy
import FreshetServer
import FreshetWire
import Logging

/// A server behind a fault proxy, and a client for it.
struct TestFaultServer: Sendable {
    let server: FaultServer
    let port: Int

    init(_ configuration: RecordServerConfiguration = RecordServerConfiguration()) throws {
        server = try FaultServer(configuration, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        port = server.url.split(separator: ":").last.flatMap { Int($0) } ?? 0
    }

    /// Runs the closure with a server and stops it afterwards.
    static func with(
        _ configuration: RecordServerConfiguration = RecordServerConfiguration(), _ body: (TestFaultServer) async throws -> Void
    ) async throws {
        let test = try TestFaultServer(configuration)
        do { try await body(test) } catch {
            await test.server.stop()
            throw error
        }
        await test.server.stop()
    }

    /// The fields with which a message is sent.
    static let json = [("Content-Type", "application/json")]

    func thread<Result: Sendable>(_ body: @escaping @Sendable (HTTPConnection) throws -> Result) async throws -> Result {
        try await connected(to: port, body)
    }

    /// Sends one request on a separate connection.
    func request(_ method: String, _ target: String, _ fields: [(String, String)] = [], _ body: String? = nil) async throws -> Reply {
        try await thread { connection in
            connection.send(method, target, fields, body)
            return try connection.reply(isHead: method == "HEAD")
        }
    }

    /// Sends a request, and returns everything up to the end of its connection.
    func rest(_ method: String, _ target: String, _ fields: [(String, String)] = json, _ body: String? = nil) async throws -> String {
        try await thread { connection in
            connection.send(method, target, fields, body)
            return connection.rest()
        }
    }

    /// Stores JSON and returns the position after it.
    @discardableResult
    func put(_ path: String, _ value: String) async throws -> WriteReceipt { try await request("PUT", path, Self.json, value).message() }

    /// Waits until the server reports this number of waiting clients.
    func waitUntil(waiting count: Int, in namespace: String) async throws {
        while try await request("GET", "/v1/\(namespace)").message(NamespaceStatus.self).waiting != count {}
    }
}
