import FreshetTestSupport
import FreshetWire
import Testing

@testable import FreshetServer
@testable import FreshetTrust

@Suite("Owners of client names") struct ClientOwnerTests {
    private let holders = KeyHolders()

    private func problem(_ committed: Committed<[WriteOutcome]>) -> ProblemCode? {
        guard case .failure(let problem) = committed.result else { return nil }
        return problem.code
    }

    private func send(
        _ fixture: StoreFixture, _ access: WriteAccess?, _ numbers: ClosedRange<Int64>, as client: String = "till", nonces: Int64? = nil,
        atomic: Bool = false
    ) throws -> Committed<[WriteOutcome]> {
        let writes = try numbers.map { number in
            var write = try Write(number, "a/\(number)", .increment("/n"))
            write.nonce = nonces.map { $0 + number }
            return write
        }
        let batch = WriteBatch(client: try ClientIdentifier(client), atomic: atomic, writes: writes)
        return try fixture.commit { .batch(batch, in: fixture.namespace, by: access, then: $0) }
    }

    private func last(_ fixture: StoreFixture, _ client: String = "till") throws -> Int64 {
        try fixture.store.lastWrite(of: ClientIdentifier(client), in: fixture.namespace).value
    }

    private func owner(_ fixture: StoreFixture, _ client: String = "till") throws -> ClientOwner? {
        try fixture.store.owner(of: ClientIdentifier(client), in: fixture.namespace)
    }

    @Test("a name belongs to the principal that used it first, administrators included", arguments: StoreKind.allCases, [false, true])
    func firstUse(_ kind: StoreKind, isAdmin: Bool) throws {
        // Given
        let fixture = try StoreFixture(kind)
        let (id, first) = try holders.access(in: fixture.namespace)
        let other = try holders.access(in: fixture.namespace, isAdmin: isAdmin).access
        #expect(try send(fixture, first, 1...2).result.get().count == 2)
        // When
        let refused = try [send(fixture, other, 1...1), send(fixture, other, 3...4), send(fixture, other, 9...9, atomic: true)]
        let single = SingleWrite(
            key: try RecordKey("a/9"), operation: .put(json: "1"), author: Change.Author(client: try ClientIdentifier("till"), write: 3))
        let one = try fixture.commit { Submission.single(single, in: fixture.namespace, by: other, then: $0) }
        // Then nothing was done, and no number was used
        #expect(refused.map(problem) == [.clientTaken, .clientTaken, .clientTaken])
        #expect(throws: Problem.self) { try one.result.get() }
        #expect(try last(fixture) == 2 && owner(fixture)?.key == id && fixture.value("a/3") == nil && fixture.value("a/9") == nil)
        // When the owner continues, and the other uses another name
        #expect(try send(fixture, first, 3...3).result.get().map(\.brief) == ["3 applied 3"])
        #expect(try send(fixture, other, 1...1, as: "till-2").result.get().count == 1)
        #expect(try last(fixture) == 3)
    }

    @Test("a name of an open server has no owner, and belongs to the first principal that writes under it", arguments: StoreKind.allCases)
    func adoption(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        _ = try send(fixture, nil, 1...2)
        #expect(try owner(fixture) == nil)
        let first = try holders.access(in: fixture.namespace).access
        let other = try holders.access(in: fixture.namespace).access
        // When a repeat decides nothing, and a write does
        _ = try send(fixture, other, 1...2).result.get()
        #expect(try owner(fixture) == nil)
        _ = try send(fixture, first, 3...3).result.get()
        // Then
        #expect(try problem(send(fixture, other, 4...4)) == .clientTaken)
        // When the server is open again, names have no owner, and keep the one that they had
        #expect(try send(fixture, nil, 4...4).result.get().count == 1)
        #expect(try problem(send(fixture, other, 5...5)) == .clientTaken)
        #expect(try send(fixture, first, 5...5).result.get().count == 1)
    }

    @Test("the name of a revoked key belongs to the next principal that writes under it", arguments: StoreKind.allCases)
    func revokedKey(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        let (id, first) = try holders.access(in: fixture.namespace)
        let (next, second) = try holders.access(in: fixture.namespace)
        let third = try holders.access(in: fixture.namespace).access
        _ = try send(fixture, first, 1...2, nonces: 100)
        #expect(try problem(send(fixture, second, 3...3)) == .clientTaken)
        // When
        holders.control.forget(id)
        // Then the device goes on under its numbers, with another key
        #expect(try send(fixture, second, 2...3, nonces: 100).result.get().map(\.brief) == ["2 applied 2", "3 applied 3"])
        #expect(try owner(fixture)?.key == next && problem(send(fixture, third, 4...4)) == .clientTaken)
    }

    @Test(
        "a principal without the name learns the outcomes of writes whose nonces it knows, and decides none", arguments: StoreKind.allCases)
    func nonces(_ kind: StoreKind) throws {
        // Given a device whose key was replaced
        let fixture = try StoreFixture(kind)
        let first = try holders.access(in: fixture.namespace).access
        let second = try holders.access(in: fixture.namespace).access
        _ = try send(fixture, first, 1...3, nonces: 100)
        _ = try send(fixture, first, 4...4)
        // When, then
        #expect(try send(fixture, second, 2...3, nonces: 100).result.get().map(\.brief) == ["2 applied 2", "3 applied 3"])
        #expect(try send(fixture, second, 2...5, nonces: 100).result.get().map(\.brief) == ["2 applied 2", "3 applied 3"])
        #expect(
            try send(fixture, second, 1...2, nonces: 200).result.get().map(\.brief) == [
                "1 rejected number-taken", "2 rejected number-taken",
            ])
        // Write 4 has no nonce, and 5 is not decided.
        #expect(try [4...4, 5...5].map { try problem(send(fixture, second, $0, nonces: 100)) } == [.clientTaken, .clientTaken])
        #expect(try problem(send(fixture, second, 1...1)) == .clientTaken)
        #expect(try last(fixture) == 4 && fixture.value("a/5") == nil)
    }

    @Test("the owner is forgotten with the name", arguments: StoreKind.allCases)
    func drop(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        let first = try holders.access(in: fixture.namespace).access
        let (id, second) = try holders.access(in: fixture.namespace)
        _ = try send(fixture, first, 1...2)
        // When
        #expect(try fixture.drop())
        // Then
        #expect(try owner(fixture) == nil)
        #expect(try send(fixture, second, 1...1).result.get().count == 1)
        #expect(try owner(fixture)?.key == id)
        // When the outcomes are forgotten, the owner stays with the number
        let later = Timestamp(milliseconds: 1_000 + 10 * 86_400_000)
        _ = try fixture.commit { .compact(before: Timestamp(milliseconds: 0), outcomesBefore: later, then: $0) }.result.get()
        #expect(try problem(send(fixture, first, 2...2)) == .clientTaken && last(fixture) == 1)
    }

    @Test("the owner is on disk with the write")
    func onDisk() throws {
        // Given
        let directory = TemporaryDirectory()
        let namespace = try Namespace("shop")
        let client = try ClientIdentifier("till")
        let owner = ClientOwner(text: "key:aaaaaaaaaa")
        do {
            let store = try SQLiteRecordStore(directory: directory.file("data"), seed: 1)
            try store.transaction { transaction in
                try transaction.namespace(namespace).keep(
                    [StoredOutcome(number: 1, verdict: .applied(nil))], of: client, owner: owner, settled: 0, at: Timestamp(milliseconds: 1)
                )
            }
            // When a transaction fails
            #expect(throws: Unexpected.self) {
                try store.transaction { transaction in
                    try transaction.namespace(namespace).keep(
                        [StoredOutcome(number: 2, verdict: .applied(nil))], of: client, owner: ClientOwner(text: "other"), settled: 0,
                        at: Timestamp(milliseconds: 1))
                    throw Unexpected(what: "the test")
                }
            }
            #expect(try store.owner(of: client, in: namespace) == owner)
            #expect(try store.transaction { try $0.namespace(namespace).owner(of: client) } == owner)
        }
        // Then
        let store = try SQLiteRecordStore(directory: directory.file("data"), seed: 1)
        #expect(try store.owner(of: client, in: namespace) == owner)
        #expect(try store.owner(of: ClientIdentifier("other"), in: namespace) == nil)
    }

    @Test("a principal of an issuer is stored as a digest")
    func digest() {
        let token = VerifiedToken(
            principal: Principal(issuer: "https://id.example", subject: "ada@example.org"), issuer: "https://id.example", tokenID: nil,
            issuedAt: 0, expires: 1, rights: .all)
        let owner = ClientOwner(Session(token, generation: 0, at: TimeReading(wall: 0, monotonic: 0)))
        #expect(owner.text.utf8.count == 43 && owner.key == nil && !owner.text.contains("ada"))
    }

    @Test("of random writes exactly those of owners are decided", arguments: StoreKind.allCases, [1, 2, 3, 4, 5] as [UInt64])
    func randomWrites(_ kind: StoreKind, _ seed: UInt64) throws {
        // Given
        let fixture = try StoreFixture(kind, seed: seed)
        var random = SeededGenerator(seed: seed)
        var principals = try (0..<3).map { _ in try holders.access(in: fixture.namespace) }
        var owners: [String: ClientOwner] = [:]
        var numbers: [String: Int64] = [:]
        for _ in 0..<300 {
            let place = Int.random(in: 0..<4, using: &random)
            let client = ["till", "kiosk", "phone"].randomElement(using: &random) ?? "till"
            switch Int.random(in: 0..<40, using: &random) {
            case 0:
                _ = try fixture.drop()
                (owners, numbers) = ([:], [:])
            case 1 where place < 3:
                let gone = principals[place]
                holders.control.forget(gone.key)
                owners = owners.filter { $1 != gone.access.owner }
                principals[place] = try holders.access(in: fixture.namespace)
            default:
                // When
                let access = place < 3 ? principals[place].access : nil
                let first = numbers[client, default: 0] + 1
                let end = first + Int64.random(in: 0..<3, using: &random)
                let committed = try send(fixture, access, first...end, as: client)
                // Then
                let isTaken = access.map { access in owners[client].map { $0 != access.owner } ?? false } ?? false
                #expect(problem(committed) == (isTaken ? .clientTaken : nil))
                guard !isTaken else { break }
                numbers[client] = end
                owners[client] = access?.owner ?? owners[client]
            }
            #expect(try last(fixture, client) == numbers[client, default: 0])
        }
    }
}
