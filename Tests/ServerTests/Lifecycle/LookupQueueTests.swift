import Dispatch
import FreshetTestSupport
import FreshetWire
import Synchronization
import Testing

@testable import FreshetServer

@Suite("Lookups that gather") struct LookupQueueTests {
    /// A store whose groups of lookups a test lets through, one at a time.
    private final class GatedStore: ForwardingStore {
        let answersAtOnce = false
        let reads: any RecordStore
        let begun = DispatchSemaphore(value: 0)
        let gate = DispatchSemaphore(value: 0)
        let groups = Mutex<[Int]>([])

        init(_ base: any RecordStore) { reads = base }

        func records(_ lookups: [RecordLookup]) -> [Result<Snapshot<Record?>, StoreError>] {
            groups.withLock { $0.append(lookups.count) }
            begun.signal()
            gate.wait()
            return reads.records(lookups)
        }

        func transaction<Result: Sendable>(
            touching scope: () -> TransactionScope, _ body: @Sendable (any RecordTransaction) throws -> Result
        ) throws -> Result {
            try reads.transaction(touching: scope, body)
        }
    }

    @Test func lookupsGatherWhileOthersAreRead() throws {
        // Given as many groups in progress as there may be
        let fixture = try StoreFixture(.memory)
        for number in 0..<200 { try fixture.put("a/\(number)", "\(number)") }
        let store = GatedStore(fixture.store)
        let reads = ReadQueue(width: 4, limit: 1_000)
        let queue = LookupQueue(store, reads: reads, limit: 150)
        let answers = Mutex<[Int: String]>([:])
        let done = DispatchSemaphore(value: 0)
        func submit(_ number: Int) throws -> Bool {
            queue.submit(RecordLookup(try RecordKey("a/\(number)"), in: fixture.namespace)) { result in
                let bytes = (try? result.get())?.value?.content?.bytes ?? []
                answers.withLock { $0[number] = String(decoding: bytes, as: UTF8.self) }
                done.signal()
            }
        }
        for number in 0..<LookupQueue.width {
            #expect(try submit(number))
            store.begun.wait()
        }
        // When more come
        for number in 2..<152 { #expect(try submit(number)) }
        // Then they wait, up to the limit
        #expect(queue.depth == 150)
        #expect(try !submit(152))
        // And are read in groups
        for _ in 0..<5 { store.gate.signal() }
        for _ in 0..<152 { done.wait() }
        #expect(store.groups.withLock { $0.sorted() } == [1, 1, 22, 64, 64] && queue.depth == 0)
        for number in 0..<152 { #expect(answers.withLock { $0[number] } == "\(number)") }
    }

    @Test func aQueueThatHasStoppedRefuses() throws {
        let fixture = try StoreFixture(.memory)
        let reads = ReadQueue(width: 1, limit: 1)
        reads.stop {}
        let queue = LookupQueue(fixture.store, reads: reads, limit: 10)
        let refused = Mutex(0)
        for _ in 0..<2 {
            let isAccepted = queue.submit(RecordLookup(try RecordKey("a/1"), in: fixture.namespace)) { result in
                if case .failure(.overloaded) = result { refused.withLock { $0 += 1 } }
            }
            #expect(isAccepted)
        }
        #expect(refused.withLock { $0 } == 2 && queue.depth == 0)
    }

    @Test(arguments: StoreKind.allCases)
    func aGroupAnswersAsItsLookupsDo(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        for number in 0..<20 { try fixture.put("a/\(number)", "\(number)") }
        let client = try ClientIdentifier("phone")
        let lookups = try (0..<30).map { number in
            RecordLookup(
                try RecordKey("a/\(number % 25)"), in: try Namespace(number % 7 == 0 ? "other" : "shop"),
                for: number % 2 == 0 ? client : nil,
                valueBytes: number % 3 == 0 ? 1 : .max)
        }
        // When
        let group = try fixture.store.records(lookups).map { try $0.get() }
        // Then
        let single = try lookups.map { try fixture.store.record($0.key, in: $0.namespace, for: $0.client, valueBytes: $0.valueBytes) }
        #expect(group == single)
        #expect(fixture.store.records([RecordLookup]()).isEmpty)
    }
}
