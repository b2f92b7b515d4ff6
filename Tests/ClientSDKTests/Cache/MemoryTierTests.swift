import Dispatch
import FreshetWire
import Synchronization
import Testing

@testable import FreshetClient

@Suite struct MemoryTierTests {
    private let tier = MemoryTier(costLimit: 100_000, filter: .all)

    private func view(_ key: String, _ revision: Int64 = 1, pending: Bool = false, _ content: Content? = Sample.json("1")) -> KeyView {
        let entry = Sample.entry(key, revision, content)
        return KeyView(key: entry.key, value: content.map(KeyView.Value.content) ?? .absent, isPending: pending, entry: entry)
    }

    private func fill(_ count: Int, reads: Int = 0) {
        for number in 0..<count {
            tier.store(view("filler/\(number)", Sample.json("\"\(String(repeating: "x", count: 500))\"")))
            for _ in 0..<reads { _ = tier.read(Sample.key("filler/\(number)")) }
        }
    }

    private func view(_ key: String, _ content: Content) -> KeyView { view(key, 1, pending: false, content) }

    @Test func whatIsStoredIsReadAndWhatIsUnknownIsGone() {
        tier.store(view("a/1"))
        #expect(tier.read(Sample.key("a/1"))?.value.view == view("a/1"))
        tier.store(view("a/2", 1, pending: false, nil))
        #expect(tier.read(Sample.key("a/2"))?.value.view.value == .absent)
        tier.store(KeyView(Sample.key("a/1"), nil))
        #expect(tier.read(Sample.key("a/1")) == nil)
    }

    @Test func itStaysWithinItsBytes() {
        fill(1_000)
        #expect(tier.size.cost <= 100_000 && tier.size.count > 50)
    }

    @Test("the media types of a value, and of the confirmed one under a pending write, count")
    func mediaTypes() {
        // Given a value with a long media type in place of a short one
        let long = Content(bytes: [1], type: "image/" + String(repeating: "x", count: 1_000))
        let short = Content(bytes: [1], type: "image/")
        #expect(CachedValue(view("a/1", long)).cost == CachedValue(view("a/1", short)).cost + 1_000)
        // Then it counts twice while a write of the same value is pending
        #expect(CachedValue(view("a/1", 1, pending: true, long)).cost == CachedValue(view("a/1", 1, pending: true, short)).cost + 2_000)
    }

    @Test func pendingAndObservedKeysStayUntilTheyAreNeither() {
        tier.store(view("a/pending", pending: true))
        tier.store(view("a/observed"))
        tier.retain(Sample.key("a/observed"))
        fill(1_000)
        #expect(tier.read(Sample.key("a/pending")) != nil && tier.read(Sample.key("a/observed")) != nil)
        tier.store(view("a/pending"))
        tier.release(Sample.key("a/observed"))
        // They count as used: other used values push them out.
        fill(1_000, reads: 3)
        #expect(tier.read(Sample.key("a/pending")) == nil && tier.read(Sample.key("a/observed")) == nil)
    }

    @Test func sweepsTakeWhatTheyReachButNothingPending() {
        for key in ["a/1", "a/12", "a/2", "b/1"] { tier.store(view(key, 5)) }
        tier.store(view("a/13", 5, pending: true))
        tier.evict(.collection("a", prefix: "1"), before: Sample.cursor(5))
        #expect(tier.read(Sample.key("a/1")) != nil)
        tier.evict(.collection("a", prefix: "1"), before: Sample.cursor(6))
        #expect(tier.read(Sample.key("a/1")) == nil && tier.read(Sample.key("a/12")) == nil)
        #expect(tier.read(Sample.key("a/13")) != nil && tier.read(Sample.key("a/2")) != nil && tier.read(Sample.key("b/1")) != nil)
        tier.finishPass(2, at: Sample.cursor(5))
        #expect(tier.read(Sample.key("b/1"))?.value.view.entry?.pass == 2)
        tier.finishPass(3, at: Sample.cursor(6))
        #expect(tier.read(Sample.key("b/1")) == nil && tier.read(Sample.key("a/13")) != nil)
        tier.removeAll()
        #expect(tier.read(Sample.key("a/13")) == nil && tier.size.cost == 0)
    }

    @Test func aValueIsDecodedOnce() throws {
        // Given a codec that counts
        let count = Mutex(0)
        let codec = ValueCodec<Int>(
            encode: { Sample.json("\($0)") },
            decode: { content in
                count.withLock { $0 += 1 }
                return Int(String(decoding: content.bytes, as: UTF8.self)) ?? 0
            })
        let value = tier.store(view("a/1", Sample.json("42")))
        // When it is read many times, and confirmed in between
        for _ in 0..<10 { #expect(try value.value(codec) == 42) }
        let entry = Sample.entry("a/1", 1)
        let confirmed = tier.confirm(
            Revalidation(
                key: entry.key, epoch: entry.epoch, revision: entry.revision, asOf: Sample.revision(9), pass: 1,
                verifiedAt: Timestamp(milliseconds: 9_000)))
        #expect(try confirmed?.value(codec) == 42)
        #expect(confirmed?.view.entry?.asOf == Sample.revision(9))
        // Then it was decoded once; another type is decoded for itself
        #expect(count.withLock { $0 } == 1)
        #expect(try value.value(ValueCodec<Double>.json()) == 42)
        #expect(throws: ClientError.self) { try value.value(ValueCodec<[String]>.json()) }
    }

    @Test("codecs of the same type have separate decodings, and those of the default JSON share them")
    func codecs() throws {
        // Given a value that one codec has decoded
        let plain = ValueCodec<Int>.json()
        let value = tier.store(view("a/1", Sample.json("42")))
        #expect(try value.value(plain) == 42)
        // When another one reads it; Then it gets its own value
        let next = ValueCodec<Int>(encode: { try plain.encode($0 - 1) }, decode: { try plain.decode($0) + 1 })
        #expect(try value.value(next) == 43)
        #expect(try value.value(plain) == 42)
        // And in the other order too
        let other = tier.store(view("a/2", Sample.json("42")))
        #expect(try other.value(next) == 43)
        #expect(try other.value(plain) == 42)
        #expect(ValueCodec<Int>.json().identity === plain.identity)
        #expect(ValueCodec<Int>.json(decoder: ValueCodec<Int>.defaultDecoder).identity !== plain.identity)
    }

    @Test func freshnessFollowsTheStatus() {
        tier.store(view("a/1"))
        let time = Timestamp(milliseconds: 2_000)
        #expect(tier.read(Sample.key("a/1"))?.freshness == .confirmed(at: time))
        tier.setFreshness(isLive: true, pass: 1)
        #expect(tier.read(Sample.key("a/1"))?.freshness == .live)
        tier.setFreshness(isLive: true, pass: 2)
        #expect(tier.read(Sample.key("a/1"))?.freshness == .unverified(since: time))
        tier.setFreshness(isLive: false, pass: 1)
        #expect(tier.read(Sample.key("a/1"))?.freshness == .confirmed(at: time))
    }

    @Test("once its time is over nothing is live, although nobody has said so")
    func livenessEnds() {
        // Given a tier that is live until an answer is due
        let clock = Mutex(Int64(1_000))
        let tier = MemoryTier(costLimit: 100_000, filter: .all, uptime: { clock.withLock { $0 } })
        tier.store(view("a/1"))
        tier.setFreshness(isLive: true, pass: 1)
        tier.liveUntil = 31_000
        #expect(tier.read(Sample.key("a/1"))?.freshness == .live)
        // When the device sleeps until then
        clock.withLock { $0 = 31_000 }
        // Then
        #expect(tier.read(Sample.key("a/1"))?.freshness == .confirmed(at: Timestamp(milliseconds: 2_000)))
        #expect(!tier.mayBeLive)
        // And after an answer and the next poll it is live again
        tier.liveUntil = 61_000
        #expect(tier.read(Sample.key("a/1"))?.freshness == .live)
    }

    @Test("a key that a filter leaves out is never live")
    func filtered() throws {
        let tier = MemoryTier(costLimit: 100_000, filter: try ChangeFilter(collections: ["b"], prefix: ""))
        for key in ["a/1", "b/1"] { tier.store(view(key)) }
        tier.setFreshness(isLive: true, pass: 1)
        #expect(tier.read(Sample.key("b/1"))?.freshness == .live)
        #expect(tier.read(Sample.key("a/1"))?.freshness == .confirmed(at: Timestamp(milliseconds: 2_000)))
    }

    @Test("with a concurrent writer that is live at even revisions only, no reader sees an odd one as live")
    func freshnessBelongsToTheValue() {
        let isDone = Atomic(false)
        let key = Sample.key("a/1")
        tier.store(view("a/1", 2))
        DispatchQueue.concurrentPerform(iterations: 3) { thread in
            if thread == 0 {
                // Given news that comes in halves: between them the device is not live
                for number in 1..<20_000 as Range<Int64> {
                    tier.setFreshness(isLive: false, pass: 1)
                    tier.store(view("a/1", 2 * number + 1))
                    tier.store(view("a/1", 2 * number + 2))
                    tier.setFreshness(isLive: true, pass: 1)
                }
                isDone.store(true, ordering: .relaxed)
            } else {
                // When it is read meanwhile
                while !isDone.load(ordering: .relaxed) {
                    guard let hit = tier.read(key), let revision = hit.value.view.entry?.revision else { continue }
                    // Then
                    if hit.freshness == .live, revision.number % 2 != 0 { Issue.record("\(revision) is no state that was live") }
                }
            }
        }
        #expect(tier.read(key)?.freshness == .live)
    }
}
