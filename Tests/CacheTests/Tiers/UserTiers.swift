import FoundationEssentials
import FreshetCache
import Synchronization

/// A gate at which tasks wait until it is opened.
final class Gate: Sendable {
    private let state = Mutex<(isOpen: Bool, waiting: [CheckedContinuation<Void, Never>])>((true, []))
    private let arrivals = AsyncStream<Void>.makeStream()

    func close() { state.withLock { $0.isOpen = false } }

    /// Lets all tasks through, later ones too.
    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Waits until one more task has arrived at the closed gate.
    func arrival() async { for await _ in arrivals.stream { return } }

    func pass() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() } else { arrivals.continuation.yield() }
        }
    }
}

/// A second tier as a user may write it: bytes in an actor, with gates to block calls in flight, and with failures on
/// demand.
actor UserSecondary: SecondaryCacheTier {
    struct Failure: Error, Equatable {}

    enum Call: Equatable {
        case store(String), remove(String), removeAll
    }

    /// Blocks a read after its lookup, before it returns.
    nonisolated let reads = Gate()
    /// Blocks a write before it is done.
    nonisolated let writes = Gate()
    private(set) var calls: [Call] = []
    private var stored: [[UInt8]: StoredValue] = [:]
    private var under: Set<[UInt8]> = []
    private(set) var hasOverlapped = false
    private var failsReads = false
    private var failsWrites = false
    private(set) var schema: String?

    func fail(reads: Bool? = nil, writes: Bool? = nil) {
        failsReads = reads ?? failsReads
        failsWrites = writes ?? failsWrites
    }

    func put(_ bytes: [UInt8], named name: String) {
        stored[Array(name.utf8)] = StoredValue(
            bytes: bytes, storedAt: .init(timeIntervalSince1970: 0), validatedAt: .init(timeIntervalSince1970: 0), expiresAt: nil, tags: nil
        )
    }

    func text(_ name: String) -> String? { stored[Array(name.utf8)].map { String(decoding: $0.bytes, as: UTF8.self) } }
    var count: Int { stored.count }
    var reading = 0

    func storedValue(named name: [UInt8]) async throws -> StoredValue? {
        let (value, fails) = (stored[name], failsReads)
        reading += 1
        await reads.pass()
        if fails { throw Failure() }
        return value
    }

    func store(_ value: StoredValue, named name: [UInt8]) async throws {
        try await write(.store(String(decoding: name, as: UTF8.self)), name) { $0[name] = value }
    }

    func removeValue(named name: [UInt8]) async throws {
        try await write(.remove(String(decoding: name, as: UTF8.self)), name) { $0[name] = nil }
    }

    func removeAll() async throws {
        if !under.isEmpty { hasOverlapped = true }
        await writes.pass()
        calls.append(.removeAll)
        if failsWrites { throw Failure() }
        stored = [:]
    }

    func invalidateEverything(schema: String?) async throws {
        try await removeAll()
        self.schema = schema ?? self.schema
    }

    private func write(_ call: Call, _ name: [UInt8], _ change: (inout [[UInt8]: StoredValue]) -> Void) async throws {
        if !under.insert(name).inserted { hasOverlapped = true }
        defer { under.remove(name) }
        await writes.pass()
        calls.append(call)
        if failsWrites { throw Failure() }
        change(&stored)
    }
}

/// A first tier as a user may wrap a cache that neither lists its keys nor has lifetimes, such as `NSCache`.
final class UserPrimary<Key: Hashable & Sendable, Value: Sendable>: PrimaryCacheTier {
    private let held = Mutex<[Key: Value]>([:])
    private let limit: Int

    init(limit: Int = .max) { self.limit = limit }

    var count: Int { held.withLock { $0.count } }

    func value(forKey key: Key) -> Value? { held.withLock { $0[key] } }

    func setValue(_ value: Value, forKey key: Key, lifetime: Lifetime) {
        held.withLock { held in
            held[key] = held.count < limit || held[key] != nil ? value : nil
        }
    }

    func discardValue(forKey key: Key) { held.withLock { _ = $0.removeValue(forKey: key) } }
    func removeAll() { held.withLock { $0 = [:] } }
}
