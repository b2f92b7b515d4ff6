import CMalloc
import Foundation
import FreshetCache
import Synchronization

#if LRUCACHE
import LRUCache
#endif

/// Points 1, 2 and 6 of the cache's aims: reads, writes with eviction, and bytes for each entry.
enum MemoryFigures {
    private static let keyCount = 100_000
    private static let readCount = 1_000_000

    /// The order of the keys in memory is independent of how often they are read.
    private static func zipfReads(seed: UInt64) -> [Int] {
        var random = Seeded(state: seed)
        let zipf = Zipf(count: keyCount, exponent: 0.99)
        let places = (0..<keyCount).shuffled(using: &random)
        return (0..<readCount).map { _ in places[zipf.next(&random)] }
    }

    private static func keys(_ count: Int) -> [String] { (0..<count).map { "record/\($0)" } }

    /// Reads of cached entries, by one thread: compared with a dictionary under a lock, `NSCache` and LRUCache; then by
    /// two.
    static func hits() {
        let (keys, reads) = (keys(keyCount), zipfReads(seed: 1))
        let cache = Cache<String, Int>(countLimit: keyCount)
        let dictionary = Mutex<[String: Int]>([:])
        let foundation = NSCache<NSString, NSNumber>()
        let foundationKeys = keys.map { NSString(string: $0) }
        for (number, key) in keys.enumerated() {
            cache[key] = number
            dictionary.withLock { $0[key] = number }
            foundation.setObject(NSNumber(value: number), forKey: foundationKeys[number])
        }
        func ours() -> Double {
            Measurement.nanoseconds(reads.count) {
                var sum = 0
                for read in reads { sum &+= cache.value(forKey: keys[read]) ?? 0 }
                return sum
            }
        }
        var candidates: [() -> Double] = [
            ours,
            {
                Measurement.nanoseconds(reads.count) {
                    var sum = 0
                    for read in reads { sum &+= dictionary.withLock { $0[keys[read]] } ?? 0 }
                    return sum
                }
            },
            {
                Measurement.nanoseconds(reads.count) {
                    var sum = 0
                    for read in reads { sum &+= foundation.object(forKey: foundationKeys[read])?.intValue ?? 0 }
                    return sum
                }
            },
        ]
        #if LRUCACHE
        let peer = LRUCache<String, Int>(countLimit: keyCount)
        for (number, key) in keys.enumerated() { peer.setValue(number, forKey: key) }
        candidates.append {
            Measurement.nanoseconds(reads.count) {
                var sum = 0
                for read in reads { sum &+= peer.value(forKey: keys[read]) ?? 0 }
                return sum
            }
        }
        #endif
        let medians = Measurement.interleaved(candidates)
        Measurement.report("cache-hit-vs-mutex-dictionary", ours: medians[0], peer: medians[1], unit: "ns")
        Measurement.report("cache-hit-vs-nscache", ours: medians[0], peer: medians[2], unit: "ns")
        if medians.count > 3 { Measurement.report("cache-hit-vs-lrucache", ours: medians[0], peer: medians[3], unit: "ns") }
        leftOut("cache-hit-vs-lrucache", medians.count > 3)
        threads(cache, keys, reads)
    }

    /// Reads a second by two threads together, compared with those by one.
    private static func threads(_ cache: Cache<String, Int>, _ keys: [String], _ reads: [Int]) {
        let other = zipfReads(seed: 2)
        @Sendable func run(_ reads: [Int]) -> Int {
            var sum = 0
            for read in reads { sum &+= cache.value(forKey: keys[read]) ?? 0 }
            return sum
        }
        let medians = Measurement.interleaved([
            { 1_000 / Measurement.nanoseconds(2 * reads.count) { run(reads) &+ run(other) } },
            {
                1_000
                    / Measurement.nanoseconds(reads.count + other.count) {
                        let finished = DispatchSemaphore(value: 0)
                        let thread = Thread {
                            _ = run(other)
                            finished.signal()
                        }
                        thread.start()
                        let sum = run(reads)
                        finished.wait()
                        return sum
                    }
            },
        ])
        Measurement.report("cache-hit-two-threads-vs-one", ours: medians[1], peer: medians[0], unit: "million-per-second")
    }

    /// Writes of new keys, each of which evicts another.
    static func sets() {
        let keys = keys(4 * keyCount)
        let cache = Cache<String, Int>(countLimit: keyCount)
        let foundation = NSCache<NSString, NSNumber>()
        foundation.countLimit = keyCount
        var candidates: [() -> Double] = [
            {
                Measurement.nanoseconds(keys.count) {
                    for (number, key) in keys.enumerated() { cache.setValue(number, forKey: key) }
                    return cache.count
                }
            }
        ]
        #if LRUCACHE
        let peer = LRUCache<String, Int>(countLimit: keyCount)
        candidates.append {
            Measurement.nanoseconds(keys.count) {
                for (number, key) in keys.enumerated() { peer.setValue(number, forKey: key) }
                return peer.count
            }
        }
        #endif
        let medians = Measurement.interleaved(candidates)
        if medians.count > 1 {
            Measurement.report("cache-set-with-eviction-vs-lrucache", ours: medians[0], peer: medians[1], unit: "ns")
        } else {
            print("cache-set-with-eviction-ns ours=\(String(format: "%.1f", medians[0])) peer=left-out ratio=left-out")
        }
        leftOut("cache-set-with-eviction-vs-lrucache", medians.count > 1)
    }

    /// The bytes that an entry takes beyond its key and value, while the cache remembers as many evicted keys as it
    /// ever can; the bound is 120.
    static func bytes() {
        for count in [100_000, 1_000_000] {
            let keys = keys(2 * count)
            let before = allocated
            let cache = Cache<String, Int>(countLimit: count)
            for (number, key) in keys.enumerated() { cache[key] = number }
            let payload = MemoryLayout<String>.size + MemoryLayout<Int>.size
            let bytes = Double(allocated - before) / Double(cache.count) - Double(payload)
            Measurement.report("cache-bytes-per-entry-\(count)", ours: bytes, peer: 120)
        }
    }

    private static var allocated: Int {
        let info = mallinfo2()
        return Int(info.uordblks + info.hblkhd)
    }

    private static func leftOut(_ line: String, _ isThere: Bool) {
        if !isThere { print("\(line) is left out: LRUCACHE_PATH names no checkout of nicklockwood/LRUCache") }
    }
}
