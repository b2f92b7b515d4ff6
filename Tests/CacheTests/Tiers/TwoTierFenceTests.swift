import FoundationEssentials
import FreshetCache
import FreshetTestSupport
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(5))) struct TwoTierFenceTests {
    enum Invalidation: CaseIterable { case remove, overwrite, removeAll, tag, prefix, schema }

    private let secondary = UserSecondary()

    private func cache(countLimit: Int = .max) -> TwoTierCache<String, String> {
        TwoTierCache(primary: Cache(countLimit: countLimit), secondary: secondary)
    }

    private func carryOut(_ invalidation: Invalidation, _ cache: TwoTierCache<String, String>) async throws {
        switch invalidation {
        case .remove: cache["key"] = nil
        case .overwrite: cache["key"] = "new"
        case .removeAll: try await cache.removeAll()
        case .tag: try await cache.removeAll(taggedWith: "tag")
        case .prefix: try await cache.removeAll(withPrefix: "k")
        case .schema: try await cache.invalidateEverything(schema: "2")
        }
    }

    @Test(arguments: Invalidation.allCases) func aPromotionThatBeganBeforeAnInvalidationIsNotKept(invalidation: Invalidation) async throws {
        // Given a read of the second tier that has its answer, and has not returned it yet
        await secondary.put(Array("old".utf8), named: "key")
        let cache = cache()
        secondary.reads.close()
        let before = Task { await cache.value(forKey: "key") }
        await secondary.reads.arrival()
        // When
        try await carryOut(invalidation, cache)
        secondary.reads.open()
        // Then callers that joined before get it, and it is not stored
        #expect(await before.value == "old")
        let new = invalidation == .overwrite ? "new" : nil
        #expect(cache["key"] == new)
        #expect(await cache.value(forKey: "key") == new)
        try await cache.flush()
        #expect(await secondary.text("key") == new)
    }

    @Test(arguments: Invalidation.allCases) func nobodyReadsWhatIsAboutToLeaveTheSecondTier(invalidation: Invalidation) async throws {
        // Given an invalidation that waits for the second tier
        await secondary.put(Array("old".utf8), named: "key")
        let cache = cache(countLimit: 0)
        secondary.writes.close()
        let task = Task { try await carryOut(invalidation, cache) }
        await secondary.writes.arrival()
        // When, then
        let new = invalidation == .overwrite ? "new" : nil
        #expect(cache["key"] == new)
        #expect(await cache.value(forKey: "key") == new)
        if new == nil {
            guard case .hidden = await cache.explain("key").disk else { throw CacheError.closed }
        }
        secondary.writes.open()
        try await task.value
        try await cache.flush()
        #expect(await cache.value(forKey: "key") == new)
    }

    @Test(arguments: Invalidation.allCases) func aLoadThatBeganBeforeAnInvalidationIsNotKept(invalidation: Invalidation) async throws {
        // Given a load in flight
        let cache = cache()
        let gate = Gate()
        gate.close()
        let before = Task {
            try await cache.value(forKey: "key", tags: ["tag"]) {
                await gate.pass()
                return "old"
            }
        }
        await gate.arrival()
        // When
        try await carryOut(invalidation, cache)
        // Then a later caller does not wait for it
        let after = try await cache.value(forKey: "key") { "loaded" }
        #expect(after == (invalidation == .overwrite ? "new" : "loaded"))
        gate.open()
        #expect(try await before.value == "old")
        #expect(cache["key"] == after)
        try await cache.flush()
        #expect(await secondary.text("key") == after)
    }

    @Test func aRenewalThatWasOvertakenIsNotKept() async throws {
        // Given
        await secondary.put(Array("old".utf8), named: "key")
        let cache = cache()
        secondary.reads.close()
        let renewal = Task { await cache.freshenValue(forKey: "key") }
        await secondary.reads.arrival()
        // When
        cache["key"] = nil
        secondary.reads.open()
        // Then
        _ = await renewal.value
        try await cache.flush()
        #expect(cache["key"] == nil)
        #expect(await secondary.text("key") == nil)
    }

    /// Readers that promote while a writer writes: none ever sees a value older than one that was stored before its
    /// read.
    @Test func readersBesideAWriterNeverGoBack() async throws {
        // Given a memory so small that nearly every read promotes
        let cache = TwoTierCache<Int, Int>(primary: Cache(countLimit: 2), secondary: secondary)
        let floors = (0..<8).map { _ in Counter() }
        await withTaskGroup(of: Void.self) { group in
            for reader in 0..<4 {
                group.addTask {
                    for step in 0..<400 {
                        let key = (step &* 7 &+ reader) % 8
                        let floor = floors[key].value
                        // When
                        let seen = step % 3 == 0 ? cache[key] : await cache.value(forKey: key)
                        // Then
                        if let seen { #expect(seen >= floor) }
                    }
                }
            }
            group.addTask {
                for value in 1...1_200 {
                    cache[value % 8] = value
                    floors[value % 8].value = value
                    if value % 16 == 0 { await Task.yield() }
                }
            }
        }
        try await cache.flush()
        for key in 0..<8 { #expect(await cache.value(forKey: key) == 1_192 + (key == 0 ? 8 : key)) }
        #expect(await !secondary.hasOverlapped)
    }

    /// Promotions and removals of one key, repeatedly: once a removal has returned, the value is gone.
    @Test func nothingComesBackAfterARemoval() async throws {
        let primary = UserPrimary<Int, TieredValue<Int>>()
        let cache = TwoTierCache<Int, Int>(primary: primary, secondary: secondary)
        for round in 1...150 {
            // Given a value in the second tier alone
            cache[1] = round
            try await cache.flush()
            primary.discardValue(forKey: 1)
            // When it is promoted and removed at once
            let readers = (0..<3).map { _ in Task { await cache.value(forKey: 1) } }
            if round % 2 == 0 { await Task.yield() }
            switch round % 3 {
            case 0: cache[1] = nil
            case 1: try await cache.removeAll()
            default: try await cache.removeAll(taggedWith: "any")
            }
            // Then
            let isGone = round % 3 != 2
            if isGone { #expect(cache[1] == nil) }
            for reader in readers {
                let seen = await reader.value
                #expect(seen == nil || seen == round)
            }
            if isGone { #expect(cache[1] == nil) }
            cache[1] = nil
        }
    }

    private final class Counter: Sendable {
        private let number = Atomic(0)
        var value: Int {
            get { number.load(ordering: .acquiring) }
            set { number.store(newValue, ordering: .releasing) }
        }
    }
}
