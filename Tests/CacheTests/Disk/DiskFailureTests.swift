import FreshetSQLite
import FreshetTestSupport
import Glibc
import Logging
import Testing

@testable import FreshetCache

@Suite("A cache's disk")
struct DiskFailureTests {
    @Test("a full one: reads work, a write fails, and its key misses", .enabled(if: SmallDisk.isAvailable))
    func full() async throws {
        try await SmallDisk.with(kibibytes: 1_500) { disk in
            // Given a cache with values small and large
            let cache = try await DiskCache.open("\(disk.path)/cache")
            try await cache.setValue([1], forKey: "small")
            try await cache.setValue(Array(repeating: 2, count: 30_000), forKey: "large")
            // When it is filled, with large values and with small ones
            for size in [100_000, 10_000, 500] {
                var failure: CacheError?
                for number in 0..<3_000 where failure == nil {
                    do throws(CacheError) {
                        try await cache.setValue(Array(repeating: 3, count: size), forKey: "\(size)/\(number)")
                    } catch {
                        failure = error
                        #expect(try await cache.value(forKey: "\(size)/\(number)") == nil)
                    }
                }
                guard case .diskFull = failure else {
                    Issue.record("expected diskFull, got \(String(describing: failure))")
                    return
                }
            }
            // Then the earlier values are still there
            #expect(try await cache.value(forKey: "small")?.bytes == [1])
            #expect(try await cache.value(forKey: "large")?.bytes == Array(repeating: 2, count: 30_000))
            for entry in try await cache.entries(limit: 10_000) where entry.key.contains("/") {
                #expect(try await cache.value(forKey: entry.keyBytes)?.bytes == Array(repeating: 3, count: entry.byteCount))
            }
            // A value that could not be replaced is not returned for the new one
            await #expect(throws: CacheError.self) { try await cache.setValue(Array(repeating: 4, count: 300_000), forKey: "large") }
            #expect(try await cache.value(forKey: "large") == nil)
            // flush throws a staged write's failure
            try cache.stageValue(Array(repeating: 5, count: 300_000), forKey: "staged")
            await #expect(throws: CacheError.self) { try await cache.flush() }
            #expect(try await cache.value(forKey: "staged") == nil)
            // And it can be emptied, after which there is room
            try await cache.removeAll()
            #expect(try await cache.value(forKey: "small") == nil)
            try await cache.setValue(Array(repeating: 4, count: 300_000), forKey: "large")
            #expect(try await cache.value(forKey: "large")?.bytes == Array(repeating: 4, count: 300_000))
            await cache.close()
        }
    }

    @Test("on one that stays full, a cache that can remember no more failed writes is emptied", .enabled(if: SmallDisk.isAvailable))
    func tooManyFailures() async throws {
        try await SmallDisk.with(kibibytes: 1_500) { disk in
            // Given a cache that has filled the disk
            var configuration = DiskCache.Configuration()
            configuration.logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            configuration.mostFailedWrites = 20
            let cache = try await DiskCache.open("\(disk.path)/cache", configuration)
            var events = cache.events.makeAsyncIterator()
            var failures = 0
            // When it goes on writing
            for number in 0..<100 where failures <= 20 {
                do throws(CacheError) {
                    try await cache.setValue(Array(repeating: 3, count: 100_000), forKey: "\(number)")
                } catch {
                    failures += 1
                }
            }
            // Then it is emptied, and reports it
            #expect(failures == 21)
            #expect(await events.next() == .reset(.failedWrites))
            #expect(try await cache.value(forKey: "0") == nil)
            // And it has room again
            try await cache.setValue(Array(repeating: 4, count: 300_000), forKey: "a")
            #expect(try await cache.value(forKey: "a")?.bytes == Array(repeating: 4, count: 300_000))
            await cache.close()
        }
    }

    @Test("want of memory, and locks that others hold, are no damage", arguments: [7, 10 | 12 << 8, 5, 15])
    func noDamage(code: Int32) {
        let folder = TemporaryDirectory()
        guard case .cache(.storageFailed) = DiskFailure(SQLiteError(code: code, message: ""), folder.path) else {
            Issue.record("code \(code) would empty the cache")
            return
        }
    }

    @Test("a directory whose other files were removed as old is a cache still, and begins again empty")
    func oldFilesRemoved() async throws {
        let folder = TemporaryDirectory()
        let cache = try await DiskCache.open(folder.path)
        try await cache.setValue([1], forKey: "a")
        // Given
        unlink(folder.file("freshet.cache"))
        unlink(folder.file("CACHEDIR.TAG"))
        // When
        try await cache.setValue([2], forKey: "b")
        // Then
        #expect(try await cache.value(forKey: "a") == nil)
        #expect(try await cache.value(forKey: "b")?.bytes == [2])
        await cache.close()
        let next = try await DiskCache.open(folder.path)
        #expect(try await next.value(forKey: "b")?.bytes == [2])
        #expect(folder.files.contains("CACHEDIR.TAG"))
    }

    @Test("a cache whose database was deleted begins again, together with the other instances")
    func databaseDeleted() async throws {
        // Given
        let folder = TemporaryDirectory()
        let cache = try await DiskCache.open(folder.path)
        try await cache.setValue([1], forKey: "a")
        #expect(try await cache.value(forKey: "a") != nil)
        folder.remove("g00000001")
        // When
        try await cache.setValue([2], forKey: "b")
        // Then
        #expect(try await cache.value(forKey: "a") == nil)
        let other = try await DiskCache.open(folder.path)
        #expect(try await other.value(forKey: "b")?.bytes == [2])
        try await other.setValue([3], forKey: "b")
        #expect(try await cache.value(forKey: "b")?.bytes == [3])
        try await cache.setValue(Array(repeating: 4, count: 20_000), forKey: "large")
        #expect(try await other.value(forKey: "large") != nil)
    }

    @Test(
        "a cache whose log or whose folder is deleted between two writes loses no value that is written from then on",
        arguments: [true, false])
    func movedBetweenWrites(logAlone: Bool) async throws {
        // Given a cache that is in use, with changes in its log
        let folder = TemporaryDirectory()
        let path = folder.file("cache")
        let cache = try await DiskCache.open(path)
        try await cache.setValue([1], forKey: "a")
        // When
        if logAlone {
            #expect(unlink("\(path)/g00000001/\(DiskSchema.file)-wal") == 0)
        } else {
            #expect(rename(path, path + ".old") == 0)
        }
        try await cache.setValue([2], forKey: "b")
        // Then another process has the value
        let other = try await DiskCache.open(path)
        #expect(try await other.value(forKey: "b")?.bytes == [2])
        #expect(try await cache.statistics().restarts == 1)
    }

    @Test("a read-only one: a clear error, at opening and later", .enabled(if: SmallDisk.isAvailable))
    func readOnly() async throws {
        try await SmallDisk.with(kibibytes: 4_000) { disk in
            let path = "\(disk.path)/cache"
            let first = try await DiskCache.open(path)
            try await first.setValue([1], forKey: "a")
            await first.close()
            try await disk.makeReadOnly()
            // When, then
            await #expect(throws: CacheError.readOnly(path: path)) { try await DiskCache.open(path) }
            await #expect(throws: CacheError.readOnly(path: "\(disk.path)/new")) { try await DiskCache.open("\(disk.path)/new") }
        }
    }

    @Test("a directory that is something else's is not touched")
    func notOurs() async throws {
        let folder = TemporaryDirectory()
        folder.write(Array("mine".utf8), to: "letter.txt")
        // When, then
        await #expect(throws: CacheError.notACacheDirectory(path: folder.path)) { try await DiskCache.open(folder.path) }
        #expect(folder.files == ["letter.txt"])
        let file = folder.file("letter.txt")
        await #expect(throws: CacheError.notACacheDirectory(path: file)) { try await DiskCache.open(file) }
        #expect(read(file) == Array("mine".utf8))
        // Nor one in which another program's file happens to have the name of ours
        let other = TemporaryDirectory()
        other.write(Array("not of us".utf8), to: "freshet.cache")
        await #expect(throws: CacheError.notACacheDirectory(path: other.path)) { try await DiskCache.open(other.path) }
        #expect(read(other.file("freshet.cache")) == Array("not of us".utf8))
    }

    @Test("a file of a value that was written before the process died, without its row, is removed in time")
    func orphans() async throws {
        let folder = TemporaryDirectory()
        let cache = try await DiskCache.open(folder.path)
        try await cache.setValue(Array(repeating: 1, count: 20_000), forKey: "kept")
        let kept = try #require(await cache.entry(forKey: "kept")?.file)
        // Given files of no row, old and new, beside one of a row that is old too
        let directory = kept.split(separator: "/").dropLast().map { "/" + $0 }.joined()
        let row = "\(directory)/\(directory.suffix(2))00000000000000"
        let (old, new) = ("\(row)-0000000000000001", "\(row)-0000000000000002")
        for path in [old, new] { close(creat(path, 0o600)) }
        // The new one stays young however long the writes below take.
        for (path, seconds) in [(old, 1_000_000), (kept, 1_000_000), (new, time(nil) + 86_400)] {
            var times = [timespec(tv_sec: seconds, tv_nsec: 0), timespec(tv_sec: seconds, tv_nsec: 0)]
            utimensat(AT_FDCWD, path, &times, 0)
        }
        // When the cache has written for long enough to have looked into every folder
        for number in 0..<(16 * 256) { try await cache.setValue([1], forKey: "\(number % 10)") }
        // Then
        #expect(!exists(old) && exists(new) && exists(kept))
        #expect(try await cache.value(forKey: "kept") != nil)
    }
}
