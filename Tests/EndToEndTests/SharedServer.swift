import FreshetServer
import Synchronization

/// One server in the test's process for all cases that need only a separate namespace.
enum SharedServer {
    private static let counter = Atomic(0)
    private static let server = Result { try RecordServer.running() }

    /// Runs `body` with the server's root, for example `http://127.0.0.1:4711`, and the name of a namespace that nobody else uses.
    static func withNamespace<Value>(_ body: (_ root: String, _ namespace: String) async throws -> Value) async throws -> Value {
        let root = try server.get().url
        return try await body(root, "case-\(counter.add(1, ordering: .relaxed).newValue)")
    }
}
