#if PostgreSQL
internal import FreshetPostgreSQL
internal import FreshetServer
internal import FreshetWire

extension PostgreSQLRecordTransaction {
    func drop(_ namespace: Namespace) throws -> Bool {
        try flush()
        return try connection.run(.drop, Parameters(of: namespace), by: .patient).int64(0, 0) > 0
    }

    func rotateEpochs(seed: UInt64) throws {
        try flush()
        var parameters = Parameters()
        // Without a token the epochs would be the bases.
        parameters.add(seed == 0 ? 1 : Int64(bitPattern: seed))
        _ = try connection.run(.rotate, parameters, by: .patient)
    }

    func renewEpoch(of namespace: Namespace, seed: UInt64) throws -> Bool {
        try flush()
        var parameters = Parameters()
        parameters.add(namespace.name)
        parameters.add(EpochSource(seed: seed).epoch(of: namespace, generation: 0).token)
        return try connection.run(.renewBase, parameters, by: .patient).affectedRows > 0
    }

    // MARK: Access control

    func accessVersion() throws -> AccessVersion {
        guard let version else { throw PostgreSQLError(.misuse, "the version of the access rows was not read") }
        return version
    }

    func accessChanges(after version: AccessVersion?) throws -> AccessChanges { try AccessChanges(after: version, over: connection) }

    func keep(_ row: AccessRow) throws {
        try lockAccess()
        var parameters = Parameters()
        parameters.add(row.kind.rawValue)
        parameters.add(row.name)
        parameters.add(row.value)
        _ = try connection.run(.keepAccess, parameters, by: .patient)
    }

    func remove(_ kind: AccessRow.Kind, named name: String) throws {
        try lockAccess()
        var parameters = Parameters()
        parameters.add(kind.rawValue)
        parameters.add(name)
        _ = try connection.run(.removeAccess, parameters, by: .patient)
    }

    // MARK: Compaction

    func forgetDeletes(of namespace: Namespace, limit: Int) throws -> Compaction {
        try flush()
        let loaded = try connection.exchange(Self.loading([namespace]), by: .patient)
        // One that another server makes just now has nothing to forget.
        guard loaded[0].count == 1, let id = try NamespaceRow(namespace, loaded[1], 0).id else { return Compaction() }
        func first(_ limit: Int) -> Parameters {
            var parameters = Parameters()
            parameters.add(id)
            parameters.add(Int64(limit))
            return parameters
        }
        let tombstones = Forgettable(try connection.run(.tombstonesOf, first(limit), by: .patient), areRecords: true)
        let invalidations = Forgettable(
            try connection.run(.invalidationsOf, first(limit - tombstones.count), by: .patient), areRecords: false)
        let count = try forget(tombstones, invalidations).forgotten
        return Compaction(forgotten: count, isComplete: count < limit)
    }

    func compact(before time: Timestamp, limit: Int) throws -> Compaction {
        try flush()
        var parameters = Parameters()
        parameters.add(time.milliseconds)
        parameters.add(Int64(limit))
        let found = try connection.exchange(
            [Request(.tombstonesBefore, parameters), Request(.invalidationsBefore, parameters)], by: .patient)
        let tombstones = Forgettable(found[0], areRecords: true)
        let invalidations = Forgettable(found[1], areRecords: false, limit: limit - tombstones.count)
        var compaction = try forget(tombstones, invalidations)
        let rest = limit - tombstones.count - invalidations.count
        let purged = try purge(rest)
        compaction.purged += purged
        compaction.isComplete = purged < rest
        return compaction
    }

    func forgetOutcomes(before time: Timestamp, limit: Int) throws -> Compaction {
        try flush()
        // A client has a row of outcomes at least. Many more at once would hold the locks for long.
        let most = min(max(limit / 2, 1), 100)
        var parameters = Parameters()
        parameters.add(time.day)
        parameters.add(Int64(most))
        let idle = try connection.run(.idleClients, parameters, by: .patient)
        guard idle.count > 0 else { return Compaction() }
        let namespaces = try (0..<idle.count).map { try idle.int64($0, 0) }
        var forget = Parameters()
        forget.add(array: namespaces)
        forget.add(array: (0..<idle.count).map { idle.text($0, 1) })
        forget.add(time.day)
        let counts = try connection.exchange([Self.locking(namespaces), Request(.forgetOutcomes, forget)], by: .patient)[1]
        return Compaction(purged: Int(try counts.int64(0, 1)), outcomes: Int(try counts.int64(0, 0)), isComplete: idle.count < most)
    }

    func raise(_ mark: RetentionClock.Mark) throws -> RetentionClock.Mark {
        var parameters = Parameters()
        parameters.add(mark.time)
        return try RetentionClock.Mark(connection.run(.raiseRetention, parameters, by: .patient), from: 0) ?? mark
    }

    private static func locking(_ namespaces: [Int64]) -> Request {
        var parameters = Parameters()
        parameters.add(array: Set(namespaces).sorted())
        return Request(.lockIdentifiers, parameters)
    }

    /// Forgets deletes and invalidations, unless they have changed since they were found.
    private func forget(_ tombstones: Forgettable, _ invalidations: Forgettable) throws -> Compaction {
        guard tombstones.count + invalidations.count > 0 else { return Compaction() }
        let lock = Self.locking(try tombstones.namespaces() + invalidations.namespaces())
        let counts = try connection.exchange(
            [
                lock, Request(.forgetTombstones, try tombstones.parameters()),
                Request(.forgetInvalidations, try invalidations.parameters()),
            ], by: .patient)
        let all = try counts[1].int64(0, 0) + counts[2].int64(0, 0)
        let kept = try counts[1].int64(0, 1) + counts[2].int64(0, 1)
        // The others belonged to a namespace that was dropped.
        return Compaction(forgotten: Int(kept), purged: Int(all - kept))
    }

    /// Removes rows of dropped namespaces, about `limit` of them.
    private func purge(_ limit: Int) throws -> Int {
        var purged = 0
        while purged < limit {
            let next = try connection.run(.nextDropped, by: .patient)
            guard next.count > 0 else { break }
            let most = limit - purged
            var parameters = Parameters()
            parameters.add(try next.int64(0, 0))
            let last = Request(.purged, parameters)
            parameters.add(Int64(most))
            let statements: [Statement] = [.purgeRecords, .purgeInvalidations, .purgeOutcomes, .purgeClients]
            let removed = try connection.exchange(statements.map { Request($0, parameters) }, by: .patient).map(\.affectedRows)
            purged += removed.reduce(0, +)
            guard removed.allSatisfy({ $0 < most }) else { break }
            _ = try connection.exchange([last], by: .patient)
            purged += 1
        }
        return purged
    }
}

/// Rows that may be forgotten, as a statement found them: `namespace, revision` and, of records, `collection, id`.
private struct Forgettable {
    private let rows: QueryResult
    private let areRecords: Bool
    let count: Int

    init(_ rows: QueryResult, areRecords: Bool, limit: Int = .max) {
        self.rows = rows
        self.areRecords = areRecords
        count = min(rows.count, max(limit, 0))
    }

    func namespaces() throws -> [Int64] { try (0..<count).map { try rows.int64($0, 0) } }

    func parameters() throws -> Parameters {
        var parameters = Parameters()
        parameters.add(array: try namespaces())
        parameters.add(array: try (0..<count).map { try rows.int64($0, 1) })
        guard areRecords else { return parameters }
        parameters.add(array: (0..<count).map { rows.text($0, 2) })
        parameters.add(array: (0..<count).map { rows.text($0, 3) })
        return parameters
    }
}
#endif
