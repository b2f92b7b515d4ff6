import FoundationEssentials
import FreshetTestSupport
import FreshetWire
import Testing

@testable import freshet

/// A whole session: the real program against a separate server.
@Suite(.timeLimit(.minutes(5)))
struct SessionTests {
    /// Calls `body` with a server on a separate folder, and checks that the server exits with success.
    private func withServer(_ body: (Program) async throws -> Void) async throws {
        let folder = TemporaryDirectory()
        let server = try await ServerProcess.start(executable: Program.path, data: folder.path + "/data")
        do {
            try await body(Program(server: server.url))
        } catch {
            await server.kill()
            throw error
        }
        #expect(await server.stop() == .exited(0))
    }

    @Test func aRecordIsWrittenReadChangedAndDeleted() async throws {
        try await withServer { freshet async throws in
            // Given a new record
            let created = try await freshet("put", "notes/1", #"{"text":"hello","draft":true}"#)
            #expect(created.status == 0)
            #expect(created.output == "notes/1 created at revision 1\n")
            // When it is patched
            #expect(try await freshet("patch", "notes/1", #"{"draft":null,"done":true}"#).output == "notes/1 written at revision 2\n")
            // Then reading returns its bytes, or the record object
            #expect(try await freshet("get", "notes/1").output == #"{"text":"hello","done":true}"#)
            let record = try Record(json: Array(try await freshet("get", "notes/1", "--json").output.utf8))
            #expect(record.key.description == "notes/1")
            #expect(record.revision.number == 2)
            // And deleting it leaves no record
            #expect(try await freshet("delete", "notes/1").output == "notes/1 deleted at revision 3\n")
            let missing = try await freshet("get", "notes/1")
            #expect(missing.status == ExitStatus.notFound.rawValue)
            #expect(missing.error.hasPrefix("error: not-found: "))
            #expect(missing.output.isEmpty)
            #expect(try await freshet("get", "notes/1", "--json").status == ExitStatus.notFound.rawValue)
            #expect(try await freshet("delete", "notes/1").status == ExitStatus.notFound.rawValue)
            #expect(try await freshet("patch", "notes/1", "{}").status == ExitStatus.notFound.rawValue)
        }
    }

    @Test func aValueComesFromStandardInputOrAFile() async throws {
        try await withServer { freshet async throws in
            #expect(try await freshet("put", "notes/in", "--content-type", "text/plain", input: "hello\n").status == 0)
            #expect(try await freshet("get", "notes/in").output == "hello\n")
            let path = Project.folder.appendingPathComponent("CHANGELOG.md").path
            #expect(try await freshet("put", "notes/file", "@\(path)", "--content-type", "text/markdown").status == 0)
            let text = try Project.text(of: "CHANGELOG.md")
            #expect(try await freshet("get", "notes/file").output == text)
            let absent = try await freshet("put", "notes/file", "@/no/such/file")
            #expect(absent.status == ExitStatus.noInput.rawValue)
            #expect(absent.error.contains("/no/such/file"))
            let broken = try await freshet("put", "notes/broken", "hello")
            #expect(broken.status == ExitStatus.data.rawValue)
            #expect(broken.error.hasSuffix("; for text add --content-type text/plain\n"))
        }
    }

    @Test func aConditionThatDoesNotHoldIsAConflict() async throws {
        try await withServer { freshet async throws in
            #expect(try await freshet("put", "notes/1", "1", "--if-revision", "0").status == 0)
            #expect(try await freshet("put", "notes/1", "2", "--if-revision", "0").status == ExitStatus.conflict.rawValue)
            #expect(try await freshet("put", "notes/1", "2", "--if-revision", "1").status == 0)
            let conflict = try await freshet("put", "notes/1", "3", "--if-revision", "1")
            #expect(conflict.status == ExitStatus.conflict.rawValue)
            #expect(conflict.error.contains("it is at revision 2"))
            #expect(try await freshet("get", "notes/1").output == "2")
            #expect(try await freshet("delete", "notes/1", "--if-revision", "1").status == ExitStatus.conflict.rawValue)
            #expect(try await freshet("delete", "notes/1", "--if-revision", "2").status == 0)
        }
    }

    @Test func anImportCanBeRepeatedAndListed() async throws {
        try await withServer { freshet async throws in
            // Given the countries of the world; When they are imported
            let arguments = ["import", "/usr/share/iso-codes/json/iso_3166-1.json", "--collection", "countries", "--id-field", "alpha_2"]
            let first = try await freshet(arguments + ["--json"])
            #expect(first.output == "{\"written\":249,\"before\":0,\"rejected\":0}\n")
            // Then they are listed in order, page by page and by prefix
            let lines = try await freshet("list", "countries", "--json").lines
            let records = try lines.map { try Record(json: Array($0.utf8)) }
            #expect(records.count == 249)
            #expect(records.map(\.key) == records.map(\.key).sorted())
            #expect(try await freshet("list", "countries", "--prefix", "N", "--limit", "3").lines.count == 3)
            // And a second import changes nothing, unless an option asks for it
            #expect(try await freshet(arguments).output == "0 records written to countries, 249 had been imported before\n")
            let status = try NamespaceStatus(json: Array(try await freshet("status", "--json").output.utf8))
            #expect(status.records == 249)
            #expect(status.cursor.revision.number == 249)
            #expect(try await freshet(arguments + ["--again"]).output == "249 records written to countries\n")
        }
    }

    @Test func changesAreWatched() async throws {
        try await withServer { freshet async throws in
            // Given a watcher of one collection that ends after three changes
            async let watched = freshet("watch", "--since", "0", "--collection", "notes", "--json", "--limit", "3")
            // A reader from the start gets no invalidation from before its first request.
            while try NamespaceStatus(json: Array(try await freshet("status", "--json").output.utf8)).waiting == 0 {}
            // When there are changes in the collection and outside it
            #expect(try await freshet("put", "notes/1", #"{"a":1}"#).status == 0)
            #expect(try await freshet("put", "other/1", "1").status == 0)
            #expect(try await freshet("put", "notes/2", "2").status == 0)
            #expect(try await freshet("invalidate", "notes/3", "--json").output == "{\"revision\":4}\n")
            // Then the watcher prints those of the collection, a JSON object a line
            let ending = try await watched
            #expect(ending.status == 0)
            let changes = try ending.lines.map { try Change(json: Array($0.utf8)) }
            #expect(changes.map(\.revision.number) == [1, 3, 4])
            #expect(changes.last?.effect == .invalidate(.key(try RecordKey("notes/3"))))
        }
    }

    @Test func namespacesAreApart() async throws {
        try await withServer { freshet async throws in
            #expect(try await freshet("put", "notes/1", "1", "--namespace", "one").status == 0)
            #expect(try await freshet("get", "notes/1", "--namespace", "two").status == ExitStatus.notFound.rawValue)
            #expect(try await freshet("get", "notes/1", variables: ["FRESHET_NAMESPACE": "one"]).output == "1")
            #expect(try await freshet("get", "notes/1", "--namespace", "Not One").status == ExitStatus.usage.rawValue)
        }
    }
}
