import ArgumentParser
import FreshetTestKit
import Glibc

/// From the call that starts a test's server to its first answer over a socket, and how a hundred kits fare on one server at once.
struct Kit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Milliseconds until a test's server answers.")

    struct Tally: Codable, Sendable { var count: Int }

    @Option(help: "How many servers are started, one after the other.") var starts = 100
    @Option(help: "How many kits run at once on one server.") var kits = 100

    func run() async throws {
        var ready: [Duration] = []
        var answered: [Duration] = []
        for _ in 0..<starts {
            let call = ContinuousClock.now
            let server = try TestKit.Server()
            let kit = try TestKit(on: server)
            ready.append(call.duration(to: .now))
            guard let port = UInt16(server.url.split(separator: ":").last ?? "") else { throw ExitCode.failure }
            try Self.ask(port, "/v1/\(kit.namespace)")
            answered.append(call.duration(to: .now))
            await server.stop()
        }
        print("kit-first-answer \(milliseconds(answered[0])) ms")
        for (name, times) in [("ready", ready.sorted()), ("answer", answered.sorted())] {
            print("kit-\(name)-p50 \(milliseconds(times[times.count / 2])) ms")
            print("kit-\(name)-worst \(milliseconds(times[times.count - 1])) ms")
        }
        try await parallel()
    }

    /// One request on a connection of its own, and its answer.
    private static func ask(_ port: UInt16, _ path: String) throws {
        var connection = try Connection(port: port)
        defer { close(connection.descriptor) }
        var scratch = [UInt8](repeating: 0, count: 4_096)
        try connection.send(Array("GET \(path) HTTP/1.1\r\nHost: x\r\n\r\n".utf8))
        while try connection.receive(into: &scratch) == nil {}
        guard connection.status == 200 else { throw LoadError.status(connection.status) }
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
                    try await kit.quiesced(within: .seconds(60))
                    guard try await kit.backend("tallies", of: Tally.self).value(for: "1")?.count == 10, kit.strikes == 1 else {
                        throw LoadError.wrongSum
                    }
                    await kit.close()
                }
            }
            try await group.waitForAll()
        }
        print("kit-\(kits)-at-once \(milliseconds(start.duration(to: .now))) ms")
        await server.stop()
    }
}
