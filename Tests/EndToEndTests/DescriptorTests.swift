import Foundation
import FreshetTestSupport
import Subprocess
import Testing

@Suite("Out of descriptors")
struct DescriptorTests {
    @Test("a server that may open 64 files serves 150 connections at once, and loses nobody", .timeLimit(.minutes(5)))
    func losesNobody() async throws {
        // Given a server with far fewer descriptors than clients
        try await Self.withServer("ulimit -n 64") { port, _ in
            // When all connect before any sends a request
            let answered = await withCheckedContinuation { continuation in
                Sockets.thread { continuation.resume(returning: Self.ask(port, clients: 150)) }
            }
            // Then each is answered, as earlier ones make room
            #expect(answered == 150)
        }
    }

    @Test("operators are served while clients hold all the connections for which there are descriptors", .timeLimit(.minutes(5)))
    func servesOperators() async throws {
        // Given a server with few descriptors and a socket for operators, and more clients than it has descriptors
        let folder = TemporaryDirectory()
        let socket = folder.file("admin.sock")
        try await Self.withServer("ulimit -n 64", arguments: "--admin-socket '\(socket)'") { port, _ in
            let clients = (0..<100).compactMap { _ in Sockets.connect(port: port) }
            defer { for client in clients { Sockets.reset(client) } }
            #expect(clients.count == 100)
            // When an operator asks; Then the server answers
            let ending = try await run(
                Product.freshet, arguments: ["status", "--ready", "--admin-socket", socket], input: .none,
                output: .string(limit: 65_536), error: .string(limit: 65_536))
            #expect(ending.terminationStatus == .exited(0), "\(ending.standardError)")
        }
    }

    @Test("a server whose soft limit is low raises it to the hard one", .timeLimit(.minutes(5)))
    func raisesItsLimit() async throws {
        // Given a server that may open 64 files unless it asks for more, and at most 100
        try await Self.withServer("ulimit -Sn 64; ulimit -Hn 100") { _, process in
            // Then it has raised the limit
            let limits = try String(contentsOfFile: "/proc/\(process)/limits", encoding: .utf8)
            #expect(limits.contains(#/Max open files +100 +100 /#), "\(limits)")
        }
    }

    @Test("a server whose hard limit is below what it allows says what would be right", .timeLimit(.minutes(5)))
    func saysWhatWouldBeRight() async throws {
        let script = "ulimit -n 64; exec \"$0\" serve --memory --port 0 --until-input-ends"
        let ending = try await run(
            .name("sh"), arguments: ["-c", script, Product.path(of: "freshet")], input: .none, output: .string(limit: 65_536),
            error: .string(limit: 65_536))
        let words = ending.standardError
        #expect(words.contains("warning") && words.contains("may open 64 files") && words.contains("LimitNOFILE"), "\(words)")
    }

    /// Runs a server within these limits, and calls the closure with its port and its process once it is ready.
    private static func withServer(
        _ limits: String, arguments: String = "", _ body: (_ port: UInt16, _ process: Int32) async throws -> Void
    ) async throws {
        let script = "\(limits); exec \"$0\" serve --memory --port 0 \(arguments)"
        let ending = try await run(
            .name("sh"), arguments: ["-c", script, Product.path(of: "freshet")], input: .none,
            output: .sequence, error: .discarded
        ) { execution in
            var isReady = false
            for try await line in execution.standardOutput.strings() {
                guard let digits = line.split(separator: ":").last, let port = UInt16(digits.filter(\.isNumber)) else { continue }
                isReady = true
                try await body(port, execution.processIdentifier.value)
                break
            }
            try execution.send(signal: .terminate)
            return isReady
        }
        #expect(ending.closureResult, "it did not say where it listens")
    }

    /// How many of the clients get a `200`. They are connected at once, send their requests in turn, and close when
    /// they have their answer.
    private static func ask(_ port: UInt16, clients: Int) -> Int {
        let descriptors = (0..<clients).compactMap { _ in Sockets.connect(port: port) }
        let request = Array("GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".utf8)
        for descriptor in descriptors { Sockets.write(descriptor, request) }
        return descriptors.count { descriptor in
            defer { Sockets.reset(descriptor) }
            return String(decoding: Sockets.read(descriptor), as: UTF8.self).hasPrefix("HTTP/1.1 200")
        }
    }
}
