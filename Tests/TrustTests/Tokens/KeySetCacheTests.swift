import FreshetTestSupport
import Testing

@testable import FreshetTrust

struct KeySetCacheTests {
    private var cache = KeySetCache()
    private let old: KeySet
    private let new: KeySet

    init() throws {
        old = KeySet([try TokenSigner.edDSA.verificationKey(id: "old")])
        new = KeySet([try TokenSigner.edDSA.verificationKey(id: "old"), try TokenSigner.es256.verificationKey(id: "new")])
    }

    /// An action as a text, to compare it.
    private static func text(_ action: KeySetCache.Action) -> String {
        switch action {
        case .fetch(let attempt): "fetch \(attempt)"
        case .answer(let request, let keys): "answer \(request) with \(keys.keys.compactMap(\.id).joined(separator: ","))"
        case .refuse(let request, let refusal): "refuse \(request): \(refusal)"
        }
    }

    private mutating func need(_ request: UInt64, _ id: String, at now: Int64) -> [String] {
        cache.need(request: request, id == "new" ? .es256 : .edDSA, id, at: now).map(Self.text)
    }

    private mutating func fetched(_ keys: KeySet, maxAge: Int64? = nil, _ attempt: Int, at now: Int64) -> [String] {
        cache.fetched(keys, maxAge: maxAge, attempt: attempt, at: now).map(Self.text)
    }

    private mutating func failed(_ attempt: Int, at now: Int64) -> [String] { cache.failed(attempt: attempt, at: now).map(Self.text) }
    private mutating func tick(at now: Int64) -> [String] { cache.tick(at: now).map(Self.text) }

    @Test mutating func theFirstRequestsWaitForOneFetch() {
        let (first, second) = (need(1, "old", at: 0), need(2, "other", at: 5))
        #expect(first == ["fetch 1"] && second == [])
        let third = fetched(old, 1, at: 100)
        #expect(third == ["answer 1 with old", "refuse 2: unknownKey"])
        let fourth = need(3, "old", at: 101)
        #expect(fourth == ["answer 3 with old"])
    }

    @Test mutating func anUnknownKeyCausesAFetchEvery10Seconds() {
        _ = need(1, "old", at: 0)
        _ = fetched(old, 1, at: 100)
        let early = need(2, "new", at: 9_999)
        #expect(early == ["refuse 2: unknownKey"])
        let later = need(3, "new", at: 10_000)
        #expect(later == ["fetch 2"])
        let known = need(4, "old", at: 10_001)
        #expect(known == ["answer 4 with old"], "a known key does not wait for the fetch")
        let end = fetched(new, 2, at: 10_100)
        #expect(end == ["answer 3 with old,new"])
    }

    @Test mutating func aSignatureThatDoesNotMatchCausesAFetchEvery10Seconds() {
        _ = need(1, "old", at: 0)
        _ = fetched(old, 1, at: 100)
        let early = cache.suspect(at: 9_999).map(Self.text)
        #expect(early == [])
        let due = [cache.suspect(at: 10_000), cache.suspect(at: 10_001)].map { $0.map(Self.text) }
        #expect(due == [["fetch 2"], []])
        let known = need(2, "old", at: 10_002)
        #expect(known == ["answer 2 with old"], "no request waits for it")
    }

    @Test mutating func anOperatorHasTheKeysFetchedAtOnceAndRequestsWaitForThem() {
        // Given keys that are fresh, and a fetch within the cooldown
        let none = cache.refresh(at: 0).map(Self.text)
        #expect(none == [], "keys that no token has needed are not fetched")
        _ = need(1, "old", at: 0)
        _ = fetched(new, 1, at: 100)
        // When
        let begun = cache.refresh(at: 200).map(Self.text)
        let waiting = need(2, "new", at: 201)
        // Then a request waits, and a withdrawn key is refused
        #expect(begun == ["fetch 2"] && waiting == [] && cache.usable(at: 202) == nil)
        let end = fetched(old, 2, at: 300)
        #expect(end == ["refuse 2: unknownKey"] && cache.usable(at: 301) != nil)
        let fresh = need(3, "old", at: 302)
        #expect(fresh == ["answer 3 with old"])
    }

    @Test mutating func theKeysStayInUseIfTheFetchForAnOperatorFails() {
        _ = need(1, "old", at: 0)
        _ = fetched(old, maxAge: 60_000, 1, at: 0)
        _ = cache.refresh(at: 1)
        _ = need(2, "old", at: 2)
        let failed = failed(2, at: 500)
        #expect(failed == ["answer 2 with old"] && cache.usable(at: 501) != nil)
        // And are fetched again after the cooldown, and used for a day after their age
        let during = [need(3, "old", at: 10_000), need(4, "old", at: 10_001)]
        #expect(during == [["answer 3 with old"], ["fetch 3"]])
        let last = self.failed(3, at: 60_000 + KeySetCache.staleIfError)
        #expect(last == ["refuse 4: unavailable"])
    }

    @Test mutating func theResultOfAFetchBeforeTheOperatorsIsNotTaken() {
        _ = need(1, "old", at: 0)
        let begun = cache.refresh(at: 1).map(Self.text)
        #expect(begun == ["fetch 2"])
        let early = fetched(new, 1, at: 2)
        #expect(early == [])
        let end = fetched(old, 2, at: 3)
        #expect(end == ["answer 1 with old"])
    }

    @Test mutating func aRequestWaitsAtMost2Seconds() {
        _ = need(1, "old", at: 0)
        #expect(cache.nextTick == 2_000)
        let early = tick(at: 1_999)
        #expect(early == [])
        let due = tick(at: 2_000)
        #expect(due == ["refuse 1: unavailable"])
        let late = fetched(old, 1, at: 3_000)
        #expect(late == [])
        let next = need(2, "old", at: 3_001)
        #expect(next == ["answer 2 with old"])
    }

    @Test mutating func keysAreFetchedAgainBeforeTheirAgeEnds() {
        _ = need(1, "old", at: 0)
        _ = fetched(old, maxAge: 400_000, 1, at: 0)
        let fresh = need(2, "old", at: 299_999)
        #expect(fresh == ["answer 2 with old"])
        let early = need(3, "old", at: 300_000)
        #expect(early == ["fetch 2", "answer 3 with old"])
    }

    @Test(
        "the age is at least a minute and at most a day",
        arguments: [(0, 60_000), (59_999, 60_000), (.max, 86_400_000), (.min, 60_000), (nil, 600_000)] as [(Int64?, Int64)])
    mutating func ages(maxAge: Int64?, age: Int64) {
        _ = need(1, "old", at: 0)
        _ = fetched(old, maxAge: maxAge, 1, at: 0)
        let before = need(2, "old", at: age / 4 * 3 - 1)
        #expect(before == ["answer 2 with old"])
        let after = need(3, "old", at: age)
        #expect(after == ["fetch 2"])
    }

    @Test mutating func staleKeysAreUsedForADayIfTheFetchFails() {
        _ = need(1, "old", at: 0)
        _ = fetched(old, maxAge: 60_000, 1, at: 0)
        let stale = need(2, "old", at: 60_000)
        #expect(stale == ["fetch 2"])
        let failed = failed(2, at: 60_500)
        #expect(failed == ["answer 2 with old"] && cache.failures == 1)
        let during = need(3, "old", at: 60_501)
        #expect(during == ["answer 3 with old"], "no request waits within the cooldown")
        let last = 60_000 + KeySetCache.staleIfError
        _ = need(4, "old", at: last - 1)
        let lastAnswer = self.failed(3, at: last - 1)
        #expect(lastAnswer == ["answer 4 with old"])
        let end = need(5, "old", at: last)
        #expect(end == ["refuse 5: unavailable"])
    }

    @Test mutating func aSetWithoutKeysIsAFailure() {
        _ = need(1, "old", at: 0)
        _ = fetched(old, maxAge: 60_000, 1, at: 0)
        _ = need(2, "old", at: 60_000)
        let empty = fetched(KeySet([]), 2, at: 60_001)
        #expect(empty == ["answer 2 with old"] && cache.failures == 1)
    }

    @Test mutating func aFetchWithoutResultFailsAfter30Seconds() {
        _ = need(1, "old", at: 0)
        _ = tick(at: 2_000)
        #expect(cache.nextTick == 30_000)
        let during = need(2, "old", at: 29_000)
        #expect(during == [])
        let due = tick(at: 30_000)
        #expect(due == ["refuse 2: unavailable"])
        let again = need(3, "old", at: 30_001)
        #expect(again == ["fetch 2"])
        let late = fetched(new, 1, at: 30_002)
        #expect(late == [], "the result of the first fetch is too late")
        let end = fetched(old, 2, at: 30_003)
        #expect(end == ["answer 3 with old"])
    }

    @Test mutating func theWaitingRequestsAreBounded() {
        for request in 0..<1_000 as Range<UInt64> { _ = need(request, "a", at: 0) }
        let beyond = need(1_000, "a", at: 0)
        #expect(beyond == ["refuse 1000: unavailable"])
        #expect(fetched(old, 1, at: 1).count == 1_000)
    }

    @Test mutating func tenThousandUnknownKeysCauseOneFetchIn10Seconds() {
        // Given
        _ = need(0, "old", at: 0)
        _ = fetched(old, 1, at: 0)
        // When 10,000 tokens with unknown keys arrive within 10 s, and each fetch takes 100 ms
        var (starts, refused, attempt, due): ([Int64], Int, Int, Int64?) = ([], 0, 0, nil)
        for request in 1...10_000 as ClosedRange<UInt64> {
            let now = 20_000 + Int64(request) - 1
            var actions = cache.need(request: request, .edDSA, "unknown-\(request)", at: now)
            if let time = due, now >= time {
                actions += cache.fetched(old, maxAge: nil, attempt: attempt, at: now)
                due = nil
            }
            for case .fetch(let number) in actions { (attempt, due) = (number, now + 100); starts.append(now) }
            refused += actions.count { if case .refuse(_, .unknownKey) = $0 { true } else { false } }
        }
        // Then
        #expect(starts == [20_000] && refused == 10_000)
    }

    @Test("each request is decided once and in time, and fetches are 10 s apart", arguments: 0..<200 as Range<UInt64>)
    mutating func randomEvents(seed: UInt64) throws {
        // Given
        var random = SeededGenerator(seed: seed)
        var (now, open, decided): (Int64, [UInt64: Int64], Set<UInt64>) = (0, [:], [])
        var (running, starts, lastSuccess): ([Int], [Int64], Int64?) = ([], [], nil)
        func check(_ actions: [KeySetCache.Action]) {
            for action in actions {
                switch action {
                case .fetch(let attempt):
                    #expect(starts.last.map { now - $0 >= 10_000 } ?? true)
                    starts.append(now)
                    running.append(attempt)
                case .answer(let request, _), .refuse(let request, _):
                    #expect(decided.insert(request).inserted)
                    #expect(open[request].map { now - $0 <= 2_000 } == true, "request \(request)")
                    open[request] = nil
                    if case .answer = action { #expect(lastSuccess.map { now - $0 < 2 * 86_400_000 } == true) }
                }
            }
        }
        for request in 0..<400 as Range<UInt64> {
            // When time passes, a request arrives, or a fetch ends
            let next = now + Int64.random(in: 0...(seed % 4 == 0 ? 20_000_000 : 3_000), using: &random)
            while let due = cache.nextTick, due <= next {
                now = due
                check(cache.tick(at: now))
            }
            now = next
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<6:
                open[request] = now
                check(cache.need(request: request, .edDSA, Bool.random(using: &random) ? "old" : "new", at: now))
            case 6,
                7 where !running.isEmpty:
                guard !running.isEmpty else { break }
                check(cache.failed(attempt: running.removeFirst(), at: now))
            case _ where !running.isEmpty:
                let attempt = running.removeLast()
                let before = cache.fetched
                let actions = cache.fetched(old, maxAge: Int64.random(in: -10...200_000_000, using: &random), attempt: attempt, at: now)
                if cache.fetched != before { lastSuccess = now }
                check(actions)
            default: break
            }
            // Then
            #expect(open.values.allSatisfy { $0 + 2_000 > now })
        }
        #expect(decided.count > 100 && starts.count > 1)
    }
}
