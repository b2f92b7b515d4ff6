internal import FreshetWire

extension SyncedCollection {
    /// Writes a value. When this returns, it is on disk and shown as pending, here and to all observers; the server gets it as soon as
    /// it can be reached, exactly once.
    ///
    /// - Returns: the receipt, whose verdict can be awaited.
    /// - Throws: ``ClientError/diskFull(path:)`` and other failures of the disk: then nothing was written. ``ClientError/notEncodable(_:)``,
    ///   ``ClientError/invalidName(_:)``, ``ClientError/stopped``; ``ClientError/baseUnknown(key:)`` for other policies than the default.
    @discardableResult
    public func set(_ value: Value, for id: String, onConflict: OnConflict = .lastWriterWins) async throws -> PendingWrite {
        try await write(id, .put(try encode(value)), onConflict)
    }

    func encode(_ value: Value) throws(ClientError) -> Content {
        do {
            return try codec.encode(value)
        } catch {
            throw .notEncodable("\(error)")
        }
    }

    /// Merges a patch into the record (RFC 7396): members that are there replace, `null` removes, the others stay.
    ///
    /// The patch is any encodable value, such as a dictionary, or a type whose missing members are left out. The server rejects a patch
    /// of a record that does not exist.
    @discardableResult
    public func merge(
        _ patch: some Encodable & Sendable, into id: String, onConflict: OnConflict = .lastWriterWins
    ) async throws -> PendingWrite {
        try await merge(json: try JSONPatch.encode(patch), into: id, onConflict: onConflict)
    }

    /// As ``merge(_:into:onConflict:)``, with a patch that is JSON already, for example to set members to `null`.
    @discardableResult
    public func merge(json patch: [UInt8], into id: String, onConflict: OnConflict = .lastWriterWins) async throws -> PendingWrite {
        do {
            try JSONReader.validate(patch)
        } catch {
            throw ClientError.notEncodable("the patch is not JSON: \(error)")
        }
        return try await write(id, .patch(patch), onConflict)
    }

    /// Removes the record. Without effect, and confirmed as such, where there is none.
    @discardableResult
    public func remove(_ id: String, onConflict: OnConflict = .lastWriterWins) async throws -> PendingWrite {
        try await write(id, .delete, onConflict)
    }

    func write(
        _ id: String, _ operation: WriteOperation, _ onConflict: OnConflict, rejectsIfGone: Bool = false
    ) async throws -> PendingWrite {
        try await client.engine.write(key(id), operation, try client.policy(onConflict, name), rejectsIfGone: rejectsIfGone)
    }
}

extension SyncClient {
    /// What the machine is to do about a conflict in the collection.
    func policy(_ onConflict: OnConflict, _ collection: String) throws(ClientError) -> ConflictPolicy {
        switch onConflict {
        case .lastWriterWins: return .lastWriterWins
        case .rejectIfChanged: return .rejectIfChanged
        case .merge:
            let merge = MergeName(collection)
            guard engine.merges[merge] != nil else {
                throw .invalidConfiguration(
                    "the collection '\(collection)' has no merge closure: give one to client.collection(_:of:merging:)")
            }
            return .merge(merge)
        }
    }
}
