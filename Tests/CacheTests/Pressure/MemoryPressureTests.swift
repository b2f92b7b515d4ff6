import FreshetTestSupport
import Glibc
import Logging
import Synchronization
import Testing

@testable import FreshetCache

/// Caches under reported pressure, on a machine without sources of pressure.
@Suite struct MemoryPressureTests {
    private let time = ManualCacheClock()
    private let folder = TemporaryDirectory()
    private let pressure: MemoryPressure

    init() {
        var configuration = MemoryPressure.Configuration()
        configuration.root = folder.path
        configuration.servicePath = nil
        configuration.clock = time.clock
        configuration.logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        pressure = MemoryPressure(configuration)
    }

    private func cache(of count: Int, countLimit: Int = .max, costLimit: Int = .max) -> Cache<Int, Int> {
        let cache = Cache<Int, Int>(costLimit: costLimit, countLimit: countLimit, shards: 1, cost: { _ in 1 })
        for key in 0..<count { cache.setValue(key, forKey: key, cost: 10) }
        return cache
    }

    @Test func aCacheShrinksByStepsAndGrowsBack() async {
        // Given
        let cache = cache(of: 1_000, countLimit: 1_000)
        cache.shrinks(under: pressure)
        #expect(cache.count == 1_000 && pressure.percent == 100)
        // When
        pressure.report(.warning)
        // Then
        #expect(cache.count == 500 && pressure.percent == 50)
        for key in 2_000..<4_000 { cache[key] = key }
        #expect(cache.count == 500 && cache.countLimit == 1_000)
        // When it goes on
        time.advance(by: .seconds(2))
        pressure.report(.critical)
        #expect(cache.count == 100 && pressure.percent == 10)
        // When it is over
        for percent in [25, 50, 100] {
            time.advance(by: .seconds(30))
            pressure.report(.normal)
            for key in 0..<2_000 { cache[key] = key }
            // Then the limits are back, step by step
            #expect(pressure.percent == percent && cache.count == percent * 10)
        }
        await pressure.stop()
    }

    @Test func aCacheThatIsFarFromItsLimitsLetsGoOfSomethingToo() async {
        // Given a cache without limits and one that is nearly empty
        let (unlimited, roomy) = (cache(of: 1_000), cache(of: 10, countLimit: 1_000, costLimit: 1 << 40))
        unlimited.shrinks(under: pressure)
        roomy.shrinks(under: pressure)
        // When
        pressure.report(.critical)
        // Then
        #expect(unlimited.count == 250 && roomy.count == 2)
        // And values that are stored meanwhile are evicted at the next sign
        for key in 2_000..<3_000 { unlimited[key] = key }
        #expect(unlimited.count == 1_250)
        time.advance(by: .seconds(2))
        pressure.report(.warning)
        #expect(unlimited.count == 100 && roomy.count == 1)
        // Growing evicts nothing
        for key in 0..<90 { roomy[key] = key }
        time.advance(by: .seconds(30))
        pressure.report(.normal)
        #expect(pressure.percent == 25 && roomy.count >= 90)
        await pressure.stop()
    }

    @Test func evictionsForPressureAreToldApart() async {
        // Given
        let cache = cache(of: 4, countLimit: 4)
        cache.shrinks(under: pressure)
        let changes = cache.changes
        let before = cache.statistics
        // When two are evicted for pressure, and one for room
        pressure.report(.warning)
        cache[9] = 9
        // Then
        var causes: [String] = []
        for await change in changes {
            causes.append(change.cause.rawValue)
            if causes.count == 4 { break }
        }
        #expect(causes == ["evictedUnderPressure", "evictedUnderPressure", "evicted", "inserted"])
        let difference = cache.statistics - before
        #expect(difference.pressureEvictions == 2 && difference.evictions == 1)
        #expect(cache.explain(9).limitPercent == 50)
        #expect(cache.explain(9).description.contains("memory is short, the cache is held to 50 % of its limits"))
        await pressure.stop()
        #expect(cache.explain(9).limitPercent == 100 && !cache.explain(9).description.contains("memory"))
    }

    @Test func pinnedValuesStayAndLimitsCanBeSetMeanwhile() async {
        let cache = cache(of: 100, countLimit: 100, costLimit: 1_000)
        for key in 0..<60 { cache.pin(key) }
        cache.shrinks(under: pressure)
        // When
        pressure.report(.critical)
        // Then
        #expect(cache.count == 60 && (0..<60).allSatisfy(cache.contains))
        cache.costLimit = 2_000
        cache.countLimit = 400
        #expect(cache.costLimit == 2_000 && cache.countLimit == 400)
        for key in 1_000..<2_000 { cache[key] = key }
        // A quarter of 2,000 is less than the cost of the pinned ones: no other value is stored.
        #expect(cache.count == 60 && cache.totalCost == 600)
        await pressure.stop()
        for key in 0..<60 { cache.unpin(key) }
        for key in 1_000..<2_000 { cache[key] = key }
        #expect(cache.count == 400)
    }

    @Test func whoComesLateIsShrunkAndWhoLeavesIsNot() async {
        // Given pressure
        let (first, second) = (cache(of: 100, countLimit: 100), cache(of: 100, countLimit: 100))
        first.shrinks(under: pressure)
        pressure.report(.warning)
        // When
        second.shrinks(under: pressure)
        pressure.remove(first)
        // Then
        #expect(second.count == 50)
        for key in 0..<200 { first[key] = key }
        #expect(first.count == 100)
        time.advance(by: .seconds(2))
        pressure.report(.warning)
        #expect(first.count == 100 && second.count == 25)
        await pressure.stop()
    }

    @Test func eventsTellWhatHappenedAndWhy() async {
        // Given
        let events = pressure.events
        // When
        pressure.report(.warning)
        pressure.report(.warning)
        time.advance(by: .seconds(30))
        pressure.report(.normal)
        pressure.report(.critical)
        await pressure.stop()
        // Then
        var heard: [MemoryPressure.Event] = []
        for await event in events { heard.append(event) }
        #expect(
            heard == [
                .shrunk(toPercent: 50, .warning, .report), .grown(toPercent: 100), .shrunk(toPercent: 25, .critical, .report),
            ])
    }

    @Test func aCacheMayGo() async {
        // Given
        weak var gone: Cache<Int, Int>?
        do {
            let cache = cache(of: 10)
            cache.shrinks(under: pressure)
            gone = cache
            pressure.report(.warning)
        }
        // Then; its watcher's thread holds it for a moment when it looks
        for _ in 0..<100_000 where gone != nil { await Task.yield() }
        #expect(gone == nil)
        pressure.report(.critical)
        await pressure.stop()
    }

    @Test func aPressureThatGoesGivesBackWhatItTook() async {
        let cache = cache(of: 100, countLimit: 100)
        let watcher: PressureWatcher?
        do {
            let brief = MemoryPressure(
                {
                    var configuration = MemoryPressure.Configuration()
                    configuration.root = folder.path
                    configuration.servicePath = nil
                    configuration.logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
                    return configuration
                }())
            cache.shrinks(under: brief)
            brief.report(.critical)
            #expect(cache.count == 25)
            watcher = brief.watcher
        }
        // The pressure's thread may be the last to hold it.
        await watcher?.ended()
        for key in 0..<200 { cache[key] = key }
        #expect(cache.count == 100)
    }

    @Test func anythingCanJoin() async {
        // Given a user's pool, which reports while it shrinks
        final class Pool: ShrinkableCache {
            let percents = Mutex<[Int]>([])
            let pressure: MemoryPressure
            init(_ pressure: MemoryPressure) { self.pressure = pressure }
            func shrink(toPercent percent: Int) {
                percents.withLock { $0.append(percent) }
                pressure.report(.critical)
            }
        }
        let pool = Pool(pressure)
        pool.shrinks(under: pressure)
        pool.shrinks(under: pressure)
        // When
        pressure.report(.warning)
        // Then its report takes effect after the share that it got
        #expect(pool.percents.withLock { $0 } == [50, 25])
        await pressure.stop()
        #expect(pool.percents.withLock { $0 } == [50, 25, 100])
    }

    @Test(.timeLimit(.minutes(5))) func whoWritesMeanwhileHoldsUpNothing() async {
        // Given a cache without limits, and a thread that stores as fast as it can
        let cache = cache(of: 50_000)
        cache.shrinks(under: pressure)
        final class Writing: Sendable { let isOver = Atomic(false) }
        let writing = Writing()
        let (ending, end) = AsyncStream<Int>.makeStream()
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                var key = 100_000
                while !writing.isOver.load(ordering: .relaxed) {
                    cache[key] = key
                    key += 1
                    if key == 100_100 { end.finish() }
                }
            }
            for await _ in ending {}
            // When
            pressure.report(.critical)
            writing.isOver.store(true, ordering: .relaxed)
        }
        // Then it came to an end
        #expect(cache.statistics.pressureEvictions >= 37_500 && (0..<50_000).count(where: cache.contains) <= 12_600)
        await pressure.stop()
    }

    @Test func manyThreadsAtOnceLeaveAllCachesAtTheSameShare() async {
        let caches = (0..<8).map { _ in cache(of: 1_000, countLimit: 1_000) }
        await withTaskGroup(of: Void.self) { group in
            for (number, cache) in caches.enumerated() {
                group.addTask {
                    cache.shrinks(under: pressure)
                    for step in 0..<50 {
                        time.advance(by: .seconds(step % 7))
                        pressure.report(MemoryPressure.Level.allCases[(step + number) % 3])
                    }
                }
            }
        }
        // A sign at the last step notifies all caches again.
        for _ in 0..<3 {
            time.advance(by: .seconds(2))
            pressure.report(.critical)
        }
        #expect(pressure.percent == 10 && caches.allSatisfy { $0.count <= 100 && $0.explain(0).limitPercent == 10 })
        await pressure.stop()
        #expect(caches.allSatisfy { $0.explain(0).limitPercent == 100 })
    }
}
