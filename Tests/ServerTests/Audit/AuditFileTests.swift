import Foundation
import FreshetTestSupport
import Testing

@testable import FreshetServer

@Suite("File of the audit log") struct AuditFileTests {
    @Test("A line that was cut off ends before the next one", .enabled(if: SmallDisk.isAvailable))
    func partialLine() async throws {
        try await SmallDisk.with(kibibytes: 4) { disk in
            // Given a disk with room for less than two lines
            var file = try AuditFile("\(disk.path)/audit")
            defer { file.close() }
            let line = Array(repeating: UInt8(ascii: "a"), count: 3_000) + [0x0A]
            try file.write(line)
            #expect(throws: (any Error).self) { try file.write(line) }
            // When
            try await disk.grow(to: 64)
            try file.write(Array("b\n".utf8))
            try file.write(Array("c\n".utf8))
            try file.synchronize()
            // Then
            let text = String(decoding: try Data(contentsOf: URL(filePath: "\(disk.path)/audit")), as: UTF8.self)
            #expect(text.split(separator: "\n").suffix(2) == ["b", "c"] && text.hasPrefix(String(repeating: "a", count: 3_000) + "\n"))
        }
    }

    @Test("A line that was cut off before a restart, or before the file is opened again, ends before the next one")
    func partialLineOfAnEarlierProcess() throws {
        let folder = TemporaryDirectory()
        let path = folder.file("audit")
        // Given a file that ends within a line
        folder.write(Array("a\n{\"time".utf8), to: "audit")
        var file = try AuditFile(path)
        try file.write(Array("b\n".utf8))
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "a\n{\"time\nb\n")
        // When another one takes its place
        folder.remove("audit")
        folder.write(Array("c".utf8), to: "audit")
        try file.reopen()
        for line in ["d\n", "e\n"] { try file.write(Array(line.utf8)) }
        file.close()
        // Then
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "c\nd\ne\n")
    }

    @Test("Lines after the file was deleted are in a new file, and lines after it was renamed stay with it until it is opened again")
    func deleted() throws {
        let folder = TemporaryDirectory()
        let path = folder.file("audit")
        var file = try AuditFile(path)
        defer { file.close() }
        func write(_ line: String) throws {
            try file.reopenIfDeleted()
            try file.write(Array(line.utf8))
        }
        try write("a\n")
        // When a rotation renames it
        #expect(rename(path, folder.file("audit.1")) == 0)
        try write("b\n")
        #expect(try String(contentsOfFile: folder.file("audit.1"), encoding: .utf8) == "a\nb\n" && folder.files == ["audit.1"])
        // And when it is deleted
        folder.remove("audit.1")
        try write("c\n")
        // Then
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "c\n")
    }

    @Test("A pipe without a reader is refused, and one with a reader gets the lines")
    func pipe() throws {
        let folder = TemporaryDirectory()
        let path = folder.file("audit")
        #expect(mkfifo(path, 0o600) == 0)
        #expect(throws: (any Error).self) { try AuditFile(path) }
        let reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        defer { close(reader) }
        var file = try AuditFile(path)
        try file.write(Array("a\n".utf8))
        file.close()
        var bytes = [UInt8](repeating: 0, count: 8)
        #expect(read(reader, &bytes, 8) == 2 && bytes.starts(with: "a\n".utf8))
    }

    @Test("An existing file keeps its lines and its mode")
    func append() throws {
        let folder = TemporaryDirectory()
        let path = folder.file("audit")
        try Data("a\n".utf8).write(to: URL(filePath: path))
        var file = try AuditFile(path)
        try file.write(Array("b\n".utf8))
        file.close()
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "a\nb\n")
    }
}
