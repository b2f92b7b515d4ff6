internal import FreshetWire
internal import Synchronization

/// An observer of a whole collection: keeps the collection's members, and is signalled when they have changed.
///
/// Only the engine's queue reports changes. They become visible together with ``commit()``: no reader sees part of a page.
final class CollectionObserver: Sendable {
    /// The changes since the last read, in the order of the keys.
    struct Difference: Sendable {
        var inserted: [CachedValue] = []
        var updated: [CachedValue] = []
        var removed: [RecordKey] = []

        var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && removed.isEmpty }
    }

    private enum Staged: Sendable {
        case member(CachedValue)
        case gone
    }

    /// What the first element waits for: an empty one would say that there are no records.
    enum Waiting: Sendable { case no, forMember, forCopy }

    private struct State {
        var waiting: Waiting
        var members: [RecordKey: CachedValue]
        /// Reported changes that are not visible yet.
        var staged: [RecordKey: Staged] = [:]
        /// The keys that have changed since the last read, and whether each was a member then.
        var changed: [RecordKey: Bool] = [:]
        /// The members' keys, in order, as of the last read of all members.
        var order: [RecordKey] = []
        /// Members that were removed and are to be fetched again.
        var unknown: Set<RecordKey> = []

        func member(_ key: RecordKey) -> CachedValue? {
            switch staged[key] {
            case .member(let value): value
            case .gone: nil
            case nil: members[key]
            }
        }

        /// Calls the closure with all members, including staged changes.
        func forEach(_ body: (CachedValue) -> Void) {
            for (key, value) in members where staged[key] == nil { body(value) }
            for case .member(let value) in staged.values { body(value) }
        }

        mutating func commit() -> Bool {
            var hasChanged = false
            for (key, value) in staged {
                let wasMember = members[key] != nil
                switch value {
                case .member(let value): members[key] = value
                case .gone where wasMember: members[key] = nil
                case .gone: continue
                }
                hasChanged = true
                if changed[key] == nil { changed[key] = wasMember }
            }
            staged.removeAll(keepingCapacity: staged.count < 1_000)
            return hasChanged
        }

        /// Returns which of the keys were inserted, updated and removed.
        ///
        /// - Parameter changed: whether each key was a member before.
        func differences(_ changed: [RecordKey: Bool]) -> (inserted: [RecordKey], updated: [RecordKey], removed: [RecordKey]) {
            var changes: (inserted: [RecordKey], updated: [RecordKey], removed: [RecordKey]) = ([], [], [])
            for (key, wasMember) in changed {
                switch (wasMember, members[key] != nil) {
                case (false, true): changes.inserted.append(key)
                case (true, true): changes.updated.append(key)
                case (true, false): changes.removed.append(key)
                case (false, false): break
                }
            }
            changes.inserted.sort()
            changes.updated.sort()
            changes.removed.sort()
            return changes
        }

        /// Brings the order up to date. O(members + inserted keys · log of them).
        mutating func sort() {
            let changes = differences(changed)
            changed = [:]
            if !changes.removed.isEmpty {
                let removed = Set(changes.removed)
                order.removeAll(where: removed.contains)
            }
            guard !changes.inserted.isEmpty else { return }
            var merged: [RecordKey] = []
            merged.reserveCapacity(order.count + changes.inserted.count)
            var rest = changes.inserted[...]
            for key in order {
                while let next = rest.first, next < key { merged.append(rest.removeFirst()) }
                merged.append(key)
            }
            order = merged + rest
        }
    }

    let collection: String
    /// Whether the collection is to be listed, and removed members are to be fetched again.
    let fetches: Bool
    private let continuation: AsyncStream<Void>.Continuation
    private let state: Mutex<State>

    init(
        _ collection: String, _ members: [CachedValue], fetches: Bool, waits waiting: Waiting = .no,
        _ continuation: AsyncStream<Void>.Continuation
    ) {
        self.collection = collection
        self.fetches = fetches
        self.continuation = continuation
        let members = Dictionary(members.map { ($0.view.key, $0) }) { _, last in last }
        state = Mutex(State(waiting: waiting, members: members, changed: members.mapValues { _ in false }))
        if waiting == .no { continuation.yield() }
    }

    // MARK: Reporting changes

    func notify(_ value: CachedValue) {
        state.withLock { state in
            let view = value.view
            let key = view.key
            if view.value != .unknown { state.unknown.remove(key) }
            switch view.value {
            case .content, .elsewhere: state.staged[key] = .member(value)
            // A pending removal is shown, as any other pending write.
            case .absent: state.staged[key] = view.isPending ? .member(value) : .gone
            case .unknown:
                if state.member(key) != nil { state.unknown.insert(key) }
                state.staged[key] = view.isPending ? .member(value) : .gone
            }
        }
    }

    /// As ``update(_:)``, for one key.
    func update(_ key: RecordKey, _ change: (KeyView) -> KeyView?) {
        state.withLock { state in
            guard let value = state.member(key), let view = change(value.view) else { return }
            state.staged[key] = .member(CachedValue(view, decodedBy: value))
        }
    }

    /// Replaces members by the closure's results; `nil` leaves a member unchanged.
    func update(_ change: (KeyView) -> KeyView?) {
        state.withLock { state in
            var changed: [CachedValue] = []
            state.forEach { value in
                if let view = change(value.view) { changed.append(CachedValue(view, decodedBy: value)) }
            }
            for value in changed { state.staged[value.view.key] = .member(value) }
        }
    }

    func forget(_ condition: (KeyView) -> Bool) {
        state.withLock { state in
            var victims: [KeyView] = []
            state.forEach { if !$0.view.isPending, condition($0.view) { victims.append($0.view) } }
            for view in victims {
                state.staged[view.key] = .gone
                state.unknown.insert(view.key)
            }
        }
    }

    func forgetAll() {
        state.withLock { state in
            state.staged = state.members.mapValues { _ in .gone }
            state.unknown = []
        }
    }

    /// Makes the reported changes visible.
    func commit() {
        let isVisible = state.withLock { state in
            guard state.commit() else { return false }
            if state.waiting == .forMember, !state.members.isEmpty { state.waiting = .no }
            return state.waiting == .no
        }
        if isVisible { continuation.yield() }
    }

    /// Whether the first element still waits.
    var isWaiting: Bool { state.withLock { $0.waiting != .no } }

    /// Ends the wait for the first element, since the members are complete.
    func release() {
        let waited = state.withLock { state in
            defer { state.waiting = .no }
            return state.waiting != .no
        }
        if waited { continuation.yield() }
    }

    func finish() { continuation.finish() }

    // MARK: Reading

    /// Returns the members by id. O(members), and O(n log n) in those inserted since the last read.
    func snapshots<Value: Sendable>(_ memory: MemoryTier, _ codec: ValueCodec<Value>) -> [Snapshot<Value>] {
        let (members, rule) = memory.readConsistently {
            state.withLock { state in
                state.sort()
                return state.order.compactMap { state.members[$0] }
            }
        }
        return members.map { Snapshot(MemoryTier.Hit(value: $0, freshness: rule.of($0.view)), codec) }
    }

    /// Returns the changes since the last read; all members at the first. O(n log n) in the changes.
    func changes(_ memory: MemoryTier) -> (Difference, FreshnessState) { changes(memory.readConsistently) }

    /// - Parameter during: repeats the read until one rule held throughout it.
    func changes(_ readConsistently: (() -> Difference) -> (Difference, FreshnessState)) -> (Difference, FreshnessState) {
        // Changes that a repeated read has taken belong to the next attempt as well.
        var taken: [RecordKey: Bool] = [:]
        return readConsistently {
            state.withLock { state in
                taken.merge(state.changed) { first, _ in first }
                state.changed = [:]
                let changes = state.differences(taken)
                let members = state.members
                return Difference(
                    inserted: changes.inserted.compactMap { members[$0] }, updated: changes.updated.compactMap { members[$0] },
                    removed: changes.removed)
            }
        }
    }

    var unknownKeys: [RecordKey] { fetches ? state.withLock { Array($0.unknown) } : [] }
}
