import FreshetCache
import FreshetTestSupport
import Glibc
import Testing

/// Each runs in a separate process, whose working directory changes.
@Suite("Relative paths of caches") struct WorkingDirectoryTests {
    @Test("a cache in a relative directory stays there when the working directory changes")
    func disk() async {
        await #expect(processExitsWith: .success) {
            // Given a cache with a value in a separate file, and one in the database
            let (home, elsewhere) = (TemporaryDirectory(), TemporaryDirectory())
            #expect(chdir(home.path) == 0)
            let cache = try await DiskCache.open("./cache")
            let large = [UInt8](repeating: 1, count: 100_000)
            try await cache.setValue(large, forKey: "large")
            try await cache.setValue([1], forKey: "small")
            // When
            #expect(chdir(elsewhere.path) == 0)
            // Then it has both, and takes others
            #expect(try await cache.value(forKey: "large")?.bytes == large)
            #expect(try await cache.value(forKey: "small")?.bytes == [1])
            try await cache.setValue(large, forKey: "later")
            try await cache.invalidateEverything()
            try await cache.setValue(large, forKey: "latest")
            #expect(try await cache.statistics().restarts == 0 && cache.directory == home.file("cache"))
            await cache.close()
            // And a later process finds them in the first directory, and nothing elsewhere
            #expect(elsewhere.files.isEmpty)
            let directory = try DiskCacheDirectory(home.file("cache"))
            #expect(try directory.entries().map(\.keyBytes) == [Array("latest".utf8)])
        }
    }

    @Test("a path that begins with ~ is refused where it is given, and makes nothing")
    func home() async {
        await #expect(processExitsWith: .success) {
            let folder = TemporaryDirectory()
            #expect(chdir(folder.path) == 0)
            await #expect(throws: CacheError.self) { try await DiskCache.open("~/cache") }
            #expect(throws: CacheError.self) { try DiskCacheDirectory("~/cache") }
            #expect(throws: CacheError.self) { try Cache<Int, Int>().save(to: "~/saved") }
            let error = #expect(throws: CacheError.self) { try Cache<Int, Int>(contentsOf: "~/saved") }
            #expect(error?.description.contains("begins with ~") == true && folder.files.isEmpty)
        }
    }
}
