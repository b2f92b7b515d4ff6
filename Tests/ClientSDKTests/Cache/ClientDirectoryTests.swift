import FreshetSQLite
import FreshetTestSupport
import FreshetWire
import Glibc
import Testing

@testable import FreshetClient

/// Directories of clients, for tools.
@Suite struct ClientDirectoryTests {
    private let folder = TemporaryDirectory()

    private func opened() throws(ClientError) -> ClientDirectory? { try ClientDirectory(folder.path) }

    @Test func aDirectoryWithoutAFileIsNone() throws {
        #expect(try opened() == nil)
    }

    @Test func aFileOfSomethingElseIsReportedAndStays() throws {
        let path = folder.file("freshet.sqlite")
        let expected = ClientError.corrupt(path: path, quarantine: path)
        // Given bytes that are no database
        folder.write(Array(repeating: 0x41, count: 2_000), to: "freshet.sqlite")
        let error = #expect(throws: expected) { try opened() }
        #expect(folder.files == ["freshet.sqlite"])
        #expect(error?.description.contains("stays where it is") == true)
        // And another program's database
        folder.remove("freshet.sqlite")
        try Connection(path: path).execute("CREATE TABLE letters(a)")
        #expect(throws: expected) { try opened() }
    }

    @Test func aFileThatCannotBeOpenedIsNotCalledDamaged() throws {
        // Given
        try #require(mkdir(folder.file("freshet.sqlite"), 0o700) == 0)
        // When
        let error = #expect(throws: ClientError.self) { try opened() }
        // Then
        guard case .storageFailed(folder.file("freshet.sqlite"), _)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func aFileThatAnotherProgramHasLockedIsNotCalledDamaged() throws {
        // Given a client's file
        let client = try ClientIdentifier("device")
        do { _ = try DiskTier(directory: folder.path, namespace: Namespace("shop"), client: client) }
        let other = try Connection(path: folder.file("freshet.sqlite"))
        try other.execute("PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; UPDATE state SET namespace = 'shop'")
        // When
        let error = #expect(throws: ClientError.self) { try opened() }
        // Then
        guard case .storageFailed(_, let text)? = error, text.contains("Another program") else {
            Issue.record("\(String(describing: error))")
            return
        }
    }
}
