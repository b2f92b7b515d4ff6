public import FreshetWire

extension SyncClient {
    /// A write that the server rejected and that was rolled back, with the user's intent.
    public struct Rejection: Hashable, Sendable, Identifiable {
        /// The device's number of the write, as in ``PendingWrite/number``, or of the merge that replaced it.
        public var number: Int64
        /// The record of the write.
        public var key: RecordKey
        /// The rejected operation, with its value.
        public var operation: WriteOperation
        /// Why it was rejected, with the record at that time, where it is known.
        public var problem: Problem
        /// When the user wrote it, by this device's wall clock.
        public var written: Timestamp
        /// When this device received the rejection, by its wall clock.
        public var rejected: Timestamp

        /// ``number``: unique until the client is cleared.
        public var id: Int64 { number }

        init(_ write: RejectedWrite) {
            number = write.writeID.number
            key = write.key
            operation = write.operation
            problem = write.problem
            written = write.created
            rejected = write.rejected
        }
    }
}

/// The rejected writes of a client that wait to be retried or discarded, oldest first: the present list, and a new one
/// after each change.
///
/// They stay on disk, also over restarts, until ``retry(_:onConflict:)``, ``discard(_:)`` or
/// ``SyncClient/clear(keepingOutbox:andStop:)``. At most 1,000 are kept, and 16 MiB of them unless a single one is larger. Beyond
/// these limits the oldest are dropped, which the log and ``SyncClient/Status/droppedRejections`` report.
///
/// ```swift
/// for try await rejected in client.rejections {
///     for rejection in rejected {
///         print(rejection.key, rejection.operation, rejection.problem)
///         try await client.rejections.discard(rejection)
///     }
/// }
/// ```
/// A sequence ends when the client stops, and throws ``ClientError/stopped`` at once if the client is not running. A
/// slow consumer receives only the latest list. All members may be used from any thread or task.
public struct Rejections: AsyncSequence, Sendable {
    let client: SyncClient

    /// Returns the rejected writes, oldest first. O(their bytes).
    /// - Throws: ``ClientError/stopped``, or a failure of the disk.
    public func all() async throws -> [SyncClient.Rejection] { try await client.engine.rejectedWrites().map(SyncClient.Rejection.init) }

    /// Repeats a rejected write as a new write, which is shown and durable when this returns. The rejection leaves the
    /// list in the same transaction, so the write is made once, even if the process ends in between.
    ///
    /// ``SyncedCollection/retry(_:with:onConflict:)`` writes another value.
    ///
    /// - Parameter onConflict: by default the policy of the first write. The record is compared with the state that
    ///   this device knows now.
    /// - Throws: ``ClientError/unknownRejection(_:)`` if it was retried or discarded already;
    ///   ``ClientError/cannotApply(_:)`` if the present value cannot take the operation; and the errors of
    ///   ``SyncedCollection/setValue(_:forKey:onConflict:)``. Then the rejection stays.
    @discardableResult
    public func retry(_ rejection: SyncClient.Rejection, onConflict: OnConflict? = nil) async throws -> PendingWrite {
        let policy = try onConflict.map { try client.policy($0, rejection.key.collection) }
        return try await client.engine.retry(rejection, nil, policy)
    }

    /// Discards a rejected write: it leaves the list, and is off the disk when this returns.
    /// - Throws: ``ClientError/unknownRejection(_:)`` if it was retried or discarded already, ``ClientError/stopped``,
    ///   ``ClientError/cleared``, or a failure of the disk; then it stays.
    public func discard(_ rejection: SyncClient.Rejection) async throws { try await client.engine.discard(rejection) }

    /// Makes an iterator that begins to observe at the first call of `next`.
    public func makeAsyncIterator() -> Iterator { Iterator(client: client) }

    /// Observes until it is released.
    public struct Iterator: AsyncIteratorProtocol {
        let client: SyncClient
        private var signals: AsyncStream<Void>.Iterator?

        init(client: SyncClient) { self.client = client }

        /// Returns the present list of rejected writes; `nil` when the client has stopped or the task was cancelled.
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
    /// Returns the value that a rejected write of this collection was to put; `nil` for a patch, an increment or a removal.
    /// - Throws: ``ClientError/notDecodable(key:_:)``.
    public func value(of rejection: SyncClient.Rejection) throws -> Value? {
        guard case .put(let content) = rejection.operation else { return nil }
        do {
            return try codec.decode(content)
        } catch {
            throw ClientError.notDecodable(key: rejection.key.description, "\(error)")
        }
    }

    /// Writes another value in place of a rejected write of this collection, as ``Rejections/retry(_:onConflict:)``
    /// repeats the same one.
    ///
    /// - Parameter onConflict: by default the policy of the first write.
    /// - Throws: ``ClientError/invalidName(_:)`` if the rejected write is of another collection, and the errors of
    ///   ``Rejections/retry(_:onConflict:)``.
    @discardableResult
    public func retry(
        _ rejection: SyncClient.Rejection, with value: Value, onConflict: OnConflict? = nil
    ) async throws -> PendingWrite {
        guard rejection.key.collection == name else {
            throw ClientError.invalidName("the rejected write is of \(rejection.key), not of the collection '\(name)'")
        }
        let policy = try onConflict.map { try client.policy($0, name) }
        return try await client.engine.retry(rejection, .put(try codec.content(of: value)), policy)
    }
}
