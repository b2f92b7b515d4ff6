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
        let content: Content
        do {
            content = try codec.encode(value)
        } catch {
            throw ClientError.notEncodable("\(error)")
        }
        return try await write(id, .put(content), onConflict)
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

    /// Adds to a number in the record, whoever else adds to it at the same time. Record and member begin from 0 where they are missing.
    ///
    /// ```swift
    /// try await pages.increment("/visits", of: "home")
    /// ```
    /// - Parameter path: a JSON pointer (RFC 6901) to the number; empty for the whole value.
    @discardableResult
    public func increment(_ path: String, by amount: Int = 1, of id: String) async throws -> PendingWrite {
        try await increment(path, by: .integer(Int64(amount)), of: id)
    }

    /// As ``increment(_:by:of:)-(_,Int,_)``, by a fraction; it must be finite.
    @discardableResult
    public func increment(_ path: String, by amount: Double, of id: String) async throws -> PendingWrite {
        guard amount.isFinite else { throw ClientError.notEncodable("\(amount) is no JSON number: an increment takes a finite one") }
        return try await increment(path, by: .real(amount), of: id)
    }

    private func increment(_ path: String, by amount: JSONNumber, of id: String) async throws -> PendingWrite {
        let pointer: JSONPointer
        do {
            pointer = try JSONPointer(path)
        } catch {
            throw ClientError.invalidName("\(error)")
        }
        return try await write(id, .increment(path: pointer, by: amount), .lastWriterWins)
    }

    private func write(_ id: String, _ operation: WriteOperation, _ onConflict: OnConflict) async throws -> PendingWrite {
        let policy: ConflictPolicy
        switch onConflict {
        case .lastWriterWins: policy = .lastWriterWins
        case .rejectIfChanged: policy = .rejectIfChanged
        case .merge:
            let merge = MergeName(name)
            guard client.engine.merges[merge] != nil else {
                throw ClientError.invalidConfiguration(
                    "the collection '\(name)' has no merge closure: give one to client.collection(_:of:merging:)")
            }
            policy = .merge(merge)
        }
        return try await client.engine.write(key(id), operation, policy)
    }
}
