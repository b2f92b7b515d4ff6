#if PostgreSQL
import Foundation
import FreshetClient
import FreshetTestSupport
import Testing

@testable import freshet

/// The program with a store in PostgreSQL.
@Suite(
    "Stores in PostgreSQL by the command line", .enabled(if: PostgreSQLCluster.isInstalled, Comment(rawValue: PostgreSQLCluster.reason)),
    .timeLimit(.minutes(5)))
struct StoreCommandTests {
    private let cluster: PostgreSQLCluster
    private let name: String

    init() async throws { (cluster, name) = try await PostgreSQLCluster.lendEmpty() }

    private var uri: String { cluster.uri(name) }

    /// The commands of the page, in their order, each as its arguments.
    private static func commands(of page: String) throws -> [[String]] {
        // CopyCommandTests has the copies, which need stopped servers.
        let lines = try Project.text(of: page).split(separator: "\n").filter {
            $0.hasPrefix("    freshet ") && !$0.hasPrefix("    freshet copy ")
        }
        return lines.map { line in
            // Quotation marks hold arguments together; the page has no others.
            line.split(separator: "'", omittingEmptySubsequences: false).enumerated().flatMap { place, part in
                place % 2 == 1 ? [String(part)] : part.split(separator: " ").map(String.init)
            }.dropFirst().map { $0 }
        }
    }

    @Test("The commands of the guide lead from an empty database to two servers that share records and keys")
    func guide() async throws {
        let folder = TemporaryDirectory()
        let freshet = Program()
        var servers: [ServerProcess] = []
        var endings: [String: Program.Ending] = [:]
        let commands = try Self.commands(of: "docs/operating/several-servers.md")
        #expect(commands.count == 10)
        do {
            for command in commands {
                // Given the page's names of the database, of the files and of the servers
                var arguments = command.map { argument in
                    argument == "postgres://freshet@db.example/freshet"
                        ? uri : argument.hasSuffix(".key") ? folder.file(argument) : argument
                }
                if arguments[0] == "serve" {
                    let options = arguments.dropFirst().filter { $0 != "--port" && !$0.hasPrefix("818") }
                    servers.append(
                        try await ServerProcess.start(executable: Program.path, data: nil, options: Array(options)))
                    continue
                }
                for (place, server) in servers.enumerated() {
                    arguments = arguments.map { $0 == "http://127.0.0.1:818\(place)" ? server.url : $0 }
                }
                if let place = arguments.firstIndex(of: "ID") {
                    // The second server has to know the administrator's key and this one.
                    let id = try #require(endings["key create"]?.output.prefix(10))
                    arguments[place] = String(id)
                    while try await !freshet("key", "list", "--server", servers[1].url, "--token-file", folder.file("operator.key"))
                        .output.contains(id)
                    {}
                }
                // When
                let ending = try await freshet(arguments)
                // Then
                #expect(ending.status == 0 && ending.error.isEmpty, "\(command): \(ending)")
                endings[command.prefix(2).joined(separator: " ")] = ending
            }
            #expect(endings["store check"]?.output.contains("no schema yet") == true)
            #expect(endings["get --server"]?.output == #"{"name":"fig"}"#)
            #expect(endings["store status"]?.lines.prefix(2) == ["namespaces 1", "records 1"])
            // And the key that was revoked at one server is refused by the other, for writes at once
            let till = ["--server", servers[0].url, "--token-file", folder.file("till.key"), "--namespace", "shop"]
            #expect(try await freshet(["put"] + till + ["articles/1", "2"]).status == ExitStatus.noPermission.rawValue)
        } catch {
            for server in servers { await server.kill() }
            throw error
        }
        for server in servers { #expect(await server.stop() == .exited(0)) }
        cluster.giveBack(name)
    }

    @Test("The five commands lead from nothing to a client that reads at one server the write of another")
    func fiveCommands() async throws {
        // Given the lines of the page's first block, of which the first makes the database
        let page = try Project.text(of: "docs/operating/several-servers.md")
        let lines = try #require(page.components(separatedBy: "```").dropFirst().first).split(separator: "\n").map(String.init)
        #expect(lines.count == 5 && lines[0].hasPrefix("createdb "))
        let (freshet, folder) = (Program(), TemporaryDirectory())
        var servers: [ServerProcess] = []
        do {
            // When
            for line in lines[1...2] {
                #expect(line.hasPrefix("freshet serve --store postgres:///freshet --port 818"))
                servers.append(try await ServerProcess.start(executable: Program.path, data: nil, options: ["--store", uri]))
            }
            let written = try await freshet("put", "--server", servers[0].url, "articles/1", #"{"name":"fig"}"#)
            let read = try await freshet("watch", "--server", servers[1].url, "--since", "0", "--limit", "1")
            // Then
            #expect(lines[3] == #"freshet put --server http://127.0.0.1:8180 articles/1 '{"name":"fig"}'"# && written.status == 0)
            #expect(lines[4] == "freshet watch --server http://127.0.0.1:8181 --since 0 --limit 1" && read.status == 0)
            #expect(read.output.contains("articles/1") && read.output.contains(#"{"name":"fig"}"#))
            // And a device whose server stops goes on at the other, with the write that it had not sent
            var configuration = SyncClient.Configuration(url: servers[0].url, namespace: "default", storage: .directory(folder.path))
            let device = try SyncClient(configuration)
            try await device.start()
            try await device.waitUntilLive()
            #expect(await servers.removeFirst().stop() == .exited(0))
            let articles = device.collection("articles", of: Article.self)
            _ = try await articles.setValue(Article(name: "pear"), forKey: "2")
            await device.stop()
            configuration.url = servers[0].url
            let moved = try SyncClient(configuration)
            try await moved.start()
            try await moved.waitUntilDrained()
            #expect(try await freshet("get", "--server", servers[0].url, "articles/2").output == #"{"name":"pear"}"#)
            await moved.stop()
        } catch {
            for server in servers { await server.kill() }
            throw error
        }
        for server in servers { #expect(await server.stop() == .exited(0)) }
        cluster.giveBack(name)
    }

    private struct Article: Codable, Sendable { var name: String }

    @Test("Commands that look at a store change nothing, and say what is missing")
    func looks() async throws {
        let freshet = Program()
        // Given an empty database
        for arguments in [["store", "status", uri], ["key", "create", "--store", uri, "--name", "a", "--admin"]] {
            let ending = try await freshet(arguments)
            #expect(ending.status == ExitStatus.data.rawValue && ending.error.contains("freshet store init"))
        }
        #expect(try await freshet("store", "check", uri).output.contains("no schema yet"))
        #expect(try cluster.query("SELECT count(*) FROM pg_namespace WHERE nspname = 'freshet'", in: name) == "0")
        // When it has a store, which was last written on another timeline
        #expect(try await freshet("store", "init", uri).status == 0)
        try cluster.query("UPDATE freshet.store SET timeline = timeline + 1", in: name)
        let before = try cluster.query("SELECT * FROM freshet.store", in: name)
        // Then neither command renews its epochs
        #expect(try await freshet("store", "check", uri).status == 0)
        #expect(try await freshet("store", "status", uri).lines.contains("namespaces 0"))
        #expect(try cluster.query("SELECT * FROM freshet.store", in: name) == before)
        // And a newer schema is refused
        try cluster.query("UPDATE freshet.store SET schema = 99", in: name)
        for arguments in [
            ["store", "init", uri], ["store", "check", uri], ["store", "status", uri], ["serve", "--port", "0", "--store", uri],
        ] {
            let ending = try await freshet(arguments)
            #expect(ending.status == ExitStatus.data.rawValue && ending.error.contains("schema 99"), "\(arguments): \(ending)")
        }
        cluster.giveBack(name)
    }

    @Test("Commands leave a failover to the servers, which alone know whether the epochs stay")
    func failover() async throws {
        let folder = TemporaryDirectory()
        let freshet = Program()
        // Given a store after a failover: it was last written on an earlier timeline
        #expect(try await freshet("store", "init", uri).status == 0)
        let token = try cluster.query("SELECT token FROM freshet.store", in: name)
        try cluster.query("UPDATE freshet.store SET timeline = timeline - 1", in: name)
        let before = try cluster.query("SELECT * FROM freshet.store", in: name)
        let commands = [
            ["store", "init", uri], ["key", "create", "--store", uri, "--name", "a", "--admin"],
            ["copy", "--from", uri, "--to", folder.file("copy")],
        ]
        // When
        for arguments in commands {
            let ending = try await freshet(arguments)
            // Then
            #expect(ending.status == ExitStatus.data.rawValue && ending.error.contains("Start one first"), "\(arguments): \(ending)")
        }
        #expect(try cluster.query("SELECT * FROM freshet.store", in: name) == before)
        // When a server has taken over
        let server = try await ServerProcess.start(
            executable: Program.path, data: nil, options: ["--store", uri, "--failover", "keep"])
        #expect(await server.stop() == .exited(0))
        // Then
        for arguments in commands {
            let ending = try await freshet(arguments)
            #expect(ending.status == 0, "\(arguments): \(ending)")
        }
        #expect(try cluster.query("SELECT token FROM freshet.store", in: name) == token)
        cluster.giveBack(name)
    }

    @Test("A store that cannot be named or reached is reported, without its password")
    func failures() async throws {
        let freshet = Program()
        let unreachable = "postgres://freshet:s3cr3t@127.0.0.1:1/none?connect_timeout=2"
        for (arguments, status) in [
            (["store", "check", unreachable], ExitStatus.unavailable), (["store", "status", unreachable], .unavailable),
            (["serve", "--store", unreachable], .unavailable), (["store", "check", "mysql://a"], .usage),
            (["store", "check", "postgres://freshet:s3cr3t@[::1/none"], .usage),
            (["serve", "--store", uri, "--memory"], .usage), (["serve", "--postgres-notify", "off"], .usage),
            (["key", "create", "--store", uri, "--data", "x", "--name", "a", "--admin"], .usage),
        ] {
            let ending = try await freshet(arguments)
            #expect(
                ending.status == status.rawValue && !ending.error.contains("s3cr3t") && !ending.error.isEmpty, "\(arguments): \(ending)")
            #expect(!ending.error.contains("transaction"))
        }
        cluster.giveBack(name)
    }

    @Test("A database that a server could not use is not said to be usable")
    func unusable() async throws {
        let freshet = Program()
        // Given another encoding
        let latin = "latin\(UInt32.random(in: 0 ... .max))"
        try cluster.run("createdb", "--encoding=SQL_ASCII", "--template=template0", latin)
        let encoding = try await freshet("store", "check", cluster.uri(latin))
        #expect(encoding.status == ExitStatus.data.rawValue && encoding.error.contains("--encoding UTF8"), "\(encoding)")
        try cluster.run("dropdb", latin)
        // Given a role that may not make the schema
        let role = "looker\(UInt32.random(in: 0 ... .max))"
        try cluster.query("CREATE ROLE \(role) LOGIN", in: name)
        for command in ["check", "init"] {
            let ending = try await freshet("store", command, cluster.uri(name, user: role))
            #expect(ending.status == ExitStatus.data.rawValue && ending.output.isEmpty, "\(command): \(ending)")
        }
        // When it may
        try cluster.query("GRANT CREATE ON DATABASE \(name) TO \(role)", in: name)
        #expect(try await freshet("store", "check", cluster.uri(name, user: role)).output.contains("no schema yet"))
        try cluster.query("REVOKE CREATE ON DATABASE \(name) FROM \(role); DROP ROLE \(role)", in: name)
        cluster.giveBack(name)
    }
}
#endif
