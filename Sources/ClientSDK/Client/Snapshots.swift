internal import FreshetWire

extension SyncedCollection {
    /// Returns the record's present snapshot, and a new one after each change of it. A slow consumer receives only the
    /// latest.
    ///
    /// - Parameter policy: ``ReadPolicy/cacheOnly``, or (the default) whether to fetch the record from the server
    ///   while it is unknown: at first, and after an invalidation.
    /// - Returns: a sequence that ends when the client stops, and throws ``ClientError/stopped`` at once if the client
    ///   is not running.
    public func snapshots(forKey id: String, policy: ReadPolicy = .cacheElseNetwork) -> Snapshots<Value> {
        Snapshots(collection: self, id: id, fetches: policy != .cacheOnly)
    }

    /// Returns all records of the collection that are known on this device, by id, and again after each change.
    ///
    /// A client that does not hold the whole collection (see ``SyncedCollection/ids(policy:)``) first shows the
    /// records that it holds, then lists the collection from the server, reads the missing records, and shows these as
    /// they arrive. If the server cannot be reached, it does so when the client is live again. It lists the collection
    /// once: records that others create later appear only if the client follows everything.
    ///
    /// Many simultaneous changes make one element, and the changes of one page of the feed, such as an atomic batch,
    /// come together. Each element costs O(records); each value is decoded once. For a large collection,
    /// ``changes(policy:)`` costs less.
    ///
    /// - Parameter policy: ``ReadPolicy/cacheOnly``, or (the default) whether to list the collection, and to read
    ///   evicted records again.
    /// - Returns: a sequence that ends when the client stops, and throws ``ClientError/stopped`` at once if the client
    ///   is not running.
    public func snapshots(policy: ReadPolicy = .cacheElseNetwork) -> CollectionSnapshots<Value> {
        CollectionSnapshots(collection: self, fetches: policy != .cacheOnly)
    }
}

extension SyncedCollection {
    /// Returns the records of the collection that are known on this device, and then each change, as ``CollectionChange``s.
    ///
    /// A client that does not hold the whole collection lists it from the server as ``snapshots(policy:)`` does; the
    /// missing records come as inserted.
    ///
    /// Many simultaneous changes make one element, and the changes of one page of the feed, such as an atomic batch,
    /// come together. The first element costs O(records), later ones O(changes).
    ///
    /// ```swift
    /// var products: [String: Product] = [:]
    /// for try await change in shop.changes() {
    ///     for id in change.removed { products[id] = nil }
    ///     for snapshot in change.inserted + change.updated { products[snapshot.id] = snapshot.value }
    /// }
    /// ```
    ///
    /// - Parameter policy: ``ReadPolicy/cacheOnly``, or (the default) whether to list the collection, and to read
    ///   evicted records again.
    /// - Returns: a sequence that ends when the client stops, and throws ``ClientError/stopped`` at once if the client
    ///   is not running.
    public func changes(policy: ReadPolicy = .cacheElseNetwork) -> CollectionChanges<Value> {
        CollectionChanges(collection: self, fetches: policy != .cacheOnly)
    }
}

/// A collection's changes, made by ``SyncedCollection/changes(policy:)``.
public struct CollectionChanges<Value: Sendable>: AsyncSequence, Sendable {
    let collection: SyncedCollection<Value>
    let fetches: Bool

    /// Makes an iterator that begins to observe at the first call of `next`.
    public func makeAsyncIterator() -> Iterator { Iterator(sequence: self) }

    /// Observes until it is released.
    public struct Iterator: AsyncIteratorProtocol {
        let sequence: CollectionChanges
        private var observer: CollectionObserver?
        private var signals: AsyncStream<Void>.Iterator?

        init(sequence: CollectionChanges) { self.sequence = sequence }

        /// Returns the changes since the last call, never empty except at the first; `nil` when the client has stopped
        /// or the task was cancelled.
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

        private func change(_ difference: CollectionObserver.Difference, _ rule: FreshnessState, isInitial: Bool) -> CollectionChange<Value>
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

/// A record's snapshots, made by ``SyncedCollection/snapshots(forKey:policy:)``.
public struct Snapshots<Value: Sendable>: AsyncSequence, Sendable {
    let collection: SyncedCollection<Value>
    let id: String
    let fetches: Bool

    /// Makes an iterator that begins to observe at the first call of `next`.
    public func makeAsyncIterator() -> Iterator { Iterator(sequence: self) }

    /// Observes until it is released.
    public struct Iterator: AsyncIteratorProtocol {
        let sequence: Snapshots
        private var observer: KeyObserver?
        private var stream: AsyncStream<CachedValue>.Iterator?

        init(sequence: Snapshots) { self.sequence = sequence }

        /// Returns the next snapshot; `nil` when the client has stopped or the task was cancelled.
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
