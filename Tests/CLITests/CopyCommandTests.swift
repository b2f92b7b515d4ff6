import Foundation
import FreshetTestSupport
import Testing

@testable import freshet

/// `freshet copy` with servers before and after it.
@Suite("Copies of stores by the command line", .timeLimit(.minutes(5)))
struct CopyCommandTests {
    private let folder = TemporaryDirectory()
    private let freshet = Program()

    @Test("A copy without a store, of the store itself, or to a place that is not empty is refused with advice")
    func refusals() async throws {
        let (data, other) = (folder.file("data"), folder.file("other"))
        for name in [data, other] {
            #expect(try await freshet("key", "create", "--data", name, "--name", "a", "--admin").status == 0)
        }
        for (arguments, status, advice) in [
            (["--from", folder.file("none"), "--to", folder.file("new")], ExitStatus.noInput, "Name a data directory"),
            (["--from", data, "--to", other], .data, "Name an empty directory"),
            (["--from", data, "--to", data], .usage, "name the same store"),
            (["--from", data, "--to", data + "/"], .usage, "name the same store"),
            (["--from", data, "--to", ""], .usage, "one is empty"),
            (["--from", data, "--to", "mysql://a/b"], .usage, "postgres"),
            (["--from", data], .usage, "--to"),
            (["--from", data, "--to", folder.file("a/b/c")], .cannotCreate, "mkdir -p"),
        ] {
            let ending = try await freshet(["copy"] + arguments)
            #expect(ending.status == status.rawValue && ending.error.contains(advice), "\(arguments): \(ending)")
        }
    }

    #if !PostgreSQL
    @Test("Without PostgreSQL in the build, its URIs are refused with the command that builds it")
    func withoutTrait() async throws {
        let ending = try await freshet("copy", "--from", folder.file("data"), "--to", "postgres://a/b")
        #expect(ending.status == ExitStatus.usage.rawValue && ending.error.contains("--traits PostgreSQL"))
    }
    #else
    @Test(
        "The copies of the guide move a store to PostgreSQL and back, with its keys, its positions and the store that it is",
        .enabled(if: PostgreSQLCluster.isInstalled, Comment(rawValue: PostgreSQLCluster.reason)))
    func guide() async throws {
        let (cluster, name) = try await PostgreSQLCluster.lendEmpty()
        // Given the page's names
        let places = [
            "./freshet-data": folder.file("data"), "./freshet-back": folder.file("back"),
            "postgres://freshet@db.example/freshet": cluster.uri(name),
        ]
        let copies = try Project.text(of: "docs/operating/several-servers.md").split(separator: "\n").filter {
            $0.hasPrefix("    freshet copy ")
        }.map { $0.split(separator: " ").dropFirst().map { places[String($0)] ?? String($0) } }
        try #require(copies.count == 2)
        // Given a server with a key, a record and a delete
        let key = folder.file("key")
        #expect(try await freshet("key", "create", "--data", folder.file("data"), "--name", "a", "--admin", "--out", key).status == 0)
        var server = try await start(folder.file("data"))
        do {
            for command in [["put", "articles/1", #"{"name":"fig"}"#], ["put", "articles/2", "2"], ["delete", "articles/2"]] {
                let ending = try await ask(server, key, command)
                #expect(ending.status == 0, "\(ending)")
            }
            let before = try await seen(server, key)
            // Then the store of a running server is refused
            let running = try await freshet(copies[0])
            #expect(running.status == ExitStatus.unavailable.rawValue && running.error.contains("Stop it with SIGTERM"), "\(running)")
            #expect(await server.stop() == .exited(0))
            // When
            let copied = try await freshet(copies[0])
            // Then
            #expect(copied.status == 0 && copied.error.isEmpty, "\(copied)")
            #expect(copied.lines.first { $0.hasPrefix("record ") }?.hasPrefix("record 2 rows, ") == true)
            #expect(copied.lines.last?.hasPrefix("copied: ") == true)
            server = try await start(nil, "--store", cluster.uri(name))
            #expect(try await seen(server, key) == before)
            // Given a further write
            #expect(try await ask(server, key, ["put", "articles/3", "3"]).status == 0)
            let after = try await seen(server, key)
            #expect(after != before)
            let busy = try await freshet(copies[1])
            #expect(busy.status == ExitStatus.unavailable.rawValue && busy.error.contains("SIGTERM"), "\(busy)")
            #expect(await server.stop() == .exited(0))
            // When it is copied back
            let back = try await freshet(copies[1])
            #expect(back.status == 0 && back.lines.contains { $0.hasPrefix("record 3 rows, ") }, "\(back)")
            server = try await start(folder.file("back"))
            #expect(try await seen(server, key) == after)
        } catch {
            await server.kill()
            throw error
        }
        #expect(await server.stop() == .exited(0))
        cluster.giveBack(name)
    }

    /// - Parameter data: `nil` with `--store`.
    private func start(_ data: String?, _ options: String...) async throws -> ServerProcess {
        try await ServerProcess.start(executable: Program.path, data: data, options: ["--require-keys"] + options)
    }

    private func ask(_ server: ServerProcess, _ key: String, _ command: [String]) async throws -> Program.Ending {
        try await freshet([command[0], "--server", server.url, "--token-file", key, "--namespace", "shop"] + command.dropFirst())
    }

    /// The records and their revisions, the position, and the store that a client sees.
    private func seen(_ server: ServerProcess, _ key: String) async throws -> [String] {
        let token = try String(contentsOfFile: key, encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)
        let page = try await Program.shell(
            "curl -sS -D - -H 'Authorization: Bearer \(token)' '\(server.url)/v1/shop/changes?since=0&wait=0' | tr -d '\\r' | grep -vi '^date:'"
        )
        #expect(page.output.lowercased().contains("freshet-store:"), "\(page)")
        let list = try await ask(server, key, ["list", "articles", "--json"])
        #expect(list.status == 0, "\(list)")
        return page.lines + list.lines
    }
    #endif
}
