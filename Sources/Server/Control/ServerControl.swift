package import FreshetSocketHTTP
package import FreshetWire
package import HTTPTypes

/// Controls a running server in the same process for a test, without HTTP.
package struct ServerControl: Sendable {
    private let core: ServerCore

    /// `nil` unless the server runs.
    package init?(_ server: RecordServer) {
        guard let core = server.core else { return nil }
        self.core = core
    }

    // MARK: Operations

    /// Gives the namespace a new epoch, keeps its records, and returns whether the namespace exists.
    @discardableResult
    package func reset(_ namespace: Namespace) async throws -> Bool {
        try await committed { core.committer.submit(.renewEpoch(of: namespace, seed: core.environment.random(), then: $0)) }
    }

    /// Forgets the namespace's deletes and invalidations, in the store and in memory, and returns how many.
    @discardableResult
    package func compact(_ namespace: Namespace) async throws -> Int {
        var forgotten = 0
        while true {
            let step = try await committed { core.committer.submit(.forgetDeletes(of: namespace, then: $0)) }
            forgotten += step.forgotten
            guard step.isComplete else { continue }
            core.metrics.forgotten.add(forgotten)
            core.feeds.dropRecent(namespace)
            // A reader that waits with a filter may be at a position before the forgotten changes: it gets the current one.
            releaseWaiters(in: namespace)
            return forgotten
        }
    }

    /// Ends all waits of the namespace: polls are answered with their position, and streams end.
    package func releaseWaiters(in namespace: Namespace) { core.feeds.releaseWaiters(in: namespace) }

    /// Removes the namespace.
    package func discard(_ namespace: Namespace) async throws {
        _ = try await committed { core.committer.submit(.drop(namespace, then: $0)) } as Bool
    }

    /// Starts to remove the namespace as ``discard(_:)`` does, without waiting.
    package func discardSoon(_ namespace: Namespace) { core.committer.submit(.drop(namespace) { _ in }) }

    // MARK: Routes of a program around the server

    /// Refuses a request as the server's own routes do: `misdirected-request` or `forbidden`.
    package func checkAccess(_ request: Request) throws(Problem) { try core.check(request) }

    /// JSON that reflects the namespace's position.
    package func response(json: [UInt8], status: HTTPResponse.Status = .ok, in namespace: Namespace) throws -> Response {
        core.marked(Response(json: json, at: try core.store.state(of: namespace).cursor, status: status))
    }

    /// The response to an error, with the namespace's position if there is one.
    package func response(to error: any Error, in namespace: Namespace?) -> Response {
        core.marked(core.response(to: error, at: nil, in: namespace))
    }

    /// The response to a request that no handler saw.
    package func response(to failure: RequestFailure) -> Response { response(to: Problem(failure), in: nil) }

    /// The object of `GET /v1/{ns}`.
    package func status(of namespace: Namespace) throws -> NamespaceStatus { try core.status(of: namespace) }

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
