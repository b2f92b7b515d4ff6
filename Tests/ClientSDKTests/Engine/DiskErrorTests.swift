import FreshetSQLite
import FreshetTestSupport
import Testing

@testable import FreshetClient

/// The way of a disk's failure to the user: an error of SQLite, a ``DiskFailure``, a ``ClientError``.
@Suite struct DiskErrorTests {
    private static let path = "/var/lib/notes"

    /// Codes of SQLite: full, read-only, damaged, no database, busy, I/O, out of memory, constraint.
    @Test("an error's text names the path once", arguments: [13, 8, 11, 26, 5, 10, 7, 19] as [Int32])
    func pathOnce(code: Int32) {
        // Given
        let failure = DiskTier.failure(SQLiteError(code: code, message: "no luck"))
        // When it reaches the user as the answer to a call, as the state of the feed, and directly
        let errors = [
            ClientError(SyncFailure.disk(failure), .refresh([]), path: Self.path),
            ClientError(SyncStatus.Trouble.disk(failure), path: Self.path),
            DiskTier.clientError(SQLiteError(code: code, message: "no luck"), Self.path),
        ]
        // Then it is the same error each time
        #expect(Set(errors).count == 1)
        if case .damaged = failure { return }  // its text also names the file that is moved aside
        for error in errors { #expect(error.description.ranges(of: Self.path).count == 1, "\(error)") }
    }

    @Test("a file that cannot be opened is named once")
    func opening() throws {
        let path = TemporaryDirectory().path + "/missing/freshet.sqlite"
        let error = #expect(throws: SQLiteError.self) { _ = try Connection(path: path) }
        let shown = try DiskTier.clientError(#require(error), path)
        #expect(shown.description.ranges(of: path).count == 1, "\(shown)")
    }
}
