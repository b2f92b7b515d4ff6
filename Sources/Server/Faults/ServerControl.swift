package import FreshetWire

/// Controls a running server in the same process for a test, past HTTP and so past all faults.
package struct ServerControl: Sendable {
    private let core: ServerCore
    private let board: FaultBoard

    /// `nil` unless the server runs and takes faults.
    package init?(_ server: RecordServer) {
        guard let core = server.core, let board = core.faults else { return nil }
        self.core = core
        self.board = board
    }

    // MARK: Faults

    @discardableResult
    package func arm(_ fault: Fault, in namespace: Namespace) -> ArmedFault { core.arm(fault, in: namespace, board) }

    /// Disarms all faults of the namespace, and returns how many would still have struck.
    @discardableResult
    package func lift(_ namespace: Namespace) -> Int { board.lift(namespace) }

    package func armed(in namespace: Namespace) -> [ArmedFault] { board.armed(in: namespace) }

    /// Yields at once, and whenever a fault was armed, has struck or was lifted. Ends when the namespace is discarded.
    package func faultEvents(in namespace: Namespace) -> AsyncStream<Void> { board.follow(namespace) }

    // MARK: Operations

    /// Gives the namespace a new epoch, and returns whether the namespace exists.
    @discardableResult
    package func reset(_ namespace: Namespace) async throws -> Bool {
        try await committed { core.reset(namespace, then: $0) }
    }

    /// Forgets the namespace's deletes and invalidations, and returns how many.
    @discardableResult
    package func compact(_ namespace: Namespace) async throws -> Int {
        try await committed { core.compact(namespace, then: $0) }
    }

    /// Removes the namespace and its faults.
    package func discard(_ namespace: Namespace) async throws {
        board.forget(namespace)
        _ = try await committed { core.committer.submit(.drop(namespace, then: $0)) } as Bool
    }

    /// Starts to discard the namespace as ``discard(_:)`` does, without waiting.
    package func discardSoon(_ namespace: Namespace) {
        board.forget(namespace)
        core.committer.submit(.drop(namespace) { _ in })
    }

    // MARK: Records

    /// Writes without a number, as `PUT`, `PATCH` or `DELETE` do.
    @discardableResult
    package func write(_ key: RecordKey, _ operation: WriteOperation, in namespace: Namespace) async throws -> Revision? {
        let receipt = try await committed {
            core.committer.submit(.single(SingleWrite(key: key, operation: operation), in: namespace, then: $0))
        }
        return receipt.revision
    }

    /// Notifies all clients that the records in these scopes have changed elsewhere.
    @discardableResult
    package func invalidate(_ scopes: [InvalidationScope], in namespace: Namespace) async throws -> Revision {
        try await committed { core.committer.submit(.invalidate(scopes, in: namespace, then: $0)) }
    }

    package func record(_ key: RecordKey, in namespace: Namespace) async throws -> Record? {
        try await read { try $0.record(key, in: namespace).value }
    }

    /// All records of a collection, by id.
    package func records(in collection: String, of namespace: Namespace) async throws -> [Record] {
        try await read { store in
            var records: [Record] = []
            var after: String?
            repeat {
                let slice = try store.records(ListQuery(collection: collection, after: after, limit: 1_000), in: namespace).value
                records += slice.records
                after = slice.next
            } while after != nil
            return records
        }
    }

    /// The namespace's position.
    package func cursor(of namespace: Namespace) async throws -> Cursor {
        try await read { try $0.state(of: namespace).cursor }
    }

    /// Whether the feed has a change after the position that the filter matches, or cannot be followed from there.
    package func hasNews(after cursor: Cursor, for filter: ChangeFilter, in namespace: Namespace) async throws -> Bool {
        try await read { store in
            var position = cursor
            while true {
                let query = ChangeQuery(since: .after(position), filter: filter, limit: 1, inlineLimit: -1)
                guard case .changes(let scanned) = try store.changes(query, in: namespace).value, scanned.changes.isEmpty else {
                    return true
                }
                if scanned.isComplete { return false }
                position = scanned.reached
            }
        }
    }

    private func committed<Value: Sendable>(_ submit: (@escaping @Sendable (Committed<Value>) -> Void) -> Void) async throws -> Value {
        let committed = await withCheckedContinuation { continuation in submit { continuation.resume(returning: $0) } }
        return try committed.result.get()
    }

    /// Runs the closure on the read queue, since the store may block on the disk.
    private func read<Value: Sendable>(_ body: @escaping @Sendable (any RecordStore) throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            _ = core.reads.submit(isContinuation: true) { continuation.resume(with: Result { try body(core.store) }) }
        }
    }
}
