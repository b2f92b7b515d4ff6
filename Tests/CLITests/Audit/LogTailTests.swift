import Foundation
import FreshetTestSupport
import Testing

@testable import freshet

@Suite("The end of a log") struct LogTailTests {
    private let folder = TemporaryDirectory()

    private var path: String { folder.file("log") }

    private func write(_ text: String, to path: String? = nil) throws {
        let handle = try FileHandle(forUpdating: URL(filePath: path ?? self.path))
        try handle.seekToEnd()
        try handle.write(contentsOf: Data(text.utf8))
        try handle.close()
    }

    private func create(_ text: String) throws { try Data(text.utf8).write(to: URL(filePath: path)) }

    private func texts(_ lines: [[UInt8]]) -> [String] { lines.map { String(decoding: $0, as: UTF8.self) } }

    @Test(
        "The last lines are read from any file",
        arguments: [
            ("", 3, []), ("a\n", 3, ["a"]), ("a\nb\nc\nd\n", 3, ["b", "c", "d"]), ("a\nb\nc", 3, ["a", "b"]), ("\n\n\na\n\n", 3, ["a"]),
            ("a\nb\n", 1, ["b"]),
        ])
    func last(content: String, count: Int, expected: [String]) throws {
        try create(content)
        var tail = try LogTail(path)
        #expect(texts(try tail.last(count)) == expected)
    }

    @Test("The last lines of a large file are read without the rest")
    func large() throws {
        try create((0..<100_000).map { "line \($0)\n" }.joined())
        var tail = try LogTail(path)
        #expect(texts(try tail.last(10_000)) == (90_000..<100_000).map { "line \($0)" })
        #expect(try tail.appended().isEmpty)
    }

    @Test("A line is returned once it is complete, and a very long one in pieces")
    func appended() throws {
        try create("a\nb")
        var tail = try LogTail(path)
        #expect(texts(try tail.last(5)) == ["a"])
        try write("c\nd\n")
        #expect(texts(try tail.appended()) == ["bc", "d"])
        try write(String(repeating: "x", count: 200_000) + "\n")
        var lengths: [Int] = []
        while case let lines = try tail.appended(), !lines.isEmpty || lengths.reduce(0, +) < 200_000 { lengths += lines.map(\.count) }
        #expect(lengths.reduce(0, +) == 200_000 && lengths.count > 1)
    }

    /// Gives the file another name, and returns that.
    private func rename() throws -> String {
        let moved = folder.file("log.1")
        try FileManager.default.moveItem(atPath: path, toPath: moved)
        return moved
    }

    @Test("A file that was renamed is read to its end, and then the one that has its name; one that was cut off from its start")
    func rotation() throws {
        try create("a\n")
        var tail = try LogTail(path)
        _ = try tail.last(1)
        let moved = try rename()
        try write("b\n", to: moved)
        #expect(texts(try tail.appended()) == ["b"])
        #expect(texts(try tail.appended()).isEmpty)
        try create("c\nd\n")
        #expect(texts(try tail.appended()) == ["c", "d"])
        #expect(truncate(path, 0) == 0)
        try write("e\n")
        #expect(texts(try tail.appended()) == ["e"])
    }

    @Test("The lines that are appended to a renamed file while the other one is empty are returned")
    func rotationBeforeTheSignal() throws {
        try create("a\n")
        var tail = try LogTail(path)
        _ = try tail.last(1)
        // Given another file that nobody writes to yet, as logrotate's 'create' makes it
        let moved = try rename()
        try create("")
        #expect(texts(try tail.appended()).isEmpty)
        // When the server appends to the renamed one, and then to the other
        try write("b\n", to: moved)
        #expect(texts(try tail.appended()) == ["b"])
        try write("c\n", to: moved)
        try write("d\n")
        // Then
        #expect(texts(try tail.appended()) == ["c"])
        #expect(texts(try tail.appended()) == ["d"])
    }

    @Test("A folder and a file that is not there are refused")
    func refusals() {
        #expect(throws: (any Error).self) { _ = try LogTail(path) }
        #expect(throws: (any Error).self) {
            var tail = try LogTail(folder.path)
            _ = try tail.last(1)
        }
    }
}
