import FreshetSQLite
import FreshetTestSupport
import Glibc
import Logging
import Synchronization
import Testing

@testable import FreshetCache

@Suite("Checkpoints of the disk cache")
struct DiskCheckpointTests {
    let folder = TemporaryDirectory()

    private func logSize(_ cache: DiskCache) throws -> Int {
        let generation = try #require(cache.shared.withLock { $0.control?.generation })
        var status = stat()
        return stat(cache.folder(generation) + "/" + DiskSchema.file + "-wal", &status) == 0 ? Int(status.st_size) : 0
    }

    @Test("the log's pages are moved beside the writes, from the thousandth on")
    func beside() throws {
        // Given a database with a log of 1,500 pages and more
        let path = folder.file("a")
        let writer = try Connection(path: path, nonblockingReads: .pageCache)
        try writer.pragma("journal_mode = WAL")
        writer.endAutomaticCheckpoints()
        try writer.execute("CREATE TABLE t(a)")
        try writer.withStatement("INSERT INTO t VALUES(zeroblob(6000000))") { try $0.run() }
        #expect(writer.logPages >= 1_465)
        let checkpointer = DiskCheckpointer(path: path, logger: Logger(label: "test"))
        // When fewer than a thousand were added
        checkpointer.noteCommit(logPages: 999)
        checkpointer.close()
        // Then none is moved
        #expect(checkpointer.movedPages == 0)
        // When more
        checkpointer.noteCommit(logPages: writer.logPages)
        checkpointer.close()
        // Then all are
        #expect(checkpointer.movedPages == writer.logPages)
        // And a log that begins again counts from its start
        try writer.execute("INSERT INTO t VALUES(1)")
        #expect(writer.logPages < 10)
        checkpointer.noteCommit(logPages: writer.logPages)
        #expect(checkpointer.movedPages == 0)
        #expect(try writer.withStatement("SELECT count(*) FROM t") { try $0.step() ? $0.int64(0) : 0 } == 2)
    }

    @Test("while writes go on, the log does not grow beyond its limit")
    func limit() async throws {
        // Given
        let cache = try await DiskCache.open(folder.path)
        // When 12,000 pages and more are written, each value by itself
        for number in 0..<2_000 {
            try await cache.setValue(Array(repeating: UInt8(number & 0xFF), count: 16_000), forKey: "\(number % 500)")
        }
        // Then the log has the 3,900 pages at which a write waits, at most 100 for which it does not wait again, and
        // those of one write, each with a header of 24 bytes
        let size = try logSize(cache)
        #expect(size > 1_000 * 4_120 && size < 4_072 * 4_120, "\(size) bytes")
        for number in 1_500..<2_000 {
            #expect(
                try await cache.value(forKey: "\(number % 500)")?.bytes
                    == Array(repeating: UInt8(number & 0xFF), count: 16_000))
        }
        // And closing moves the rest
        await cache.close()
        #expect(files(beneath: folder.path).allSatisfy { !$0.hasSuffix("-wal") })
        let reopened = try await DiskCache.open(folder.path)
        #expect(try await reopened.statistics().entries == 500)
        #expect(try await reopened.value(forKey: "7")?.bytes == Array(repeating: UInt8(1_507 & 0xFF), count: 16_000))
    }
}
