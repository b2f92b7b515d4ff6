internal import FreshetWire

extension SyncedCollection {
    /// Returns the record's present snapshot, and a new one after each change of it. A slow consumer receives only the
    /// latest.
    ///
    /// - Parameter policy: ``ReadPolicy/cacheOnly``, or (the default) whether to fetch the record from the server
    ///   while it is unknown: at first, and after an invalidation. A fetch that fails is repeated with back-off, also if
    ///   the token is refused or the server is overloaded, but not if the record may not be read or is too large.
    /// - Returns: a sequence that ends when the client stops, and throws ``ClientError/stopped`` at once if the client
    ///   is not running, and ``ClientError/notFollowed(_:)`` if it does not follow the record: no change of it would be seen. With
    ///   ``ReadPolicy/cacheOnly`` such a record shows this client's waiting writes alone.
    public func snapshots(forKey id: String, policy: ReadPolicy = .cacheElseNetwork) -> SyncUpdates<Snapshot<Value>> {
        SyncUpdates {
            let (observer, stream) = try await client.engine.observe(try key(id), fetches: policy != .cacheOnly)
            var values = stream.makeAsyncIterator()
            return { await values.next().map { Snapshot(observer.hit($0, client.engine.memory), codec) } }
        }
    }

    /// Returns the records of the collection that this client follows, by id, and again after each change.
    ///
    /// The first element of a client that copies them comes with the first complete copy, so that an empty one means that there are
    /// no records: until then ``SyncClient/Status/firstCopy`` states the progress, and ``ReadPolicy/cacheOnly`` shows what has arrived.
    ///
    /// A client with ``SyncClient/Configuration/Following/cachedRecords`` or with a ``SyncClient/Configuration/diskLimit`` first shows the
    /// records that it holds, if there are any, then lists the collection from the server, reads the missing records, and shows these as
    /// they arrive. If the server cannot be reached, it does so when the client is live again. If the server fails, returns
    /// no valid list or refuses the token, it tries again with back-off. It lists the collection once, and again after all
    /// records have left the device (``SyncClient/clear(keepingOutbox:andStop:)``, a right to read that was withdrawn):
    /// records that others create later appear only if the client follows everything.
    ///
    /// Many simultaneous changes make one element, and the changes of one page of the feed, such as an atomic batch,
    /// come together. Each element costs O(records); each value is decoded once. For a large collection,
    /// ``changes(policy:)`` costs less.
    ///
    /// - Parameter policy: ``ReadPolicy/cacheOnly``, or (the default) whether to list the collection, and to read
    ///   evicted records again.
    /// - Returns: a sequence that ends when the client stops, and throws ``ClientError/stopped`` at once if the client
    ///   is not running, and ``ClientError/notFollowed(_:)`` if it follows nothing of the collection.
    public func snapshots(policy: ReadPolicy = .cacheElseNetwork) -> SyncUpdates<[Snapshot<Value>]> {
        SyncUpdates {
            let (observer, stream) = try await client.engine.observe(collection: try checkedName(), fetches: policy != .cacheOnly)
            var signals = stream.makeAsyncIterator()
            return { await signals.next() == nil ? nil : observer.snapshots(client.engine.memory, codec) }
        }
    }

    /// Returns the records of the collection that are known on this device, and then each change, as ``CollectionChange``s.
    ///
    /// The first element comes as that of ``snapshots(policy:)``. Records that a client reads after it come as inserted.
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
    ///   is not running, and ``ClientError/notFollowed(_:)`` if it follows nothing of the collection.
    public func changes(policy: ReadPolicy = .cacheElseNetwork) -> SyncUpdates<CollectionChange<Value>> {
        SyncUpdates {
            let (observer, stream) = try await client.engine.observe(collection: try checkedName(), fetches: policy != .cacheOnly)
            var signals = stream.makeAsyncIterator()
            var isInitial = true
            return {
                while await signals.next() != nil {
                    let (difference, rule) = observer.changes(client.engine.memory)
                    guard isInitial || !difference.isEmpty else { continue }
                    defer { isInitial = false }
                    return change(difference, rule, isInitial: isInitial)
                }
                return nil
            }
        }
    }

    private func change(_ difference: CollectionObserver.Difference, _ rule: FreshnessState, isInitial: Bool) -> CollectionChange<Value> {
        func snapshot(_ value: CachedValue) -> Snapshot<Value> {
            Snapshot(MemoryTier.Hit(value: value, freshness: rule.of(value.view)), codec)
        }
        return CollectionChange(
            isInitial: isInitial, inserted: difference.inserted.map(snapshot), updated: difference.updated.map(snapshot),
            removed: difference.removed.map(\.id))
    }
}
