import Foundation
import FreshetWire
import Logging

@testable import FreshetServer

/// A real server on a free port, and a client for it.
struct TestServer: Sendable {
    let server: RecordServer
    let port: Int

    init(
        _ configuration: RecordServerConfiguration = RecordServerConfiguration(), environment: ServerEnvironment = .system
    ) throws {
        var quiet = Logger(label: "test")
        quiet.logLevel = .critical
        if configuration.storage == .memory, let watch = StoreWatch.current {
            server = RecordServer(configuration, sharing: SharedStore(watch.store()), environment: environment, logger: quiet)
        } else {
            server = RecordServer(configuration, environment: environment, logger: quiet)
        }
        port = try server.start().port
    }

    /// A server over an open store.
    init(
        sharing store: SharedStore, _ configuration: RecordServerConfiguration = RecordServerConfiguration(),
        environment: ServerEnvironment = .system
    ) throws {
        var quiet = Logger(label: "test")
        quiet.logLevel = .critical
        server = RecordServer(configuration, sharing: store, environment: environment, logger: quiet)
        port = try server.start().port
    }

    /// A client for a server that runs already.
    init(_ server: RecordServer) {
        self.server = server
        port = server.address?.port ?? 0
    }

    /// Runs the closure with a server and stops it afterwards.
    static func with<Result>(
        _ configuration: RecordServerConfiguration = RecordServerConfiguration(), environment: ServerEnvironment = .system,
        _ body: (TestServer) async throws -> Result
    ) async throws -> Result {
        let test = try TestServer(configuration, environment: environment)
        do {
            let result = try await body(test)
            await test.server.stop()
            return result
        } catch {
            await test.server.stop()
            throw error
        }
    }

    /// Runs blocking work on a separate thread: not on one of Dispatch's, since the server needs those and there are
    /// only so many.
    ///
    /// - Parameter socket: the path of a Unix socket, in place of the server's port.
    func thread<Result: Sendable>(
        socket: String? = nil, port: Int? = nil, _ body: @escaping @Sendable (RawConnection) throws -> Result
    ) async throws -> Result {
        let port = port ?? self.port
        return try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    with: Swift.Result { try body(try socket.map { try RawConnection(socket: $0) } ?? RawConnection(port: port)) })
            }
        }
    }

    /// The fields with which a message is sent.
    static let json = [("Content-Type", "application/json")]

    /// Sends one request on a separate connection.
    func request(
        _ method: String, _ target: String, _ fields: [(String, String)] = [], _ body: String? = nil
    ) async throws -> Reply {
        try await thread { try $0.request(method, target, fields, body: body.map { Array($0.utf8) }) }
    }

    /// Stores JSON and returns the position after it.
    @discardableResult
    func put(_ path: String, _ value: String) async throws -> WriteReceipt {
        try await request("PUT", path, [("Content-Type", "application/json")], value).message()
    }

    /// Waits until the server reports this number of waiting clients; gives up after a while.
    func waitUntil(waiting count: Int, in namespace: String, _ fields: (String, String)...) async throws {
        try await thread { connection in
            let end = ContinuousClock.now + .seconds(120)
            while ContinuousClock.now < end {
                let status = try connection.request("GET", "/v1/\(namespace)", fields).message(NamespaceStatus.self)
                if status.waiting == count { return }
            }
            throw RawConnection.Failure.timeout
        }
    }
}
