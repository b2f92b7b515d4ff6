public import FreshetWire

extension SyncClient {
    /// A write that the server rejected, and what the user wanted; the value shown was rolled back.
    public struct Rejection: Hashable, Sendable, Identifiable {
        /// The device's number of the write, as in ``PendingWrite/number``, or of the merge that was made of it.
        public var number: Int64
        /// What was to be written.
        public var key: RecordKey
        /// What was to be done to it, with the value.
        public var operation: WriteOperation
        /// Why it was rejected, with the record as it then was, where that is known.
        public var problem: Problem
        /// When the user wrote it, by this device's wall clock.
        public var written: Timestamp
        /// When this device learned that it is rejected, by its wall clock.
        public var rejected: Timestamp

        /// ``number``: unique until the client is cleared.
        public var id: Int64 { number }

        init(_ write: RejectedWrite) {
            number = write.receipt.number
            key = write.key
            operation = write.operation
            problem = write.problem
            written = write.created
            rejected = write.rejected
        }
    }
}

/// The rejected writes of a client that wait to be retried or discarded, oldest first: now, and again whenever that has changed.
///
/// They are on disk, over restarts too, until ``retry(_:onConflict:)`` or ``discard(_:)``, or ``SyncClient/clear(andStop:)``. At most 1,000 are kept, and
/// 16 MiB of them unless a single one is larger; then the oldest are dropped, which the log and ``SyncClient/Status/droppedRejections`` say.
///
/// ```swift
/// for try await rejected in client.rejections {
///     for rejection in rejected {
///         print(rejection.key, rejection.operation, rejection.problem)
///         try await client.rejections.discard(rejection)
///     }
/// }
/// ```
/// A sequence ends with the client, and throws ``ClientError/stopped`` at once if that is not running. A slow reader gets the latest list only.
/// All members may be used from any thread or task.
public struct Rejections: AsyncSequence, Sendable {
    let client: SyncClient

    /// The rejected writes, oldest first. O(their bytes).
    /// - Throws: ``ClientError/stopped``, or a failure of the disk.
    public func all() async throws -> [SyncClient.Rejection] { try await client.engine.rejectedWrites().map(SyncClient.Rejection.init) }

    /// Writes the same again. It is a new write, shown and durable when this returns; the rejection leaves the list with the same transaction, so
    /// the write is made once, even if the process ends in between.
    ///
    /// ``SyncedCollection/retry(_:with:onConflict:)`` writes another value.
    ///
    /// - Parameter onConflict: as for the first write unless it is given. What the record is compared with is what this device knows of it now.
    /// - Throws: ``ClientError/unknownRejection(_:)`` where it was retried or discarded already; ``ClientError/cannotApply(_:)`` where the value that is
    ///   there now cannot take the operation; and what ``SyncedCollection/set(_:for:onConflict:)`` throws. Then the rejection stays.
    @discardableResult
    public func retry(_ rejection: SyncClient.Rejection, onConflict: OnConflict? = nil) async throws -> PendingWrite {
        let policy = try onConflict.map { try client.policy($0, rejection.key.collection) }
        return try await client.engine.retry(rejection, nil, policy)
    }

    /// Gives the write up: it leaves the list, and the disk when this returns.
    /// - Throws: ``ClientError/unknownRejection(_:)`` where it was retried or discarded already, ``ClientError/stopped``, ``ClientError/cleared``, or a
    ///   failure of the disk; then it stays.
    public func discard(_ rejection: SyncClient.Rejection) async throws { try await client.engine.discard(rejection) }

    /// Begins to observe at the first call of `next`.
    public func makeAsyncIterator() -> Iterator { Iterator(client: client) }

    /// Observes for as long as it lives.
    public struct Iterator: AsyncIteratorProtocol {
        let client: SyncClient
        private var signals: AsyncStream<Void>.Iterator?

        init(client: SyncClient) { self.client = client }

        /// The rejected writes as they are now; `nil` when the client has stopped or the task was cancelled.
        public mutating func next() async throws -> [SyncClient.Rejection]? {
            if signals == nil { signals = try await client.engine.observeRejections().makeAsyncIterator() }
            guard await signals?.next() != nil else { return nil }
            do {
                return try await client.rejections.all()
            } catch ClientError.stopped {
                return nil
            }
        }
    }
}

extension SyncedCollection {
    /// The value that a rejected write of this collection wanted to put; `nil` for a patch, an increment or a removal.
    /// - Throws: ``ClientError/notDecodable(key:_:)``.
    public func value(of rejection: SyncClient.Rejection) throws -> Value? {
        guard case .put(let content) = rejection.operation else { return nil }
        do {
            return try codec.decode(content)
        } catch {
            throw ClientError.notDecodable(key: rejection.key.description, "\(error)")
        }
    }

    /// Writes another value in the place of a rejected write of this collection, as ``Rejections/retry(_:onConflict:)`` writes the same one again.
    ///
    /// - Parameter onConflict: as for the first write unless it is given.
    /// - Throws: ``ClientError/invalidName(_:)`` where the rejected write is of another collection, and what ``Rejections/retry(_:onConflict:)`` throws.
    @discardableResult
    public func retry(
        _ rejection: SyncClient.Rejection, with value: Value, onConflict: OnConflict? = nil
    ) async throws -> PendingWrite {
        guard rejection.key.collection == name else {
            throw ClientError.invalidName("the rejected write is of \(rejection.key), not of the collection '\(name)'")
        }
        let policy = try onConflict.map { try client.policy($0, name) }
        return try await client.engine.retry(rejection, .put(try encode(value)), policy)
    }
}
