internal import FreshetWire

extension SyncedCollection {
    /// The record now, and again whenever what is shown of it changes. One who is slow gets the latest only.
    ///
    /// - Parameter policy: ``ReadPolicy/cacheOnly``, or (the default) whether to fetch the record from the server while nothing is known
    ///   of it: at first, and after an invalidation.
    /// - Returns: a sequence that ends with the client, and throws ``ClientError/stopped`` at once if that is not running.
    public func snapshots(of id: String, policy: ReadPolicy = .cacheElseNetwork) -> Snapshots<Value> {
        Snapshots(collection: self, id: id, fetches: policy != .cacheOnly)
    }

    /// All records of the collection that are known here, by id, and again whenever one has changed.
    ///
    /// A client that does not hold the whole collection (see ``SyncedCollection/ids(policy:)``) shows what it holds first, lists the collection from
    /// the server, reads what it lacks, and shows that as it comes. If the server cannot be reached, it does so when the client is live again.
    /// It lists once: of records that others create later it learns only if it follows everything.
    ///
    /// Many changes at once make one element, and what came in one page of the feed, such as an atomic batch, comes together. Each element costs
    /// O(records); values are decoded once each. Where the collection is large, ``changes(policy:)`` costs less.
    ///
    /// - Parameter policy: ``ReadPolicy/cacheOnly``, or (the default) whether to list the collection, and to read those records again that
    ///   were evicted.
    /// - Returns: a sequence that ends with the client, and throws ``ClientError/stopped`` at once if that is not running.
    public func snapshots(policy: ReadPolicy = .cacheElseNetwork) -> CollectionSnapshots<Value> {
        CollectionSnapshots(collection: self, fetches: policy != .cacheOnly)
    }
}

extension SyncedCollection {
    /// The records of the collection that are known here, and after them each change, as ``CollectionChange``s.
    ///
    /// A client that does not hold the whole collection lists it from the server as ``snapshots(policy:)`` does; the records that it lacked come
    /// as inserted.
    ///
    /// Many changes at once make one element, and what came in one page of the feed, such as an atomic batch, comes together. The first element
    /// costs O(records), those after it O(changes).
    ///
    /// ```swift
    /// var products: [String: Product] = [:]
    /// for try await change in shop.changes() {
    ///     for id in change.removed { products[id] = nil }
    ///     for snapshot in change.inserted + change.updated { products[snapshot.id] = snapshot.value }
    /// }
    /// ```
    ///
    /// - Parameter policy: ``ReadPolicy/cacheOnly``, or (the default) whether to list the collection, and to read those records again that
    ///   were evicted.
    /// - Returns: a sequence that ends with the client, and throws ``ClientError/stopped`` at once if that is not running.
    public func changes(policy: ReadPolicy = .cacheElseNetwork) -> CollectionChanges<Value> {
        CollectionChanges(collection: self, fetches: policy != .cacheOnly)
    }
}

/// What has changed in a collection since the element before, by id. Records have no other order, so none moves.
public struct CollectionChange<Value: Sendable>: Sendable {
    /// Whether it is the first element of its sequence, with all records in ``inserted``.
    public var isInitial: Bool
    /// The records that have come. One whose removal is pending is among those that are there, with ``Snapshot/exists`` false.
    public var inserted: [Snapshot<Value>]
    /// The records of which something else is shown than before: a value, or what is known of it. Its ``Snapshot/freshness`` is that of this
    /// moment; ``SyncClient/status`` tells of what befalls all at once.
    public var updated: [Snapshot<Value>]
    /// The ids of the records that have gone.
    public var removed: [String]
}

extension CollectionChange: Equatable where Value: Equatable {}

/// A collection's changes, from now on. Made by ``SyncedCollection/changes(policy:)``.
public struct CollectionChanges<Value: Sendable>: AsyncSequence, Sendable {
    let collection: SyncedCollection<Value>
    let fetches: Bool

    /// Begins to observe at the first call of `next`.
    public func makeAsyncIterator() -> Iterator { Iterator(sequence: self) }

    /// Observes for as long as it lives.
    public struct Iterator: AsyncIteratorProtocol {
        let sequence: CollectionChanges
        private var observer: CollectionObserver?
        private var signals: AsyncStream<Void>.Iterator?

        init(sequence: CollectionChanges) { self.sequence = sequence }

        /// What has changed since the last call, which is never nothing but at the first; `nil` when the client has stopped or the task was
        /// cancelled.
        public mutating func next() async throws -> CollectionChange<Value>? {
            let client = sequence.collection.client
            let isInitial = observer == nil
            if isInitial {
                let name = try sequence.collection.checkedName()
                let (observer, stream) = try await client.engine.observe(collection: name, fetches: sequence.fetches)
                self.observer = observer
                signals = stream.makeAsyncIterator()
            }
            while await signals?.next() != nil, let (difference, rule) = observer?.changes(client.engine.memory) {
                if isInitial || !difference.isEmpty { return change(difference, rule, isInitial: isInitial) }
            }
            return nil
        }

        private func change(_ difference: CollectionObserver.Difference, _ rule: FreshnessRule, isInitial: Bool) -> CollectionChange<Value>
        {
            func snapshot(_ value: CachedValue) -> Snapshot<Value> {
                Snapshot(MemoryTier.Hit(value: value, freshness: rule.of(value.view)), sequence.collection.codec)
            }
            return CollectionChange(
                isInitial: isInitial, inserted: difference.inserted.map(snapshot), updated: difference.updated.map(snapshot),
                removed: difference.removed.map(\.id))
        }
    }
}

/// A record's snapshots, from now on. Made by ``SyncedCollection/snapshots(of:policy:)``.
public struct Snapshots<Value: Sendable>: AsyncSequence, Sendable {
    let collection: SyncedCollection<Value>
    let id: String
    let fetches: Bool

    /// Begins to observe at the first call of `next`.
    public func makeAsyncIterator() -> Iterator { Iterator(sequence: self) }

    /// Observes for as long as it lives.
    public struct Iterator: AsyncIteratorProtocol {
        let sequence: Snapshots
        private var observer: KeyObserver?
        private var stream: AsyncStream<CachedValue>.Iterator?

        init(sequence: Snapshots) { self.sequence = sequence }

        /// The next snapshot; `nil` when the client has stopped or the task was cancelled.
        public mutating func next() async throws -> Snapshot<Value>? {
            let client = sequence.collection.client
            if stream == nil {
                let key = try sequence.collection.key(sequence.id)
                let (observer, stream) = try await client.engine.observe(key, fetches: sequence.fetches)
                self.observer = observer
                self.stream = stream.makeAsyncIterator()
            }
            guard let value = await stream?.next() else { return nil }
            return observer.map { Snapshot($0.hit(value, client.engine.memory), sequence.collection.codec) }
        }
    }
}

/// A collection's snapshots, from now on. Made by ``SyncedCollection/snapshots(policy:)``.
public struct CollectionSnapshots<Value: Sendable>: AsyncSequence, Sendable {
    let collection: SyncedCollection<Value>
    let fetches: Bool

    /// Begins to observe at the first call of `next`.
    public func makeAsyncIterator() -> Iterator { Iterator(sequence: self) }

    /// Observes for as long as it lives.
    public struct Iterator: AsyncIteratorProtocol {
        let sequence: CollectionSnapshots
        private var observer: CollectionObserver?
        private var signals: AsyncStream<Void>.Iterator?

        init(sequence: CollectionSnapshots) { self.sequence = sequence }

        /// All records as they are now; `nil` when the client has stopped or the task was cancelled.
        public mutating func next() async throws -> [Snapshot<Value>]? {
            let (client, codec) = (sequence.collection.client, sequence.collection.codec)
            if observer == nil {
                let name = try sequence.collection.checkedName()
                let (observer, stream) = try await client.engine.observe(collection: name, fetches: sequence.fetches)
                self.observer = observer
                signals = stream.makeAsyncIterator()
            }
            guard await signals?.next() != nil else { return nil }
            return observer?.snapshots(client.engine.memory, codec)
        }
    }
}
