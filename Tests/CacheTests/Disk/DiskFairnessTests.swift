import FreshetCache
import FreshetTestSupport
import Synchronization
import Testing

/// Calls on a cache into which others write as fast as they can.
@Suite(.timeLimit(.minutes(5))) struct DiskFairnessTests {
    private let folder = TemporaryDirectory()

    /// Runs the closure while so many tasks write, each one value after the other.
    private func withWriters(
        _ count: Int, on cache: DiskCache, key: @escaping @Sendable (_ writer: Int, _ turn: Int) -> String, tags: [CacheTag] = [],
        _ body: () async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<count {
                group.addTask {
                    var turn = 0
                    while !Task.isCancelled {
                        do {
                            try await cache.setValue([1], forKey: key(writer, turn), tags: tags)
                        } catch CacheError.closed {
                            return
                        }
                        turn += 1
                    }
                }
            }
            // Not before all of them are at it.
            while try await cache.statistics().writes < 2 * count {}
            try await body()
            group.cancelAll()
        }
    }

    @Test func callsThatWaitForEarlierWritesReturnWhileManyTasksWrite() async throws {
        // Given more tasks than one transaction takes writes
        let cache = try await DiskCache.open(folder.path)
        try await withWriters(600, on: cache) {
            "\($0)/\($1 % 10)"
        } _: {
            // When, then
            try await cache.setValue([7], forKey: "mine")
            #expect(try await cache.contains("mine"))
            #expect(try await cache.freshenValue(forKey: "mine"))
            try await cache.flush()
            try await cache.removeAll()
            #expect(try await !cache.contains("mine"))
            await cache.close()
        }
    }

    @Test func aRemovalByTagEndsWhileOthersStoreSuchValues() async throws {
        let cache = try await DiskCache.open(folder.path)
        try await withWriters(600, on: cache, key: { "\($0)/\($1 % 100)" }, tags: ["t"]) {
            try await cache.setValue([7], forKey: "mine", tags: ["t"])
            // When
            try await cache.removeAll(taggedWith: "t")
            // Then
            #expect(try await cache.value(forKey: "mine") == nil)
        }
    }

    @Test func aRemovalByPrefixEndsWhileOthersStoreSuchValues() async throws {
        let cache = try await DiskCache.open(folder.path)
        try await withWriters(600, on: cache, key: { "p/\($0)/\($1 % 100)" }) {
            try await cache.setValue([7], forKey: "p/mine")
            // When
            try await cache.removeAll(withPrefix: "p/")
            // Then
            #expect(try await cache.value(forKey: "p/mine") == nil)
        }
    }

    @Test func aRemovalByConditionEndsWhileOthersStoreLaterKeys() async throws {
        let cache = try await DiskCache.open(folder.path)
        let next = Atomic(0)
        // Given keys that rise, as those that begin with a date do
        let key: @Sendable (Int, Int) -> String = { _, _ in "\(1_000_000_000 + next.add(1, ordering: .relaxed).newValue)" }
        try await withWriters(600, on: cache, key: key) {
            try await cache.setValue([7], forKey: "0")
            // When
            try await cache.removeAll { _ in true }
            // Then
            #expect(try await cache.value(forKey: "0") == nil)
        }
    }
}
