import FreshetTestSupport
import FreshetWire
import Testing

@testable import FreshetClient

/// A collection's observer shows the same values whether memory holds the records or not.
@Suite("An observer of a collection that memory is too small for", .timeLimit(.minutes(5))) struct SmallMemoryTests {
    @Test("sees a record confirmed that was invalidated and has not changed")
    func waitUntilConfirmed() async throws {
        // Given a server with records, and a copy of them whose memory holds none
        let fixture = try ServerFixture()
        let ann = try await fixture.live()
        for id in 1...3 { _ = try await ann.notes.setValue(Note(text: "small"), forKey: "\(id)").waitUntilConfirmed() }
        let bob = try await fixture.live { $0.memoryLimit = 1 }
        let (observer, signals) = try await bob.engine.observe(collection: "notes", fetches: false)
        // When they are invalidated, and the copy has read them again
        let revision = try await ann.invalidate(.everything)
        _ = try await first(of: bob.statuses, "verified at \(revision)") {
            $0.isVerified && $0.isLive && $0.cursor.map { $0.revision >= revision } ?? false
        }
        // Then they are live for the observer, as for a reader
        #expect(try await bob.notes.all().map(\.freshness) == [.live, .live, .live])
        #expect(observer.snapshots(bob.engine.memory, .raw).map(\.freshness) == [.live, .live, .live])
        withExtendedLifetime(signals) {}
        await bob.stop()
        await ann.stop()
    }

    @Test("sees the same as with a large memory, for any publications")
    func published() async throws {
        // Given two clients without a server
        let clients = try [1, 1 << 20].map { limit in try ServerFixture.client("http://127.0.0.1:9") { $0.memoryLimit = limit } }
        for client in clients { try await client.start() }
        for seed in 0..<200 as Range<UInt64> {
            // When the same is published in a collection of each
            let publications = Self.publications(seed)
            let small = try await Self.shown(publications, "c\(seed)", clients[0])
            let large = try await Self.shown(publications, "c\(seed)", clients[1])
            // Then
            try #require(small == large, "seed \(seed)")
        }
        for client in clients { await client.stop() }
    }

    /// Records of keys that are known through some positions and in some passes, and their changes.
    private static func publications(_ seed: UInt64) -> [Publication] {
        var random = SeededGenerator(seed: seed)
        return (0..<30).map { _ in
            let key = "c\(seed)/\(Int.random(in: 0..<4, using: &random))"
            let (position, pass) = (Int64.random(in: 1...9, using: &random), Int64.random(in: 1...3, using: &random))
            let scope = Bool.random(using: &random) ? InvalidationScope.everything : .key(Sample.key(key))
            switch Int.random(in: 0..<10, using: &random) {
            case 0: return .evicted(scope, before: Sample.cursor(position))
            case 1, 2: return .invalidated(scope, at: Sample.cursor(position))
            case 3, 4: return .passFinished(pass, at: Sample.cursor(position))
            case 5, 6, 7:
                let revision = Sample.revision(Int64.random(in: 1...3, using: &random))
                return .confirmed(
                    Revalidation(
                        key: Sample.key(key), epoch: Sample.epoch, revision: revision, asOf: Sample.revision(position), pass: pass,
                        verifiedAt: Timestamp(milliseconds: position)))
            default:
                let entry = Sample.entry(key, Int64.random(in: 1...3, using: &random), asOf: position, pass: pass)
                return .view(KeyView(entry.key, entry))
            }
        }
    }

    /// The values that an observer of the collection shows after these publications.
    private static func shown(_ publications: [Publication], _ collection: String, _ client: SyncClient) async throws -> [Snapshot<Content>]
    {
        let (observer, signals) = try await client.engine.observe(collection: collection, fetches: false)
        for publication in publications { await client.engine.carryOut(.publish([publication])) }
        defer { withExtendedLifetime(signals) {} }
        return observer.snapshots(client.engine.memory, .raw)
    }
}
