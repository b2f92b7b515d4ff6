import Figures
import FreshetTestKit
import Glibc

/// From the call that starts a test's server to its first answer over a socket, and how long a hundred kits take on one
/// server at once.
struct KitComparison {
    struct Tally: Codable, Sendable { var count: Int }

    let environment: BenchmarkEnvironment

    /// How many servers are started, one after the other.
    private var starts: Int { environment.isQuick ? 10 : 100 }
    /// How many kits run at once on one server.
    private var kits: Int { environment.isQuick ? 10 : 100 }

    func measure() async throws {
        var ready: [Duration] = []
        var answered: [Duration] = []
        for _ in 0..<starts {
            let call = ContinuousClock.now
            let server = try TestKit.Server()
            let kit = try TestKit(on: server)
            ready.append(call.duration(to: .now))
            guard let port = UInt16(server.url.split(separator: ":").last ?? "") else { throw BenchError.notReady(server.url) }
            try Self.ask(port, "/v1/\(kit.namespace)")
            answered.append(call.duration(to: .now))
            await server.stop()
        }
        let (begun, responses) = (ready.map { $0 / .milliseconds(1) }, answered.map { $0 / .milliseconds(1) })
        environment.report(Figure("kit-first-answer-ms", ours: responses[0]))
        environment.report(Figure("kit-ready-p50-ms", ours: begun))
        environment.report(Figure("kit-answer-p50-ms", ours: responses))
        environment.report(Figure("kit-answer-worst-ms", ours: responses.max() ?? 0))
        try await parallel()
    }

    /// One request on a separate connection, and its answer.
    private static func ask(_ port: UInt16, _ path: String) throws {
        var connection = try Connection(port: port)
        defer { close(connection.descriptor) }
        try connection.ask(HTTPRequest.get(path))
    }

    /// Each kit has two devices, loses an acknowledgement, and drains.
    private func parallel() async throws {
        let server = try TestKit.Server()
        let start = ContinuousClock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<kits {
                group.addTask {
                    let kit = try TestKit(on: server)
                    let phone = try await kit.device("phone")
                    try await kit.device("laptop")
                    try kit.fault(.dropReply, on: .writes, of: phone)
                    for _ in 1...10 { try await phone.collection("tallies", of: Tally.self).increment("/count", of: "1") }
                    try await kit.waitUntilIdle(within: .seconds(60))
                    guard try await kit.backend("tallies", of: Tally.self).value(forKey: "1")?.count == 10, kit.matchCount == 1 else {
                        throw LoadError.wrongSum
                    }
                    await kit.close()
                }
            }
            try await group.waitForAll()
        }
        environment.report(Figure("kit-\(kits)-at-once-ms", ours: start.duration(to: .now) / .milliseconds(1)))
        await server.stop()
    }
}
