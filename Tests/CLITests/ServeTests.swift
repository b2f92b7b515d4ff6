import FoundationEssentials
import FreshetSQLite
import FreshetTestSupport
import FreshetWire
import Glibc
import Testing

@testable import freshet

/// How a server starts and stops.
@Suite(.timeLimit(.minutes(5)))
struct ServeTests {
    private let program = Program()

    /// One line on standard error that states how to fix the problem, nothing on standard output, and the status.
    private func expectRefusal(_ arguments: [String], _ status: freshet.ExitStatus, saying text: String) async throws {
        let ending = try await program(["serve", "--until-input-ends"] + arguments)
        #expect(ending.status == status.rawValue)
        #expect(ending.output.isEmpty)
        #expect(ending.error.hasPrefix("error: ") && ending.error.contains(text), "\(ending.error)")
        #expect(ending.error.split(separator: "\n").count == 1)
    }

    @Test func aTakenPortOrFolderIsRefused() async throws {
        // Given a server
        let folder = TemporaryDirectory()
        let server = try await ServerProcess.start(executable: Program.path, data: folder.path + "/data")
        // Then no other server gets its port or its folder
        try await expectRefusal(["--memory", "--port", "\(server.port)"], .unavailable, saying: "choose another port")
        try await expectRefusal(["--data", folder.path + "/data", "--port", "0"], .unavailable, saying: "another directory")
        // And a command that starts a server fails as it does
        let failure = await #expect(throws: freshet.CommandFailure.self) {
            try await ServerProcess.start(executable: Program.path, data: folder.path + "/other", port: server.port)
        }
        #expect(failure?.status == .unavailable)
        #expect(await server.stop() == .exited(0))
    }

    @Test func aFolderThatCannotServeIsRefused() async throws {
        let folder = TemporaryDirectory()
        // Given no name, no folder above, and a file in a folder's place or above it
        try await expectRefusal(["--data", "", "--port", "0"], .usage, saying: "--data takes a folder")
        try await expectRefusal(["--data", folder.path + "/no/data", "--port", "0"], .cannotCreate, saying: "mkdir -p")
        #expect(FileManager.default.createFile(atPath: folder.path + "/file", contents: nil))
        try await expectRefusal(["--data", folder.path + "/file", "--port", "0"], .cannotCreate, saying: "Name another directory")
        try await expectRefusal(
            ["--data", folder.path + "/file/data", "--port", "0"], .cannotCreate, saying: "Name another directory")
        // Given data of a newer version
        let data = folder.path + "/data"
        let server = try await ServerProcess.start(executable: Program.path, data: data)
        #expect(await server.stop() == .exited(0))
        try Connection(path: data + "/freshet.db").execute("PRAGMA user_version = 99")
        try await expectRefusal(["--data", data, "--port", "0"], .data, saying: "Run a newer Freshet")
        // Given a file that is no database
        try Data(repeating: 7, count: 8_192).write(to: URL(filePath: data + "/freshet.db"))
        try await expectRefusal(["--data", data, "--port", "0"], .data, saying: "not a database")
    }

    @Test("a server goes on when the program that reads its log has gone") func lostReaderOfTheLog() async throws {
        // Given a server whose log is read up to its first line
        let folder = TemporaryDirectory()
        let ending = try await Program.shell(
            """
            cd '\(folder.path)' && mkfifo log out && head -n 1 log > first & reader=$!
            cd '\(folder.path)'; until [ -p log ] && [ -p out ]; do :; done
            '\(Program.path)' serve --memory --open --host 0.0.0.0 --port 0 --audit audit 2> log > out & server=$!
            read -r line < out; wait $reader
            # When it has more to say
            mv audit before; kill -HUP $server; until [ -e audit ] || ! kill -0 $server; do :; done
            kill -TERM $server; wait $server; echo "status $?"; cat first
            """)
        // Then
        #expect(ending.output.contains("status 0") && ending.output.contains("warning: --open"), "\(ending.output) \(ending.error)")
    }

    /// The server's input ends as soon as it starts; many times, since one in nine such starts used to crash.
    @Test(arguments: 0..<20) func itEndsWellWithItsInput(_: Int) async throws {
        let ending = try await program("serve", "--memory", "--port", "0", "--until-input-ends")
        #expect(ending.status == 0)
        #expect(ending.output.contains(/^listening on http:\/\/127\.0\.0\.1:[0-9]+\n$/))
        #expect(ending.error.isEmpty)
    }

    @Test func faultsAreThereOnlyIfAskedForAndAreWarnedOf() async throws {
        // Given a server that accepts faults, and one that does not
        let folder = TemporaryDirectory()
        let faulty = try await ServerProcess.start(executable: Program.path, data: folder.path + "/faulty", options: ["--test-faults"])
        let plain = try await ServerProcess.start(executable: Program.path, data: folder.path + "/plain")
        // When the next request for a record is to be refused by each
        let fault = ["-H", "Content-Type: application/json", "-d", #"{"effect":"answer","status":503,"on":"records"}"#]
        #expect(try await curl(fault + ["\(faulty.url)/v1/default/faults"]).status == 201)
        #expect(try await curl(fault + ["\(plain.url)/v1/default/faults"]).status == 404)
        // Then the first server refuses it, and the other does not
        #expect(try await Program(server: faulty.url)("put", "c/1", "1").status == freshet.ExitStatus.tryAgain.rawValue)
        #expect(try await Program(server: plain.url)("put", "c/1", "1").status == 0)
        #expect(await faulty.stop() == .exited(0))
        #expect(await plain.stop() == .exited(0))
        // And it prints a warning at the start
        let ending = try await program("serve", "--memory", "--port", "0", "--until-input-ends", "--test-faults")
        #expect(ending.status == 0)
        #expect(ending.error.hasPrefix("warning: --test-faults lets everyone"))
        #expect(ending.error.split(separator: "\n").count == 1)
    }

    @Test(arguments: ["0.0.0.0", "::"]) func itListensBeyondLoopbackOnlyIfToldTo(_ host: String) async throws {
        let arguments = ["--memory", "--port", "0", "--host", host]
        // Without --open it refuses to start, and states the consequence
        let text = "can read and change all records, without a password or encryption: add --require-keys, or --open"
        try await expectRefusal(arguments, .usage, saying: text)
    }

    @Test func itSaysWhatListeningBeyondLoopbackMeans() async throws {
        // With --open it listens beyond loopback, and warns
        let ending = try await program("serve", "--memory", "--port", "0", "--until-input-ends", "--host", "0.0.0.0", "--open")
        #expect(ending.status == 0)
        #expect(ending.output.hasPrefix("listening on http://"))
        #expect(ending.error.hasPrefix("warning: --open with --host 0.0.0.0 means that everyone who can reach the server can"))
        #expect(ending.error.split(separator: "\n").count == 1)
        // On loopback, --open changes nothing
        let inside = try await program("serve", "--memory", "--port", "0", "--until-input-ends", "--open")
        #expect(inside.status == 0 && inside.error.isEmpty)
    }

    @Test("SIGHUP does not end a server without files to read again", arguments: [[], ["--test-faults"]])
    func hangupWithoutFiles(options: [String]) async throws {
        // Given
        let folder = TemporaryDirectory()
        let server = try await ServerProcess.start(executable: Program.path, data: folder.path + "/data", options: options)
        // When
        server.process.send(SIGHUP)
        // Then
        #expect(try await Program(server: server.url)("put", "c/1", "1").status == 0)
        #expect(await server.stop() == .exited(0))
    }

    @Test func whoeverWaitsIsAnsweredWhenItStops() async throws {
        // Given a server with a client that waits for changes
        let folder = TemporaryDirectory()
        let server = try await ServerProcess.start(executable: Program.path, data: folder.path + "/data")
        let freshet = Program(server: server.url)
        #expect(try await freshet("put", "c/1", "1").status == 0)
        let status = try NamespaceStatus(json: Array(try await freshet("status", "--json").output.utf8))
        let url = "\(server.url)/v1/default/changes?since=\(status.cursor)&wait=60"
        async let answer = curl([url])
        while try NamespaceStatus(json: Array(try await freshet("status", "--json").output.utf8)).waiting == 0 {}
        // When the server is asked to stop
        let ending = await server.stop()
        // Then the client gets its answer, and the server exits with success
        #expect(try await answer.status == 204)
        #expect(try await answer.fields["freshet-cursor"] == status.cursor.description)
        #expect(ending == .exited(0))
    }

    @Test func nothingAcknowledgedIsLostWhenItIsKilled() async throws {
        // Given a server with a record
        let folder = TemporaryDirectory()
        let data = folder.path + "/data"
        let first = try await ServerProcess.start(executable: Program.path, data: data, port: try await FreePort.shared.next())
        #expect(try await Program(server: first.url)("put", "c/1", "1").status == 0)
        // When it is killed and started again on the same port
        await first.kill()
        #expect(await first.process.ending() == .signalled(SIGKILL))
        let second = try await ServerProcess.start(executable: Program.path, data: data, port: first.port)
        // Then it still has the record
        #expect(second.url == first.url)
        #expect(try await Program(server: second.url)("get", "c/1").output == "1")
        #expect(await second.stop() == .exited(0))
    }

    @Test func restoringRotatesTheEpoch() async throws {
        // Given a record, and its namespace's epoch
        let folder = TemporaryDirectory()
        let data = folder.path + "/data"
        let first = try await ServerProcess.start(executable: Program.path, data: data)
        #expect(try await Program(server: first.url)("put", "c/1", "1").status == 0)
        let before = try NamespaceStatus(json: Array(try await Program(server: first.url)("status", "--json").output.utf8))
        #expect(await first.stop() == .exited(0))
        // When a server starts on a folder that was restored
        let second = try await ServerProcess.start(executable: Program.path, data: data, options: ["--restored"])
        // Then the record is there in a new epoch
        let after = try NamespaceStatus(json: Array(try await Program(server: second.url)("status", "--json").output.utf8))
        #expect(after.records == 1)
        #expect(after.cursor.epoch != before.cursor.epoch)
        #expect(try await Program(server: second.url)("status", "--ready").status == 0)
        #expect(await second.stop() == .exited(0))
    }
}
