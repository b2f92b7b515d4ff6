import FreshetCache
import FreshetCacheEncryption
import FreshetTestSupport
import Glibc
import Logging
import Testing

@Suite("Damage on disk")
struct DiskDamageTests {
    /// The value that each key must have, so that a test detects a wrong one without a copy of it.
    private static func value(_ number: Int) -> [UInt8] { values[number] }

    private static let values = (0..<count).map { number in
        var random = SeededGenerator(seed: UInt64(number))
        let count = number % 10 == 0 ? 17_000 : Int.random(in: 0..<600, using: &random)
        return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) } as [UInt8]
    }

    private static let count = 40

    private func configuration(_ key: Bool = true) throws -> DiskCache.Configuration {
        var configuration = DiskCache.Configuration()
        configuration.logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        configuration.cipher = try AESGCMCipher(keyBytes: Array(repeating: 3, count: 16))
        return configuration
    }

    private func fill(_ path: String) async throws {
        let cache = try await DiskCache.open(path, configuration())
        for number in 0..<Self.count {
            try await cache.setValue(
                Self.value(number), forKey: "key/\(number)", tags: ["t\(number % 3)"], protection: number % 4 == 0 ? .encrypted : .plain)
        }
        await cache.close()
    }

    /// Opens, reads and writes, and expects every value found to be right. Returns how many were found.
    private func use(_ path: String, _ seed: Int) async throws -> Int {
        let cache = try await DiskCache.open(path, configuration())
        var found = 0
        for number in 0..<Self.count {
            guard let value = try await cache.value(forKey: "key/\(number)") else { continue }
            #expect(value.bytes == Self.value(number), "seed \(seed), key \(number)")
            found += 1
        }
        // Listing, removing and writing meet damage too; none of them may fail or crash.
        _ = try await cache.entries()
        _ = try await cache.removeAll(taggedWith: "t1")
        _ = try await cache.removeAll(withPrefix: "key/3")
        try await cache.setValue(Self.value(7), forKey: "key/7")
        #expect(try await cache.value(forKey: "key/7")?.bytes == Self.value(7), "seed \(seed)")
        await cache.close()
        return found
    }

    @Test("bytes flipped at random, 1,000 times: a miss or the right value", .timeLimit(.minutes(20)), arguments: 0..<8)
    func flips(eighth: Int) async throws {
        // Given the files of a cache
        let original = TemporaryDirectory()
        try await fill(original.path)
        let names = files(beneath: original.path)
        let contents = names.map { read($0) }
        var (whole, part, none) = (0, 0, 0)
        for seed in (eighth * 125)..<(eighth * 125 + 125) {
            var random = SeededGenerator(seed: UInt64(seed))
            let copy = TemporaryDirectory()
            restore(names, contents, from: original.path, to: copy.path)
            // When one to eight bytes of one file are changed; the database, which has most of the format, in two of three
            let database = try #require(names.firstIndex { $0.hasSuffix(".sqlite") })
            let victim = seed % 3 < 2 ? database : Int.random(in: 0..<names.count, using: &random)
            let name = copy.path + names[victim].dropFirst(original.path.count)
            for _ in 0..<(1 << Int.random(in: 0..<4, using: &random)) where !contents[victim].isEmpty {
                // The first page, with the schema, as often as all others together.
                let bound = Bool.random(using: &random) ? min(4_096, contents[victim].count) : contents[victim].count
                let offset = Int.random(in: 0..<bound, using: &random)
                overwrite(name, with: [contents[victim][offset] ^ UInt8.random(in: 1...255, using: &random)], at: offset)
            }
            // Then
            let found = try await use(copy.path, seed)
            if found == Self.count { whole += 1 } else if found > 0 { part += 1 } else { none += 1 }
        }
        // It is no test unless the damage was met in every way.
        #expect(whole > 5 && part > 5 && none > 5, "\(whole) whole, \(part) in part, \(none) not at all")
    }

    @Test("a value's file that is cut, emptied, swapped or deleted is a miss, and its entry is removed", arguments: 0..<4)
    func valueFiles(kind: Int) async throws {
        let folder = TemporaryDirectory()
        let cache = try await DiskCache.open(folder.path, configuration())
        var events = cache.events.makeAsyncIterator()
        try await cache.setValue(Array(repeating: 1, count: 20_000), forKey: "a")
        try await cache.setValue(Array(repeating: 2, count: 20_000), forKey: "b")
        let file = try #require(await cache.entry(forKey: "a")?.file)
        let other = try #require(await cache.entry(forKey: "b")?.file)
        // When
        switch kind {
        case 0: truncate(file, 19_999)
        case 1: truncate(file, 0)
        case 2: overwrite(file, with: read(other))
        default: unlink(file)
        }
        // Then
        #expect(try await cache.value(forKey: "a") == nil)
        #expect(await events.next() == .damaged(key: Array("a".utf8)))
        #expect(try await cache.keys() == ["b"])
        #expect(try await cache.value(forKey: "b")?.bytes == Array(repeating: 2, count: 20_000))
        #expect(try await cache.statistics().damaged == 1)
    }

    @Test("a file that is no database resets the cache, which reports it", arguments: [0, 100, 5_000])
    func noDatabase(size: Int) async throws {
        let folder = TemporaryDirectory()
        try await fill(folder.path)
        let database = try #require(files(beneath: folder.path).first { $0.hasSuffix(".sqlite") })
        truncate(database, 0)
        overwrite(database, with: Array(repeating: 0x41, count: size))
        // When
        let cache = try await DiskCache.open(folder.path, configuration())
        // Then: an empty file is a new one
        #expect(try await cache.value(forKey: "key/1") == nil)
        #expect(try await cache.statistics().restarts == (size == 0 ? 0 : 1))
        try await cache.setValue([1], forKey: "a")
        #expect(try await cache.value(forKey: "a")?.bytes == [1])
    }

    @Test("damage that is found in a running cache resets it, for every instance")
    func whileOpen() async throws {
        // Given two instances, and a database of which all but the first page is then spoilt
        let folder = TemporaryDirectory()
        try await fill(folder.path)
        let one = try await DiskCache.open(folder.path, configuration())
        let other = try await DiskCache.open(folder.path, configuration())
        var events = one.events.makeAsyncIterator()
        let database = try #require(files(beneath: folder.path).first { $0.hasSuffix(".sqlite") })
        let size = read(database).count
        overwrite(database, with: Array(repeating: 0xEE, count: size - 4_096), at: 4_096)
        // When
        for number in 0..<Self.count {
            if let value = try await one.value(forKey: "key/\(number)") { #expect(value.bytes == Self.value(number)) }
        }
        // Then
        guard case .reset(.damage) = await events.next() else {
            Issue.record("it did not say so")
            return
        }
        try await other.setValue([1], forKey: "a")
        #expect(try await one.value(forKey: "a")?.bytes == [1])
        #expect(try await one.keys() == ["a"])
    }

    @Test("a control file that is cut while the cache is open resets it, for every instance", arguments: [0, 20])
    func controlFile(size: Int) async throws {
        // Given two instances
        let folder = TemporaryDirectory()
        let one = try await DiskCache.open(folder.path, configuration())
        let other = try await DiskCache.open(folder.path, configuration())
        try await one.setValue([1], forKey: "a")
        #expect(try await other.value(forKey: "a")?.bytes == [1])
        var events = one.events.makeAsyncIterator()
        // When
        truncate(folder.file("freshet.cache"), size)
        // Then
        #expect(try await one.value(forKey: "a") == nil)
        try await one.setValue([2], forKey: "b")
        guard case .reset(.damage) = await events.next() else {
            Issue.record("it did not say so")
            return
        }
        #expect(try await one.keys() == ["b"])
        #expect(try await other.value(forKey: "a") == nil)
        #expect(try await other.value(forKey: "b")?.bytes == [2])
    }

    /// Writes the files of one directory into another.
    private func restore(_ names: [String], _ contents: [[UInt8]], from: String, to: String) {
        for (name, bytes) in zip(names, contents) {
            let path = to + name.dropFirst(from.count)
            var folder = ""
            for part in path.split(separator: "/").dropLast() {
                folder += "/" + part
                mkdir(folder, 0o700)
            }
            let descriptor = creat(path, 0o600)
            _ = Glibc.write(descriptor, bytes, bytes.count)
            close(descriptor)
        }
    }
}
