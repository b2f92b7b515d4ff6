import FreshetCache
import FreshetTestSupport
import Glibc
import Synchronization
import Testing

/// Causes real pressure on this machine, without taking its memory. The test has the kernel write out pages of a file
/// and reads them again at once; the kernel counts the waiting as for short memory. Runs with `scripts/soak` alone,
/// since concurrent tests would wait too.
@Suite struct RealPressureTests {
    private static let byteCount = 256 << 20

    private final class Waiting: Sendable {
        let isOver = Atomic(false)

        /// Reads the file's pages and has the kernel write them out, until the test ends it.
        func go(_ pages: UnsafeMutableRawPointer) {
            madvise(pages, byteCount, MADV_RANDOM)
            var sum: UInt8 = 0
            while !isOver.load(ordering: .relaxed) {
                // The kernel recognises only pages that were read more than once when they are read again.
                for _ in 0..<3 {
                    for offset in stride(from: 0, to: byteCount, by: 4_096) { sum &+= pages.load(fromByteOffset: offset, as: UInt8.self) }
                }
                // MADV_PAGEOUT
                madvise(pages, byteCount, 21)
            }
            withExtendedLifetime(sum) {}
            munmap(pages, byteCount)
        }
    }

    @Test(.enabled(if: SoakScale.isSoak && access("/proc/pressure/memory", W_OK) == 0), .timeLimit(.minutes(5)))
    func theKernelTellsAndTheCacheShrinks() async throws {
        // Given a file on a disk, of 256 MB
        var name = Array("/var/tmp/freshet-pages-XXXXXX".utf8CString)
        let descriptor = mkstemp(&name)
        unlink(name)
        let block = [UInt8](repeating: 1, count: 1 << 20)
        for _ in 0..<(Self.byteCount >> 20) { try #require(write(descriptor, block, block.count) == block.count) }
        try #require(fsync(descriptor) == 0)
        let mapped = mmap(nil, Self.byteCount, PROT_READ, MAP_SHARED, descriptor, 0)
        close(descriptor)
        let pages = try #require(mapped == MAP_FAILED ? nil : UInt(bitPattern: mapped))
        // And a cache
        let pressure = MemoryPressure()
        let cache = Cache<Int, Int>(countLimit: 1_000)
        for key in 0..<1_000 { cache[key] = key }
        cache.shrinks(under: pressure)
        var events = pressure.events.makeAsyncIterator()
        // When
        let waiting = Waiting()
        let (ending, end) = AsyncStream<Void>.makeStream()
        Sockets.thread {
            UnsafeMutableRawPointer(bitPattern: pages).map(waiting.go)
            end.finish()
        }
        let event = await events.next()
        // Then
        guard case .shrunk(let percent, _, .stalls(let path)) = event else {
            Issue.record("\(String(describing: event))")
            return
        }
        #expect(percent <= 50 && cache.count <= 500 && path.hasSuffix("memory.pressure") || path == "/proc/pressure/memory")
        #expect(cache.statistics.pressureEvictions >= 500)
        waiting.isOver.store(true, ordering: .relaxed)
        for await _ in ending {}
        await pressure.stop()
    }
}
