import FoundationEssentials
import FreshetServer
import FreshetTestSupport
import FreshetWire
import HTTPTypes
import Testing

@testable import freshet

/// `export`, and `import` of its output.
@Suite(.timeLimit(.minutes(5)))
struct ExportTests {
    /// The parts of a record that an export must keep: all but its revision and time, which the other server assigns.
    private struct Kept: Hashable {
        let key: RecordKey
        let content: Content?

        init(_ record: Record) { (key, content) = (record.key, record.content) }
    }

    private func kept(_ server: RecordServer, _ collection: String) async throws -> [Kept] {
        try await RecordPages.all(try Remote(server: server.url, namespace: Namespace("default")), collection).map(Kept.init)
    }

    @Test func whatIsExportedIsImportedAsEqualRecords() async throws {
        // Given JSON of all kinds, text, binary values, an empty one, one larger than a batch, and ids with slashes and controls
        let (source, target) = (try RecordServer.running(), try RecordServer.running())
        let remote = try Remote(server: source.url, namespace: Namespace("default"))
        // In base64 it would exceed the most bytes of a request.
        let large = [UInt8](repeating: 0xFE, count: 13 << 20)
        let values: [(String, String, [UInt8])] = [
            ("1", "application/json", Array(#"{"a": [1, 2.50, "ü\n", null], "b":{}}"#.utf8)), ("2", "application/json", Array("3".utf8)),
            ("a/b c", "text/plain; charset=utf-8", Array("line\r\nline\n".utf8)), ("\n\u{1B}\"é", "image/png", Array(0...255)),
            ("empty", "application/octet-stream", []), ("large", "application/x-thing", large),
            ("large.json", "application/json", Array("[\"\(String(repeating: "x", count: 2 << 20))\"]".utf8)),
        ]
        for (id, type, value) in values {
            let path = remote.namespace.path(of: try RecordKey(collection: "things", id: id))
            _ = try await remote.reply(.put, path, fields: [.contentType: type], body: value)
        }
        // When they are exported to a file that is imported by another server, through a pipe
        let folder = TemporaryDirectory()
        let file = folder.file("things.ndjson")
        let copied = try await Program.shell(
            """
            set -o pipefail; f='\(Program.path)'
            "$f" export things --server \(source.url) > \(file) && "$f" import \(file) --server \(target.url) &&
            "$f" export things --server \(source.url) | "$f" import - --collection piped --server \(target.url)
            """)
        // Then the other server has equal records
        #expect(copied.error.isEmpty)
        #expect(copied.output == "7 records written\n7 records written to piped\n")
        let expected = try await kept(source, "things")
        #expect(expected.count == values.count)
        #expect(try await kept(target, "things") == expected)
        #expect(try await kept(target, "piped").map(\.content) == expected.map(\.content))
        await source.stop()
        await target.stop()
    }

    @Test func whatIsListedIsImportedToo() async throws {
        let server = try RecordServer.running()
        let freshet = Program(server: server.url)
        #expect(try await freshet("put", "notes/1", #"{"a":1}"#).status == 0)
        let listed = try await freshet("list", "notes", "--json")
        #expect(try await freshet("export", "notes").output == listed.output)
        let imported = try await freshet("import", "-", "--namespace", "copy", input: listed.output)
        #expect(imported.output == "1 record written\n")
        #expect(try await freshet("get", "notes/1", "--namespace", "copy").output == #"{"a":1}"#)
        await server.stop()
    }

    @Test func anExportGoesOnAfterAnId() async throws {
        let server = try RecordServer.running()
        let freshet = Program(server: server.url)
        for id in ["a1", "a2", "a3", "b1"] { #expect(try await freshet("put", "notes/\(id)", "1").status == 0) }
        let rest = try await freshet("export", "notes", "--after", "a1", "--prefix", "a")
        #expect(try rest.lines.map { try Record(json: Array($0.utf8)).key.id } == ["a2", "a3"])
        #expect(try await freshet("export", "no collection").status == ExitStatus.usage.rawValue)
        await server.stop()
    }

    @Test func aTableIsImported() async throws {
        let server = try RecordServer.running()
        let freshet = Program(server: server.url)
        // Given a table from a pipe; When it is imported
        let arguments = ["import", "-", "--format", "csv", "--collection", "prices"]
        let imported = try await freshet(arguments, input: "id,name,price\n7,\"Pear, green\",2.5\n8,Fig,\n")
        // Then its rows are records
        #expect(imported.output == "2 records written to prices\n")
        #expect(try await freshet("get", "prices/7").output == #"{"name":"Pear, green","price":2.5}"#)
        #expect(try await freshet("get", "prices/8").output == #"{"name":"Fig"}"#)
        // And a file with an error in its last line writes nothing
        let wrong = try await freshet(arguments, input: "id,name\n9,Plum\n10\n")
        #expect(wrong.status == ExitStatus.data.rawValue)
        #expect(wrong.error == "error: line 3 has 1 fields, and the first line names 2 columns\n")
        #expect(try await freshet("get", "prices/9").status == ExitStatus.notFound.rawValue)
        // And --text makes numbers texts
        #expect(try await freshet(arguments + ["--text"], input: "id,name\n11,12\n").status == 0)
        #expect(try await freshet("get", "prices/11").output == #"{"name":"12"}"#)
        await server.stop()
    }

    @Test(arguments: ["--format ndjson", "--collection c"]) func aPipeIsNotCopiedBeyondALineThatIsTooLong(options: String) async throws {
        // Given a line without an end; When it is imported by a process that may make no file of more than 64 MiB
        let ending = try await Program.shell("ulimit -f 65536; yes | tr -d '\\n' | '\(Program.path)' import - \(options)")
        // Then the line is refused
        #expect(ending.status == ExitStatus.data.rawValue, "\(ending)")
        #expect(ending.error == "error: line 1 of standard input has more than 33,554,432 bytes\n")
    }

    @Test func anImportShowsABarOnATerminal() async throws {
        let server = try RecordServer.running()
        let folder = TemporaryDirectory()
        folder.write(Array(#"{"key":"c/1","value":1}"#.utf8), to: "one.ndjson")
        let shown = try await Program(server: server.url).onTerminals("import", folder.file("one.ndjson"))
        #expect(shown.output == "1 record written\n")
        #expect(shown.error.contains("] 100%  1 of 1 records"))
        await server.stop()
    }
}
