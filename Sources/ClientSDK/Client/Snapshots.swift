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
    /// Many changes at once make one element. Each costs O(n log n) in the number of records; values are decoded once each.
    public func snapshots(policy: ReadPolicy = .cacheElseNetwork) -> CollectionSnapshots<Value> {
        CollectionSnapshots(collection: self, fetches: policy != .cacheOnly)
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
