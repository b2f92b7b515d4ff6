import FreshetTestSupport
import FreshetTrust
import FreshetWire
import Testing

@testable import FreshetServer

@Suite("Quotas of a namespace") struct NamespaceQuotaTests {
    private func put(_ number: Int64, _ key: String, _ json: String) throws -> Write {
        try Write(number, key, .put(json: json))
    }

    private func delete(_ number: Int64, _ key: String) throws -> Write { try Write(number, key, .delete) }

    private func increment(_ number: Int64, _ key: String) throws -> Write { try Write(number, key, .increment("/n")) }

    /// The code of the problem that a batch is refused with as a whole.
    private func refusal(
        _ fixture: StoreFixture, _ writes: [Write], by client: String = "phone", atomic: Bool = false
    ) throws -> ProblemCode? {
        do {
            _ = try fixture.batch(writes, by: client, atomic: atomic)
            return nil
        } catch let problem as Problem { return problem.code }
    }

    private func last(_ fixture: StoreFixture, _ client: String) throws -> Int64 {
        try fixture.store.lastWrite(of: ClientIdentifier(client), in: fixture.namespace).value
    }

    @Test("a batch beyond the storage has no effect and uses no number", arguments: StoreKind.allCases, [false, true])
    func storage(_ kind: StoreKind, isAtomic: Bool) throws {
        // Given a namespace of 8 of 10 bytes
        var fixture = try StoreFixture(kind)
        fixture.quotas.storage = 10
        try fixture.put("a/1", "12345")
        #expect(try fixture.batch([put(1, "a/2", "123")]) == ["1 applied 2"])
        // When a batch adds 2 and 1 bytes
        let batch = try [put(2, "a/3", "12"), put(3, "a/1", "123456"), increment(4, "a/4")]
        // Then it is refused as a whole, and the records are as they were
        #expect(try refusal(fixture, batch, atomic: isAtomic) == .quotaExceeded)
        #expect(try last(fixture, "phone") == 1 && fixture.store.state(of: fixture.namespace).bytes == 8)
        #expect(try fixture.value("a/3") == nil && fixture.value("a/1") == "12345" && fixture.changes(since: .start).changes.count == 2)
        #expect(throws: Problem.self) { try fixture.put("a/3", "123") }
        // When the same numbers add as much as there is
        #expect(try fixture.batch([put(2, "a/3", "12"), put(3, "a/1", "54321")], atomic: isAtomic) == ["2 applied 3", "3 applied 4"])
        // Then a repeat adds nothing
        #expect(try fixture.batch([put(2, "a/3", "12"), put(3, "a/1", "54321")], atomic: isAtomic) == ["2 applied 3", "3 applied 4"])
        #expect(try fixture.value("a/1") == "54321")
    }

    @Test("a namespace beyond its quota can be reduced, and takes writes that add nothing", arguments: StoreKind.allCases)
    func reduction(_ kind: StoreKind) throws {
        // Given a namespace of 10 bytes in 2 records, and lower quotas
        var fixture = try StoreFixture(kind)
        _ = try fixture.batch([put(1, "a/1", "123456"), put(2, "a/2", "1234")])
        (fixture.quotas.storage, fixture.quotas.records) = (4, 1)
        // When writes add a byte, or a record
        #expect(try refusal(fixture, [put(3, "a/2", "12345")]) == .quotaExceeded)
        #expect(try fixture.batch([delete(3, "a/2"), put(4, "a/3", "1")]) == ["3 applied 3", "4 applied 4"])
        #expect(try refusal(fixture, [put(5, "a/5", "1")]) == .quotaExceeded)
        // Then shorter values, deletes and an exchange of records pass
        #expect(try fixture.batch([put(5, "a/1", "12345")]) == ["5 applied 5"])
        #expect(try fixture.batch([delete(6, "a/1"), put(7, "a/6", "12")]) == ["6 applied 6", "7 applied 7"])
        try fixture.write("a/6", .delete)
        try fixture.invalidate(.everything)
        #expect(try fixture.batch([delete(8, "a/3"), put(9, "a/4", "1234")]) == ["8 applied 10", "9 applied 11"])
        #expect(try fixture.store.state(of: fixture.namespace).records == 1)
        // When it is full, an increment that would make a record is refused, and one of a record is not
        #expect(try refusal(fixture, [increment(10, "a/9")]) == .quotaExceeded)
        fixture.quotas.storage = nil
        #expect(try fixture.batch([put(10, "a/4", #"{"n":1}"#), increment(11, "a/4")]).count == 2)
        #expect(try fixture.value("a/4") == #"{"n":2}"#)
    }

    @Test("a client beyond the quota of clients is refused, and its name is free as before", arguments: StoreKind.allCases)
    func clients(_ kind: StoreKind) throws {
        // Given
        var fixture = try StoreFixture(kind)
        fixture.quotas.clients = 1
        #expect(try fixture.batch([put(1, "a/1", "1")], by: "phone").count == 1)
        // When
        #expect(try refusal(fixture, [put(1, "a/2", "1")], by: "tablet") == .quotaExceeded)
        #expect(try refusal(fixture, [delete(1, "a/1")], by: "tablet") == .quotaExceeded)
        // Then the others continue, with a number or without
        #expect(try fixture.batch([put(2, "a/1", "2")], by: "phone") == ["2 applied 2"])
        try fixture.put("a/2", "1")
        #expect(try last(fixture, "tablet") == 0 && fixture.store.counts(of: fixture.namespace).value.clients == 1)
        // When there is room
        fixture.quotas.clients = 2
        #expect(try fixture.batch([put(1, "a/2", "3")], by: "tablet") == ["1 applied 4"])
        #expect(try fixture.batch([put(2, "a/2", "4")], by: "tablet") == ["2 applied 5"])
        #expect(try last(fixture, "tablet") == 2 && fixture.store.counts(of: fixture.namespace).value.clients == 2)
    }

    @Test("a first write beyond a quota leaves no namespace", arguments: StoreKind.allCases)
    func firstWrite(_ kind: StoreKind) throws {
        // Given
        var fixture = try StoreFixture(kind)
        fixture.quotas.storage = 1
        let epoch = try fixture.store.state(of: fixture.namespace).epoch
        // When
        #expect(try refusal(fixture, [put(1, "a/1", "12")]) == .quotaExceeded)
        // Then
        #expect(try fixture.store.namespaces(limit: 9).isEmpty)
        #expect(try fixture.batch([put(1, "a/1", "1")]) == ["1 applied 1"])
        #expect(try fixture.store.state(of: fixture.namespace).epoch == epoch)
    }

    @Test(
        "a refused submission leaves the others of its transaction, and its cached rows are the stored ones", arguments: StoreKind.allCases)
    func group(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        try fixture.put("a/1", "1")
        let (first, last) = (CompletionRecorder<SingleReceipt>(), CompletionRecorder<SingleReceipt>())
        let refused = CompletionRecorder<[WriteOutcome]>()
        let batch = WriteBatch(client: try ClientIdentifier("phone"), writes: [try put(1, "a/1", "22"), try put(2, "a/2", "22222222")])
        let namespace = fixture.namespace
        let single = { @Sendable (key: String, json: String) throws in
            SingleWrite(key: try RecordKey(key), operation: .put(json: json))
        }
        // When
        let group = try GroupCommit.commit(
            [
                .single(single("a/1", "3"), in: namespace, then: first.record), .batch(batch, in: namespace, then: refused.record),
                .single(single("a/3", "4"), in: namespace, then: last.record),
            ], to: fixture.store, at: WriteTime(milliseconds: 1), editLimit: 100, quotas: Quotas.Space(storage: 5))
        group.complete()
        // Then
        #expect(try first.once().result.get().revision?.number == 2 && last.once().result.get().revision?.number == 3)
        #expect(throws: Problem.self) { try refused.once().result.get() }
        #expect(try refused.once().cursor?.revision.number == 2)
        #expect(group.commits.flatMap(\.changes).map(\.revision.number) == [2, 3])
        #expect(try fixture.value("a/1") == "3" && fixture.value("a/2") == nil && fixture.value("a/3") == "4")
        #expect(try fixture.batch([put(1, "a/1", "5")]) == ["1 applied 4"])
    }

    @Test("over random batches both stores decide alike, and nothing grows beyond a quota", arguments: 1...20)
    func random(seed: UInt64) throws {
        // Given
        var random = SeededGenerator(seed: seed)
        var (memory, file) = (try StoreFixture(.memory), try StoreFixture(.sqlite))
        var numbers = ["phone": Int64(0), "tablet": 0, "till": 0]
        for _ in 0..<60 {
            if Int.random(in: 0..<8, using: &random) == 0 {
                let quotas = Quotas.Space(
                    storage: Int64.random(in: 0...40, using: &random), records: Int64.random(in: 0...6, using: &random),
                    clients: Int64.random(in: 1...3, using: &random))
                (memory.quotas, file.quotas) = (quotas, quotas)
            }
            let client = numbers.keys.sorted()[Int.random(in: 0..<3, using: &random)]
            let first = try #require(numbers[client]) + 1
            let writes = try (first..<first + Int64.random(in: 1...4, using: &random)).map { number in
                let key = "a/\(Int.random(in: 0..<8, using: &random))"
                switch Int.random(in: 0..<5, using: &random) {
                case 0, 1: return try delete(number, key)
                case 2: return try increment(number, key)
                default: return try put(number, key, String(Int.random(in: 1..<100_000, using: &random)))
                }
            }
            let isAtomic = Bool.random(using: &random)
            let before = try memory.store.counts(of: memory.namespace)
            // When
            let decided = try [memory, file].map { fixture in
                do { return try fixture.batch(writes, by: client, atomic: isAtomic) } catch let problem as Problem {
                    return ["\(problem.code)"]
                }
            }
            // Then
            #expect(decided[0] == decided[1])
            let after = try [memory, file].map { try $0.store.counts(of: $0.namespace) }
            #expect(after[0].state.bytes == after[1].state.bytes && after[0].state.records == after[1].state.records)
            #expect(after[0].value.clients == after[1].value.clients)
            let quotas = memory.quotas
            let amounts = [
                (quotas.storage, before.state.bytes, after[0].state.bytes), (quotas.records, before.state.records, after[0].state.records),
                (quotas.clients, before.value.clients, after[0].value.clients),
            ]
            for case (let limit?, let old, let new) in amounts { #expect(new <= max(Int64(old), limit)) }
            if decided[0] == ["quota-exceeded"] {
                #expect(after[0].state == before.state)
            } else {
                numbers[client] = first - 1 + Int64(writes.count)
            }
        }
    }
}
