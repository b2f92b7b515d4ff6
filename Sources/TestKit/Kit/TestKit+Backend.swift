internal import FreshetClient
internal import FreshetServer
public import FreshetWire

extension TestKit {
    /// The server's own records of a collection, read and written as by a backend: without the network and without any
    /// faults.
    ///
    /// - Parameter name: `[A-Za-z0-9._-]{1,64}`; another name fails at the first use, with
    ///   ``TestKitError/invalidName(_:)``.
    public func backend<Value: Codable & Sendable>(_ name: String, of type: Value.Type = Value.self) -> BackendCollection<Value> {
        BackendCollection(name: name, codec: ValueCodec.json(), kit: self)
    }

    /// Notifies all devices that records have changed in the system that owns them: the devices evict the records and
    /// fetch them again.
    @discardableResult
    public func invalidate(_ scopes: InvalidationScope...) async throws -> Revision {
        try await backendCall { try await control.invalidate(scopes, in: namespaceID) }
    }

    /// The position of the namespace on the server.
    public func cursor() async throws -> Cursor { try await backendCall { try await control.cursor(of: namespaceID) } }

    /// Begins a new history with the same records, as after a restore from a backup: from then on all cursors have
    /// another epoch.
    ///
    /// - Throws: ``TestKitError/refused(_:)`` if nothing was ever written.
    public func reset() async throws {
        guard try await backendCall({ try await control.reset(namespaceID) }) else {
            throw TestKitError.refused(Problem(.notFound, "nothing was ever written to \(namespace), so it has no history to end"))
        }
    }

    /// Discards all tombstones and invalidations now, so that a device that has not seen them has to verify all its
    /// records.
    ///
    /// - Returns: how many were discarded.
    @discardableResult
    public func compact() async throws -> Int { try await backendCall { try await control.compact(namespaceID) } }
}

/// The server's records of a collection. It retains its kit. Made by ``TestKit/backend(_:of:)``.
public struct BackendCollection<Value: Sendable>: Sendable {
    /// The collection's name.
    public let name: String
    let codec: ValueCodec<Value>
    /// Retained, since a kit that is released removes its records: some tests keep no more of a kit than
    /// `try TestKit().notes`.
    let kit: TestKit

    /// Stores a value, and returns its revision.
    @discardableResult
    public func setValue(_ value: Value, forKey id: String) async throws -> Revision? {
        let content: Content
        do { content = try codec.content(of: value) } catch { throw TestKitError.notCodable("\(name)/\(id): \(error)") }
        return try await write(id, .put(content))
    }

    /// Removes a record. Throws ``TestKitError/refused(_:)`` if there is none.
    @discardableResult
    public func removeValue(forKey id: String) async throws -> Revision? { try await write(id, .delete) }

    /// The value, or `nil` where there is no record.
    public func value(forKey id: String) async throws -> Value? {
        let key = try key(id)
        return try await kit.backendCall { try await kit.control.record(key, in: kit.namespaceID) }.flatMap(decoded)
    }

    /// All records, in the order of their ids' bytes. A record that does not decode is among them, with
    /// ``BackendRecord/decodingError``.
    public func all() async throws -> [BackendRecord<Value>] {
        _ = try key("1")
        let records = try await kit.backendCall { try await kit.control.records(in: name, of: kit.namespaceID) }
        return records.compactMap { BackendRecord($0, codec) }.sorted { $0.key < $1.key }
    }

    private func write(_ id: String, _ operation: WriteOperation) async throws -> Revision? {
        let key = try key(id)
        return try await kit.backendCall { try await kit.control.write(key, operation, in: kit.namespaceID) }
    }

    private func key(_ id: String) throws(TestKitError) -> RecordKey {
        do throws(WireError) { return try RecordKey(collection: name, id: id) } catch { throw .invalidName(error.description) }
    }

    private func decoded(_ record: Record) throws(TestKitError) -> Value? {
        guard let record = BackendRecord(record, codec) else { return nil }
        if let error = record.decodingError { throw error }
        return record.value
    }
}

extension TestKit {
    /// Converts the server's errors to the kit's. A closed kit has no records: a write would create its namespace again.
    fileprivate func backendCall<Value>(_ body: () async throws -> Value) async throws(TestKitError) -> Value {
        try checkIsOpen()
        do { return try await body() } catch let problem as Problem { throw .refused(problem) } catch { throw .storeFailed("\(error)") }
    }
}
