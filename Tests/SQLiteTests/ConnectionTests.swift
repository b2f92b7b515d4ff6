import Dispatch
import FreshetTestSupport
import Glibc
import Synchronization
import Testing

@testable import FreshetSQLite

@Suite struct ConnectionTests {
    private func category(_ body: () throws -> Void) -> SQLiteError.Category? {
        do { try body() } catch { return (error as? SQLiteError)?.category }
        return nil
    }

    @Test func aMissingDirectoryCannotBeOpened() {
        let directory = TemporaryDirectory()
        let error = #expect(throws: SQLiteError.self) { try Connection(path: directory.file("none/a")) }
        #expect(error?.category == .cannotOpen)
        #expect(error?.systemError == ENOENT)
        #expect(error?.description.contains("none/a") == false, "the error that contains this one names the path")
    }

    @Test(
        "a relative path is refused, so that no caller can open another file after chdir", arguments: ["a.db", "./a.db", "", "file:a.db"])
    func relative(path: String) {
        #expect(category { _ = try Connection(path: path) } == .cannotOpen)
        #expect(throws: FileLock.Failure.system(EINVAL)) { try FileLock(path: path) }
    }

    @Test func aNewFileItsLogAndItsIndexAreForTheirOwnerAlone() throws {
        // Given
        let directory = TemporaryDirectory()
        // When
        let connection = try Connection(path: directory.file("a"))
        var modes = [Self.mode(directory.file("a"))]
        try connection.execute("PRAGMA journal_mode = WAL")
        try connection.execute("CREATE TABLE t(a)")
        modes += ["a", "a-wal", "a-shm"].map { Self.mode(directory.file($0)) }
        // Then
        #expect(modes == [0o600, 0o600, 0o600, 0o600])
    }

    @Test func aFileThatIsThereKeepsItsRights() throws {
        let directory = TemporaryDirectory()
        directory.write([], to: "a")
        try #require(chmod(directory.file("a"), 0o640) == 0)
        try Connection(path: directory.file("a")).execute("CREATE TABLE t(a)")
        #expect(Self.mode(directory.file("a")) == 0o640)
    }

    private static func mode(_ path: String) -> mode_t? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o777 : nil
    }

    @Test func aFileThatMustExistIsNotMade() {
        let directory = TemporaryDirectory()
        #expect(category { _ = try Connection(path: directory.file("a"), mode: .readWrite) } == .cannotOpen)
        #expect(category { _ = try Connection(path: directory.file("a"), mode: .readOnly) } == .cannotOpen)
    }

    @Test func aReadOnlyConnectionDoesNotWrite() throws {
        let directory = TemporaryDirectory()
        _ = try Connection(path: directory.file("a")).execute("CREATE TABLE t(a)")
        let connection = try Connection(path: directory.file("a"), mode: .readOnly)
        #expect(category { try connection.execute("INSERT INTO t VALUES(1)") } == .readOnly)
    }

    @Test func anotherKindOfFileIsNotADatabase() throws {
        let directory = TemporaryDirectory()
        directory.write(Array("A letter to a friend, long enough to be no header of a database.\n".utf8), to: "a")
        let connection = try Connection(path: directory.file("a"))
        #expect(category { try connection.execute("CREATE TABLE t(a)") } == .notADatabase)
    }

    @Test func aDamagedFileIsCorrupt() throws {
        // Given
        let directory = TemporaryDirectory()
        do {
            let connection = try Connection(path: directory.file("a"))
            try connection.execute("CREATE TABLE t(a); INSERT INTO t VALUES(zeroblob(100000))")
        }
        // When
        directory.write([UInt8](repeating: 0xA5, count: 4_096), to: "a", at: 4_096)
        // Then
        let connection = try Connection(path: directory.file("a"))
        #expect(category { try connection.withStatement("SELECT sum(length(a)) FROM t") { _ = try $0.step() } } == .corrupt)
    }

    @Test func theVersionOfTheSchemaIsKept() throws {
        let directory = TemporaryDirectory()
        do {
            let connection = try Connection(path: directory.file("a"))
            #expect(try connection.userVersion == 0)
            try connection.transaction { try connection.setUserVersion(3) }
        }
        #expect(try Connection(path: directory.file("a")).userVersion == 3)
    }

    @Test func aCheckpointMovesTheLogIntoTheFile() throws {
        let directory = TemporaryDirectory()
        let connection = try Connection(path: directory.file("a"))
        #expect(try connection.pragma("journal_mode = WAL") == "wal")
        try connection.execute("CREATE TABLE t(a); INSERT INTO t VALUES(zeroblob(100000))")
        let (pages, moved) = try connection.checkpoint()
        #expect(pages > 20 && pages == moved)
        #expect(try connection.checkpoint(truncating: true).pages == 0)
    }

    @Test func aConnectionInAMutexServesManyThreads() throws {
        // Given
        let connection = try Connection(path: ":memory:")
        try connection.execute("CREATE TABLE t(a)")
        let shared = Shared(connection)
        // When
        DispatchQueue.concurrentPerform(iterations: 200) { iteration in
            shared.connection.withLock { connection in
                do {
                    try connection.withStatement("INSERT INTO t VALUES(?)") {
                        try $0.bind(1, Int64(iteration))
                        try $0.run()
                    }
                } catch { Issue.record(error) }
            }
        }
        // Then
        let sum = try shared.connection.withLock { try $0.withStatement("SELECT sum(a) FROM t") { try $0.step() ? $0.int64(0) : -1 } }
        #expect(sum == 19_900)
    }

    final class Shared: Sendable {
        let connection: Mutex<Connection>
        init(_ connection: sending Connection) { self.connection = Mutex(connection) }
    }

    @Test(arguments: SQLiteError.Category.allCases)
    func everyCategoryAdvises(_ category: SQLiteError.Category) {
        #expect(category.advice.hasSuffix("."))
    }

    @Test func errorsOfTheSystemTellAFullDisk() {
        #expect(SQLiteError(code: 10, message: "", systemError: ENOSPC).category == .full)
        #expect(SQLiteError(code: 14, message: "", systemError: ENOSPC).category == .full)
        #expect(SQLiteError(code: 10 | 3 << 8, message: "", systemError: EIO).category == .inputOutput)
        #expect(SQLiteError(code: 10 | 12 << 8, message: "").category == .outOfMemory)
        #expect(SQLiteError(code: 15, message: "").category == .busy)
        #expect(SQLiteError(code: 13, message: "").category == .full)
        #expect(SQLiteError(code: 8 | 1 << 8, message: "").category == .readOnly)
        #expect(SQLiteError(code: 8 | 4 << 8, message: "").category == .moved)
    }
}
