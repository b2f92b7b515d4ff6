internal import FreshetWire

extension SyncedCollection {
    /// Writes a value. When this returns, the value is on disk and shown as pending to all readers and observers of
    /// this client. The server gets it exactly once, as soon as it can be reached.
    ///
    /// - Returns: the pending write, whose outcome can be awaited.
    /// - Throws: ``ClientError/diskFull(path:)`` and other failures of the disk: then nothing was written.
    ///   ``ClientError/notEncodable(_:)``, also for a `Content` whose type is no media type, or whose type is
    ///   `application/json` and whose bytes are not JSON; ``ClientError/invalidName(_:)``, ``ClientError/stopped``;
    ///   ``ClientError/baseUnknown(key:)`` for policies other than the default.
    @discardableResult
    public func setValue(_ value: Value, forKey id: String, onConflict: OnConflict = .lastWriterWins) async throws -> PendingWrite {
        try await write(id, .put(try codec.content(of: value)), onConflict)
    }

    /// Merges a patch into the record (RFC 7396): members of the patch replace the record's, `null` removes one, the
    /// others stay.
    ///
    /// The patch is any encodable value, such as a dictionary, or a type that leaves out its missing members. The
    /// server rejects a patch of a record that does not exist.
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

    /// Removes the record. If there is none, the removal is confirmed without effect.
    @discardableResult
    public func removeValue(forKey id: String, onConflict: OnConflict = .lastWriterWins) async throws -> PendingWrite {
        try await write(id, .delete, onConflict)
    }

    /// - Parameter operation: with contents from ``ValueCodec/content(of:)``, or with a patch that was checked.
    func write(
        _ id: String, _ operation: WriteOperation, _ onConflict: OnConflict, rejectsIfGone: Bool = false
    ) async throws -> PendingWrite {
        try await client.engine.write(key(id), operation, try client.policy(onConflict, name), rejectsIfGone: rejectsIfGone)
    }
}

extension SyncClient {
    /// Returns the machine's policy for conflicts in the collection.
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
