import Glibc
import Testing

@testable import freshet

struct ImportInputTests {
    @Test func linesMayBeLongerThanAPiece() throws {
        // Given lines of more than one piece, an empty one, and a last one without a line feed
        let long = String(repeating: "x", count: 700_000)
        let file = try ImportText("\(long)\n\n\(long)y")
        // When they are read twice
        for _ in 0..<2 {
            var lines: [String] = []
            while let line = try file.input.line() { lines.append(String(decoding: line, as: UTF8.self)) }
            // Then they are the same both times
            #expect(lines == [long, "", long + "y"])
            #expect(file.input.lineNumber == 3)
            file.input.rewind()
        }
    }

    @Test func aPipeIsReadTwice() throws {
        // Given a pipe with a byte order mark and two lines
        var ends: [Int32] = [-1, -1]
        let made = pipe(&ends)
        // A process that another test starts would keep the end for writing open.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let bytes: [UInt8] = [0xEF, 0xBB, 0xBF] + Array("{}\ny".utf8)
        let written = write(ends[1], bytes, bytes.count)
        close(ends[1])
        #expect(made == 0 && written == bytes.count)
        let input = try ImportInput(path: "/dev/fd/\(ends[0])")
        close(ends[0])
        // When its format is found, and its lines are read twice
        #expect(try ImportFormat(contentOf: input) == .ndjson)
        for _ in 0..<2 {
            var lines: [String] = []
            while let line = try input.line() { lines.append(String(decoding: line, as: UTF8.self)) }
            // Then they are the same both times
            #expect(lines == ["{}", "y"])
            input.rewind()
        }
        try input.checkUnchanged()
    }

    @Test func aFileThatIsChangedIsNoticed() throws {
        let file = try ImportText("{}\n")
        try file.input.checkUnchanged()
        file.append(Array("{}\n".utf8), at: 3)
        let failure = #expect(throws: CommandFailure.self) { try file.input.checkUnchanged() }
        #expect(failure?.message.hasSuffix("was changed while it was imported: import it again") == true)
    }

    @Test(arguments: [
        ("[{}]", ImportFormat.json), ("\n {\"a\":\n1}", .json), ("{\"a\":1}\n{\"a\":2}\n", .ndjson), ("\n{}", .ndjson), ("", .ndjson),
    ])
    func theContentTellsTheFormat(text: String, format: ImportFormat) throws {
        let file = try ImportText(text)
        #expect(try ImportFormat(contentOf: file.input) == format)
        // And the whole file can still be read
        #expect(try file.input.all() == Array(text.utf8))
    }

    @Test func contentThatIsNoJSONNeedsAFormat() throws {
        let failure = #expect(throws: CommandFailure.self) { try ImportFormat(contentOf: try ImportText("id,x\n1,2").input) }
        #expect(failure?.message.contains("--format csv") == true)
    }

    @Test(arguments: [("a.csv", ImportFormat.csv), ("a.CSV", .csv), ("a.b/c.ndjson", .ndjson), ("x.jsonl", .ndjson)])
    func aNameTellsTheFormat(path: String, format: ImportFormat) {
        #expect(ImportFormat(path: path) == format)
    }

    @Test(arguments: ["a.json", "csv.d/file", "-"]) func otherNamesDoNot(path: String) { #expect(ImportFormat(path: path) == nil) }
}
