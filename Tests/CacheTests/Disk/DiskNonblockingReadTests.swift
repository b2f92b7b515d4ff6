import Dispatch
import FreshetCacheEncryption
import FreshetSQLite
import FreshetTestSupport
import Glibc
import Logging
import Subprocess
import Synchronization
import Testing

@testable import FreshetCache

/// Awaited reads that do not leave the caller's thread. Which pages count as in memory is the test's to say: the kernel
/// may reclaim any page at any time.
@Suite("Awaited reads of the disk cache")
struct DiskNonblockingReadTests {
    let folder = TemporaryDirectory()

    private func open(_ isResident: @escaping @Sendable (Int64) -> Bool) async throws -> DiskCache {
        var configuration = DiskCache.Configuration()
        configuration.pages = .chosen(isResident)
        configuration.cipher = try AESGCMCipher(keyBytes: Array(repeating: 3, count: 16))
        let cache = try await DiskCache.open(folder.path, configuration)
        keepUsesInMemory(cache)
        return cache
    }

    /// Uses reach the disk some seconds after the first of them. That is a commit, after which a read may have to wait, so
    /// here they are never written. To flush writes them, and has the next ones written too.
    private func keepUsesInMemory(_ cache: DiskCache) { cache.accessLog.withLock { $0.isScheduled = true } }

    private func flush(_ cache: DiskCache) async throws {
        try await cache.flush()
        keepUsesInMemory(cache)
    }

    /// Stores values together. One at a time, they would fill the log until its pages are moved, and a read meanwhile may
    /// have to wait.
    private func store(_ cache: DiskCache, _ count: Int, tags: [CacheTag] = [], _ value: (Int) -> [UInt8]) async throws {
        cache.queue.suspend()
        do {
            defer { cache.queue.resume() }
            for number in 0..<count { try cache.stageValue(value(number), forKey: "\(number)", tags: tags) }
        }
        try await flush(cache)
    }

    /// How many reads have run on a queue.
    private func queued(_ cache: DiskCache) -> Int { cache.counters.queuedReads.load(ordering: .relaxed) }

    private func value(_ number: Int) -> [UInt8] {
        (0..<(number % 20 * 50)).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ number) }
    }

    @Test("values in memory are read on the caller's thread, hits and misses, with tags and without")
    func resident() async throws {
        // Given entries, and one read that opens a connection
        let cache = try await open { _ in true }
        try await store(cache, 500, tags: ["tag"], value)
        #expect(try await cache.value(forKey: "0") != nil)
        #expect(queued(cache) == 1)
        // When
        for number in 0..<500 {
            #expect(try await cache.value(forKey: "\(number)")?.bytes == value(number))
            #expect(try await cache.storedValue(named: Array("\(number)".utf8))?.tags == ["tag"])
            #expect(try await cache.value(forKey: "none/\(number)") == nil)
        }
        // Then no other has
        #expect(queued(cache) == 1)
        let statistics = try await cache.statistics()
        #expect(statistics.hits == 1_001 && statistics.misses == 500)
    }

    @Test("values that are not in memory are read on a queue")
    func absent() async throws {
        // Given more entries than SQLite keeps in memory for a connection, which is 2 MB
        let cache = try await open { _ in false }
        try await store(cache, 400) { Array(repeating: UInt8($0 & 0xFF), count: 10_000) }
        // When
        for number in 0..<400 {
            #expect(
                try await cache.value(forKey: "\(number)")?.bytes
                    == Array(repeating: UInt8(number & 0xFF), count: 10_000))
        }
        // Then each is, since no two share a page
        #expect(queued(cache) == 400)
    }

    @Test("a read sees each write that has returned, whichever thread it reads on", arguments: 0..<4)
    func sees(seed: UInt64) async throws {
        // Given a cache of which now and then a page is not in memory
        let random = Mutex(SeededGenerator(seed: seed))
        let cache = try await open { _ in random.withLock { Int.random(in: 0..<4, using: &$0) > 0 } }
        var order = SeededGenerator(seed: seed + 100)
        var stored: [String: [UInt8]] = [:]
        for number in 0..<600 {
            // When a value is written or removed
            let key = "\(Int.random(in: 0..<40, using: &order))"
            if Int.random(in: 0..<8, using: &order) == 0 {
                try await cache.removeValue(forKey: key)
                stored[key] = nil
            } else {
                let size = Int.random(in: 0..<16, using: &order) == 0 ? 20_000 : Int.random(in: 0..<300, using: &order)
                let bytes = Array("\(number)".utf8) + [UInt8](repeating: UInt8(number & 0xFF), count: size)
                let protection: DiskProtection = Int.random(in: 0..<8, using: &order) == 0 ? .encrypted : .plain
                try await cache.setValue(bytes, forKey: key, protection: protection)
                stored[key] = bytes
            }
            // Then that is what all reads find, of this key and of others
            #expect(try await cache.value(forKey: key)?.bytes == stored[key])
            for _ in 0..<4 {
                let other = "\(Int.random(in: 0..<40, using: &order))"
                #expect(try await cache.value(forKey: other)?.bytes == stored[other])
            }
        }
        let statistics = try await cache.statistics()
        #expect(statistics.damaged == 0 && statistics.restarts == 0 && statistics.failures == 0)
    }

    @Test("many readers beside a writer: each finds a written value, whichever thread it reads on")
    func many() async throws {
        // Given
        let calls = Atomic(0)
        let cache = try await open { _ in calls.add(1, ordering: .relaxed).newValue % 5 > 0 }
        for key in (0..<20).map(String.init) { try await cache.setValue(KnownValue.bytes(key, 0), forKey: key) }
        // When
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for version in 1..<100 {
                    for key in (0..<20).map(String.init) {
                        try await cache.setValue(KnownValue.bytes(key, version), forKey: key)
                    }
                }
            }
            for _ in 0..<4 {
                group.addTask {
                    var seen = [Int](repeating: 0, count: 20)
                    for number in 0..<2_000 {
                        let key = number % 20
                        let bytes = try #require(await cache.value(forKey: "\(key)")?.bytes)
                        // Then a version that was written, and none older than one that was seen
                        let version = try #require(KnownValue.version(of: bytes, key: "\(key)"))
                        #expect(version >= seen[key])
                        seen[key] = version
                    }
                }
            }
            try await group.waitForAll()
        }
        let statistics = try await cache.statistics()
        #expect(statistics.damaged == 0 && statistics.restarts == 0 && statistics.misses == 0)
    }

    @Test("a staged value is read on the caller's thread")
    func staged() async throws {
        // Given a queue that writes nothing for now
        let cache = try await open { _ in false }
        let release = DispatchSemaphore(value: 0)
        cache.queue.async { release.wait() }
        defer { release.signal() }
        try cache.stageValue([1, 2], forKey: "plain")
        cache.stageRemoval(forKey: "removed")
        // Then
        #expect(try await cache.value(forKey: "plain")?.bytes == [1, 2])
        #expect(try await cache.value(forKey: "removed") == nil)
        #expect(queued(cache) == 0)
    }

    @Test("a value in a file, and one that is to be decrypted, is read on a queue")
    func others() async throws {
        // Given
        let cache = try await open { _ in true }
        try await cache.setValue(Array(repeating: 1, count: 100_000), forKey: "file")
        try await cache.setValue([2], forKey: "secret", protection: .encrypted)
        try await cache.setValue([3], forKey: "plain")
        _ = try await cache.value(forKey: "plain")
        // Then
        let before = queued(cache)
        for key in ["file", "secret", "file", "secret"] { #expect(try await cache.value(forKey: key) != nil) }
        #expect(queued(cache) == before + 4)
        #expect(try await cache.value(forKey: "plain") != nil)
        #expect(queued(cache) == before + 4)
    }

    @Test("a value whose lifetime is over is a miss, and one that each use prolongs lives on")
    func lifetimes() async throws {
        // Given
        let clock = ManualCacheClock()
        var configuration = DiskCache.Configuration()
        configuration.pages = .chosen { _ in true }
        configuration.clock = clock.clock
        let cache = try await DiskCache.open(folder.path, configuration)
        keepUsesInMemory(cache)
        try await cache.setValue([1], forKey: "short", lifetime: .after(.seconds(10)))
        try await cache.setValue([2], forKey: "used", lifetime: .sliding(.seconds(10)))
        _ = try await cache.value(forKey: "used")
        _ = try await cache.value(forKey: "short")
        let before = queued(cache)
        for _ in 0..<3 {
            // When
            clock.advance(by: .seconds(6))
            // Then
            #expect(try await cache.value(forKey: "used")?.bytes == [2])
        }
        #expect(try await cache.value(forKey: "short") == nil)
        #expect(queued(cache) == before)
    }

    @Test("another schema, an emptied and a closed cache are read as on a queue")
    func generations() async throws {
        // Given
        let cache = try await open { _ in true }
        try await cache.setValue([1], forKey: "a")
        for _ in 0..<3 { #expect(try await cache.value(forKey: "a")?.bytes == [1]) }
        // When another empties the directory
        try DiskCacheDirectory(folder.path).clear()
        // Then
        #expect(try await cache.value(forKey: "a") == nil)
        try await cache.setValue([2], forKey: "a")
        for _ in 0..<3 { #expect(try await cache.value(forKey: "a")?.bytes == [2]) }
        // When
        try await cache.invalidateEverything(schema: "next")
        #expect(try await cache.value(forKey: "a") == nil)
        // And
        await cache.close()
        await #expect(throws: CacheError.closed) { try await cache.value(forKey: "a") }
    }

    @Test("a connection that cannot be used again is closed on the cache's queue, not by the read that had it")
    func retired() async throws {
        // Given a cache that is closed in the middle of a read
        let closing = Mutex<DiskCache?>(nil)
        let cache = try await open { _ in
            if let cache = closing.withLock({ $0.take() }) { cache.shared.withLock { $0.control = nil } }
            return true
        }
        try await store(cache, 100) { _ in Array(repeating: 1, count: 10_000) }
        _ = try await cache.value(forKey: "0")
        let release = DispatchSemaphore(value: 0)
        cache.queue.async { release.wait() }
        closing.withLock { $0 = cache }
        // When
        #expect(try await cache.value(forKey: "50")?.bytes.count == 10_000)
        // Then its reader is left, until the queue gets to it
        #expect(cache.shared.withLock { $0.retired.count } == 1)
        release.signal()
        await withCheckedContinuation { continuation in cache.queue.async { continuation.resume() } }
        #expect(cache.shared.withLock { $0.retired.isEmpty && $0.idle.isEmpty })
    }

    @Test("a loop of reads lets other tasks run, though no read has to wait")
    func fair() async throws {
        // Given more loops than the pool has threads
        let cache = try await open { _ in true }
        try await cache.setValue([1], forKey: "a")
        _ = try await cache.value(forKey: "a")
        final class Progress: Sendable { let isOver = Atomic(false) }
        let progress = Progress()
        let tasks = sysconf(Int32(_SC_NPROCESSORS_ONLN)) + 2
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<tasks {
                group.addTask {
                    for step in 0..<50_000 {
                        if progress.isOver.load(ordering: .relaxed) { return true }
                        // When, once each that runs has a connection, another task is to end them
                        if step == 5_000 { Task { progress.isOver.store(true, ordering: .relaxed) } }
                        let value = try await cache.value(forKey: "a")
                        #expect(value?.bytes == [1])
                    }
                    return false
                }
            }
            // Then it does so while they run
            for try await wasEnded in group { #expect(wasEnded) }
        }
    }

    @Test("reads that wait for a slow disk take no thread of the pool", .timeLimit(.minutes(5)))
    func slowDisk() async throws {
        // Given a disk that gives nothing for now, to both queues that may wait for it
        let cache = try await open { _ in false }
        try await store(cache, 100) { Array(repeating: UInt8($0), count: 10_000) }
        _ = try await cache.value(forKey: "0")
        let release = DispatchSemaphore(value: 0)
        for queue in cache.readQueues { queue.async { release.wait() } }
        // When more reads wait than the pool has threads
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 1..<100 {
                group.addTask {
                    let value = try await cache.value(forKey: "\(number)")?.bytes
                    #expect(value == Array(repeating: UInt8(number), count: 10_000))
                }
            }
            // Then others run: this one, which ends the wait
            group.addTask { for _ in cache.readQueues { release.signal() } }
            try await group.waitForAll()
        }
        #expect(queued(cache) == 100)
    }

    @Test("a value that another process has stored is read, whichever thread reads it", .timeLimit(.minutes(5)))
    func processes() async throws {
        // Given
        let cache = try await open { _ in true }
        let stored = Mutex<[String: Int]>([:])
        // When a process says that it has stored a version
        let ending = try await run(
            Product.cache, arguments: [folder.path, "other", "1", "1"], input: .none, output: .sequence, error: .discarded
        ) { execution in
            var lines = 0
            for try await line in execution.standardOutput.strings() {
                let words = line.split(separator: " ").map(String.init)
                guard words.count == 3, words[0] == "set", let version = Int(words[2]) else { continue }
                stored.withLock { $0[words[1]] = version }
                // Then that one is read or a later one, unless it has been removed since
                if let bytes = try await cache.value(forKey: words[1])?.bytes {
                    let read = try #require(KnownValue.version(of: bytes, key: words[1]))
                    #expect(read >= version)
                }
                lines += 1
                if lines == 150 { try execution.send(signal: .kill) }
            }
        }
        #expect(ending.terminationStatus == .signaled(9))
        // And once it has ended, small values are read at once
        for key in stored.withLock({ $0.keys }) { _ = try await cache.value(forKey: key) }
        let before = cache.counters.immediateReads.load(ordering: .relaxed)
        for (key, version) in stored.withLock({ $0 }) {
            guard let bytes = try await cache.value(forKey: key)?.bytes else { continue }
            let read = try #require(KnownValue.version(of: bytes, key: key))
            #expect(read >= version)
        }
        #expect(cache.counters.immediateReads.load(ordering: .relaxed) > before)
        let statistics = try await cache.statistics()
        #expect(statistics.damaged == 0 && statistics.restarts == 0)
    }

    @Test("pages that are damaged while a cache is open are a miss or the right value, and it recovers", arguments: 0..<4)
    func damaged(seed: UInt64) async throws {
        // Given a cache whose pages are in the database's file, and a connection that has read some of them
        var configuration = DiskCache.Configuration()
        configuration.pages = .chosen { _ in true }
        configuration.logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let filling = try await DiskCache.open(folder.path, configuration)
        for number in 0..<500 { try filling.stageValue(value(number), forKey: "\(number)") }
        await filling.close()
        let cache = try await DiskCache.open(folder.path, configuration)
        for key in ["0", "1"] { #expect(try await cache.value(forKey: key) != nil) }
        // When pages are overwritten. The descriptor stays open, since to close it would drop SQLite's locks.
        let generation = try #require(cache.shared.withLock { $0.control?.generation })
        let file = Glibc.open(cache.folder(generation) + "/" + DiskSchema.file, O_RDWR)
        defer { close(file) }
        var random = SeededGenerator(seed: seed)
        for page in 2..<80 where Bool.random(using: &random) {
            let bytes = (0..<64).map { _ in UInt8.random(in: .min ... .max, using: &random) }
            let offset = Bool.random(using: &random) ? 0 : Int.random(in: 0..<4_000, using: &random)
            try #require(pwrite(file, bytes, bytes.count, page * 4_096 + offset) == bytes.count)
        }
        // Then
        for number in 0..<500 {
            if let bytes = try await cache.value(forKey: "\(number)")?.bytes { #expect(bytes == value(number)) }
        }
        try await cache.setValue([7], forKey: "7")
        #expect(try await cache.value(forKey: "7")?.bytes == [7])
        let statistics = try await cache.statistics()
        #expect(statistics.damaged > 0 || statistics.restarts > 0)
        await cache.close()
    }

    @Test("reads beside a cache that closes return a value or that it is closed")
    func closed() async throws {
        for _ in 0..<20 {
            // Given
            let cache = try await open { _ in true }
            for number in 0..<20 { try cache.stageValue(value(number), forKey: "\(number)") }
            try await cache.flush()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for reader in 0..<4 {
                    group.addTask {
                        // When it is closed while others read
                        for step in 0... {
                            let number = (step + reader) % 20
                            let read: [UInt8]?
                            do throws(CacheError) {
                                read = try await cache.value(forKey: "\(number)")?.bytes
                            } catch {
                                #expect(error == .closed)
                                return
                            }
                            #expect(read == value(number))
                        }
                    }
                }
                group.addTask { await cache.close() }
                try await group.waitForAll()
            }
            // Then all has been closed, on the cache's queue
            await withCheckedContinuation { continuation in cache.queue.async { continuation.resume() } }
            let (readers, retired) = cache.shared.withLock { ($0.idle.count, $0.retired.count) }
            #expect(readers == 0 && retired == 0)
        }
    }

    @Test("the word that says which generation holds is locked in memory, where the system allows it")
    func locked() throws {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(__RLIMIT_MEMLOCK.rawValue), &limit)
        let control = try DiskControl.open(directory: folder.path).control
        #expect(control.isLockedInMemory || limit.rlim_cur < 64 << 10)
    }
}
