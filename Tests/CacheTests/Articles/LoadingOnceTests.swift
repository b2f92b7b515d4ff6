import FreshetCache
import Synchronization
import Testing

/// A server that knows one name, and answers once all callers have asked.
private final class Server: Sendable {
    struct Unknown: Error {}
    private let count = Mutex(0)

    var requests: Int { count.withLock { $0 } }

    func name(of number: Int) async throws -> String {
        count.withLock { $0 += 1 }
        for _ in 0..<1_000 { await Task.yield() }
        guard number == 7 else { throw Unknown() }
        return "Ada"
    }
}

private func example(_ server: Server, show: (Set<String>, String?, String?, Int) -> Void) async throws {
    // article begins
    let profiles = Cache<Int, String>()

    // A hundred ask, and the server is asked once.
    let names = try await withThrowingTaskGroup(of: String.self) { group in
        for _ in 0..<100 {
            group.addTask { try await profiles.value(forKey: 7) { try await server.name(of: 7) } }
        }
        return try await group.reduce(into: Set<String>()) { $0.insert($1) }
    }

    // An error goes to all who wait, and is not kept: the next one asks again. Unless you say for how long not to.
    let missing = try? await profiles.value(forKey: 8, rememberingFailuresFor: .seconds(30)) { try await server.name(of: 8) }
    let again = try? await profiles.value(forKey: 8, rememberingFailuresFor: .seconds(30)) { try await server.name(of: 8) }
    show(names, missing, again, server.requests)
    // article ends
}

@Suite("Article: loading once")
struct LoadingOnceTests {
    @Test("runs as it says: two requests for 102 reads")
    func runs() async throws {
        var shown = 0
        try await example(Server()) { names, missing, again, requests in
            shown += 1
            #expect(names == ["Ada"] && missing == nil && again == nil && requests == 2)
        }
        #expect(shown == 1)
    }
}
