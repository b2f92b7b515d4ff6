import FreshetTestSupport
import Glibc
import Testing

@testable import FreshetSQLite

@Suite("A database that is moved, replaced or deleted while it is open") struct DatabasePlaceTests {
    /// The fate of a database's files in a directory.
    enum Incident: CaseIterable {
        case directoryRenamed, directoryDeleted, databaseReplaced, databaseDeleted, logDeleted, logReplaced, lockDeleted, lockReplaced

        /// - Parameter directory: has `a.db`, its log, `lock`, and `copy` for replacements.
        func happen(in directory: String) {
            func replace(_ name: String) { #expect(rename(directory + "/copy", directory + "/" + name) == 0) }
            func delete(_ name: String) { #expect(unlink(directory + "/" + name) == 0) }
            switch self {
            case .directoryRenamed: #expect(rename(directory, directory + ".old") == 0)
            case .directoryDeleted:
                for name in ["a.db", "a.db-wal", "a.db-shm", "lock", "copy"] { delete(name) }
                #expect(rmdir(directory) == 0)
            case .databaseReplaced: replace("a.db")
            case .databaseDeleted: delete("a.db")
            case .logDeleted: delete("a.db-wal")
            case .logReplaced: replace("a.db-wal")
            case .lockDeleted: delete("lock")
            case .lockReplaced: replace("lock")
            }
        }
    }

    private let folder = TemporaryDirectory()
    private var directory: String { folder.file("data") }

    /// A database with one row that keeps its place.
    private func open() throws -> Connection {
        #expect(mkdir(directory, 0o700) == 0)
        folder.write([1], to: "data/copy")
        let connection = try Connection(path: directory + "/a.db")
        try connection.pragma("journal_mode = WAL")
        try connection.execute("CREATE TABLE t(a); INSERT INTO t VALUES(1)")
        return connection
    }

    private func keepPlace(_ connection: Connection) throws -> DatabasePlace {
        try connection.keepPlace(with: FileLock(path: directory + "/lock"))
    }

    private func category(_ body: () throws -> Void) -> SQLiteError.Category? {
        do { try body() } catch { return (error as? SQLiteError)?.category }
        return nil
    }

    private func insert(_ connection: Connection) throws { try connection.execute("INSERT INTO t VALUES(2)") }

    private func count(_ connection: Connection) throws -> Int64 {
        try connection.withStatement("SELECT count(*) FROM t") { try $0.step() ? $0.int64(0) : -1 }
    }

    @Test("takes no further transaction, and stores nothing of it", arguments: Incident.allCases)
    func before(incident: Incident) throws {
        // Given
        let connection = try open()
        let place = try keepPlace(connection)
        try connection.transaction { try insert(connection) }
        #expect(!place.hasMoved && place.isKept())
        // When
        incident.happen(in: directory)
        // Then, at the first one and at each that follows
        for _ in 1...2 { #expect(category { try connection.transaction { try insert(connection) } } == .moved) }
        #expect(place.hasMoved && !place.isKept())
        #expect(try count(connection) == 2)
    }

    @Test("acknowledges no transaction that was being committed meanwhile", arguments: Incident.allCases)
    func during(incident: Incident) throws {
        // Given
        let connection = try open()
        _ = try keepPlace(connection)
        // When the files go while a transaction is in progress
        let failure = category {
            try connection.transaction {
                try insert(connection)
                incident.happen(in: directory)
            }
        }
        // Then it is stored where no later start finds it, and that is what the failure says
        #expect(failure == .movedAfterCommit)
        #expect(try count(connection) == 2 && !connection.isInTransaction)
    }

    @Test("is not used again once the files are back, but only by another open")
    func back() throws {
        // Given a directory that was renamed, which one transaction has noticed
        let connection = try open()
        _ = try keepPlace(connection)
        #expect(rename(directory, directory + ".old") == 0)
        #expect(category { try connection.transaction { try insert(connection) } } == .moved)
        // When
        #expect(rename(directory + ".old", directory) == 0)
        // Then
        #expect(category { try connection.transaction { try insert(connection) } } == .moved)
        let next = try Connection(path: directory + "/a.db")
        try next.keepPlace()
        try next.transaction { try insert(next) }
        #expect(try count(next) == 2)
    }

    @Test("is noticed through the link by which it was opened", arguments: [true, false])
    func link(ofDirectory: Bool) throws {
        // Given a database behind a link of its directory, or of its file
        let connection = try open()
        let (link, other) = (folder.file("link"), folder.file("other"))
        let target = ofDirectory ? directory : directory + "/a.db"
        #expect(symlink(target, link) == 0)
        let linked = try Connection(path: ofDirectory ? link + "/a.db" : link)
        let place = try linked.keepPlace()
        try linked.transaction { try insert(linked) }
        #expect(place.isKept())
        // When the link leads elsewhere
        #expect(symlink(folder.path, other) == 0 && rename(other, link) == 0)
        // Then
        #expect(category { try linked.transaction { try insert(linked) } } == .moved)
        withExtendedLifetime(connection) {}
    }

    @Test("stays the same through checkpoints, a log that begins again, and other connections")
    func use() throws {
        // Given
        let connection = try open()
        let place = try keepPlace(connection)
        // When
        for _ in 1...3 {
            try connection.transaction { try insert(connection) }
            try connection.checkpoint(truncating: true)
            let other = try Connection(path: directory + "/a.db")
            try insert(other)
            try other.execute("VACUUM")
        }
        // Then
        try connection.transaction {}
        #expect(place.isKept())
    }

    @Test(
        "is refused at once if it happened before the place is kept",
        arguments: [Incident.directoryRenamed, .databaseReplaced, .logDeleted])
    func late(incident: Incident) throws {
        let connection = try open()
        incident.happen(in: directory)
        #expect(category { try connection.keepPlace() } == .moved)
    }

    @Test("cannot happen to a database in memory")
    func memory() throws {
        let connection = try Connection(path: ":memory:")
        let place = try connection.keepPlace()
        try connection.transaction { try connection.execute("CREATE TABLE t(a)") }
        #expect(place.isKept())
    }
}
