import Dispatch
import FreshetTestSupport
import FreshetTrust
import FreshetWire
import Logging
import Synchronization
import Testing

@testable import FreshetServer

/// Keys and revocations of two servers over one store. The second server hears of nothing: what it knows, it read from the
/// store within a transaction, or at its next comparison.
@Suite("Keys and revocations of several servers") struct SharedAccessTests {
    /// What a server has of access control, without HTTP.
    private struct Member: Sendable {
        let control: AccessControl
        let committer: Committer
        private let follower: AccessFollower
        let ends: Counter

        init(_ store: any RecordStore) throws {
            let ends = Counter()
            self.ends = ends
            control = AccessControl(try store.accessChanges(after: nil), environment: .system)
            follower = AccessFollower(control, store, later: { $0() }, logger: Logger(label: "test")) { ends.add() }
            committer = Committer(
                store: store, access: follower, clock: { WriteTime(milliseconds: 5) }, now: { 0 }, onFailure: { Issue.record("\($0)") },
                onCommit: { _ in })
        }

        func compare(now: Int64) { follower.timePassed(now: now) }

        func submit<Value: Sendable>(_ make: (@escaping @Sendable (Committed<Value>) -> Void) -> Submission) async -> Committed<Value> {
            await withCheckedContinuation { continuation in committer.submit(make { continuation.resume(returning: $0) }) }
        }

        /// Stores a key.
        func keep(_ key: StoredKey) async throws {
            let committed: Committed<Void> = await submit { then in
                .access(then: then) { work in
                    try work.keep(key.row)
                    return .success(())
                }
            }
            try committed.result.get()
        }

        func remove(_ key: StoredKey) async throws {
            let committed: Committed<Void> = await submit { then in
                .access(then: then) { work in
                    try work.remove(.key, named: key.id.text)
                    return .success(())
                }
            }
            try committed.result.get()
        }

        /// The answer to a write of a session: `nil` if it is stored.
        func write(_ session: AccessSession) async throws -> ProblemCode? {
            let namespace = try Namespace("shop")
            let access = WriteAccess(session: session, namespace: namespace, control: control)
            let write = SingleWrite(key: try RecordKey("a/1"), operation: .put(json: "1"))
            let committed = await submit { .single(write, in: namespace, by: access, then: $0) }
            guard case .failure(let problem) = committed.result else { return nil }
            return problem.code
        }

        /// A session of the key, which this server has checked.
        func session(_ key: AccessKey, _ stored: StoredKey) throws -> AccessSession {
            let session = AccessSession(
                Session(stored, expires: nil, generation: 0, at: TimeReading(wall: 0, monotonic: 0)), key.token, generation: .max)
            try control.check(session)
            return session
        }
    }

    private static func key(isAdmin: Bool = false) -> (key: AccessKey, stored: StoredKey) {
        var random = SystemRandomNumberGenerator()
        let key = AccessKey(using: &random)
        return (key, StoredKey(key, name: "test", rights: .all, isAdmin: isAdmin, created: 0))
    }

    @Test("No write of a key is applied at another server once its revocation is stored", arguments: StoreKind.allCases)
    func revocation(_ kind: StoreKind) async throws {
        // Given a session that the second server has checked
        let fixture = try StoreFixture(kind)
        let first = try Member(fixture.store)
        let (key, stored) = Self.key()
        try await first.keep(stored)
        let second = try Member(fixture.store)
        let session = try second.session(key, stored)
        #expect(try await second.write(session) == nil)
        // When
        try await first.remove(stored)
        // Then
        #expect(second.control.key(stored.id) != nil, "the second server has heard of it")
        #expect(try await second.write(session) == .unauthorized)
        #expect(second.control.key(stored.id) == nil && second.ends.value == 1)
        #expect(try fixture.store.state(of: fixture.namespace).head == Revision(1))
    }

    @Test("A token that is revoked at one server is refused by the transactions of another", arguments: StoreKind.allCases)
    func tokens(_ kind: StoreKind) async throws {
        let fixture = try StoreFixture(kind)
        let (first, second) = (try Member(fixture.store), try Member(fixture.store))
        let revocation = Revocation(.token("t"), issuedBefore: 1, created: 1)
        // When
        let stored: Committed<Void> = await first.submit { then in
            .access(then: then) { work in
                try work.keep(revocation.accessRow)
                return .success(())
            }
        }
        try stored.result.get()
        #expect(second.control.revocations.isEmpty)
        _ = try await second.write(.operator)
        // Then
        #expect(second.control.revocations == [revocation] && first.control.revocations == [revocation])
    }

    @Test("Two servers that change the same key both have the last change", arguments: StoreKind.allCases)
    func sameKey(_ kind: StoreKind) async throws {
        let fixture = try StoreFixture(kind)
        let (first, second) = (try Member(fixture.store), try Member(fixture.store))
        var (_, stored) = Self.key()
        for number in 1...6 {
            stored.isDisabled = number % 2 == 1
            try await (number % 3 == 0 ? first : second).keep(stored)
        }
        for member in [first, second] { member.compare(now: 10_000) }
        #expect(first.control.key(stored.id) == stored && second.control.key(stored.id) == stored)
        #expect(first.control.version == second.control.version)
        #expect(try first.control.version == fixture.store.accessVersion())
    }

    @Test("A comparison takes new, changed and removed keys, however many there were", arguments: StoreKind.allCases, [1, 30])
    func comparison(_ kind: StoreKind, count: Int) async throws {
        let fixture = try StoreFixture(kind)
        let (first, second) = (try Member(fixture.store), try Member(fixture.store))
        let keys = (0..<count).map { _ in Self.key().stored }
        for key in keys { try await first.keep(key) }
        second.compare(now: 0)
        #expect(second.control.keys == first.control.keys && second.control.keys.count == count)
        for key in keys.prefix(count / 2 + 1) { try await first.remove(key) }
        // Too early
        second.compare(now: AccessFollower.interval - 1)
        #expect(second.control.keys.count == count)
        second.compare(now: AccessFollower.interval)
        #expect(second.control.keys == first.control.keys && second.control.keys.count == count - (count / 2 + 1))
        #expect(second.ends.value == 2)
    }

    @Test("A server that is behind by more than the store remembers takes all rows", arguments: [StoreKind.memory] + StoreKind.shared)
    func farBehind(_ kind: StoreKind) async throws {
        let fixture = try StoreFixture(kind)
        let (first, second) = (try Member(fixture.store), try Member(fixture.store))
        let (removed, kept) = (Self.key().stored, Self.key().stored)
        try await first.keep(removed)
        second.compare(now: 0)
        try await first.remove(removed)
        for _ in 0..<Int(AccessChanges.kept) { try await first.keep(kept) }
        // The removal is forgotten
        let base = AccessVersion(history: 0, number: 1)
        #expect(try fixture.store.accessChanges(after: base).base == nil)
        #expect(try fixture.store.accessChanges(after: AccessVersion(history: 0, number: 2)).base?.number == 2)
        second.compare(now: 10_000)
        #expect(second.control.keys == [kept])
    }

    @Test("A transaction that fails changes no version", arguments: [StoreKind.memory, .sqlite] + StoreKind.shared)
    func failure(_ kind: StoreKind) throws {
        struct Failure: Error {}
        let fixture = try StoreFixture(kind)
        let (kept, lost) = (Self.key().stored, Self.key().stored)
        try fixture.store.transaction { try $0.keep(kept.row) }
        let before = try fixture.store.accessChanges(after: nil)
        #expect(throws: Failure.self) {
            try fixture.store.transaction { transaction in
                try transaction.keep(lost.row)
                try transaction.remove(.key, named: kept.id.text)
                throw Failure()
            }
        }
        #expect(try fixture.store.accessChanges(after: nil) == before && before.rows == [kept.row])
    }
}
