internal import FreshetWire

/// A collection's snapshots, made by ``SyncedCollection/snapshots(policy:)``.
public struct CollectionSnapshots<Value: Sendable>: AsyncSequence, Sendable {
    let collection: SyncedCollection<Value>
    let fetches: Bool

    /// Makes an iterator that begins to observe at the first call of `next`.
    public func makeAsyncIterator() -> Iterator { Iterator(sequence: self) }

    /// Observes until it is released.
    public struct Iterator: AsyncIteratorProtocol {
        let sequence: CollectionSnapshots
        private var observer: CollectionObserver?
        private var signals: AsyncStream<Void>.Iterator?

        init(sequence: CollectionSnapshots) { self.sequence = sequence }

        /// Returns the present state of all records; `nil` when the client has stopped or the task was cancelled.
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
