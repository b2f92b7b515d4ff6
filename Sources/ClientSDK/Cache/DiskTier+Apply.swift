internal import FreshetSQLite
internal import FreshetWire

extension DiskTier {
    /// Carries a transaction out, all or nothing.
    ///
    /// - Returns: the indices of the entry operations that had no effect.
    func apply(_ transaction: DiskTransaction) throws -> [Int] {
        try setDurable(transaction.isDurable)
        let unreadable = UnreadableRecords(transaction.entries)
        var mustErase = transaction.removesEntries
        var next = state
        let skipped = try connection.transaction {
            if let client = transaction.clear {
                try empty(["entry", "outbox", "rejection", "used", "watermark"])
                next = SyncState(client: client)
            }
            if transaction.removesRecords { try removeRecords() }
            let skipped = try apply(transaction.entries)
            mustErase = mustErase || transaction.hasErased(skipping: skipped)
            if let unreadable, try removeRecords(unreadable) { mustErase = true }
            for operation in transaction.outbox { try apply(operation) }
            for operation in transaction.rejections { try apply(operation) }
            for change in transaction.state { next.apply(change) }
            if next != state { try store(next) }
            try writeUses(atMost: 32)
            if mustErase { try markUnerased() }
            return skipped
        }
        state = next
        if mustErase { erase() }
        return skipped
    }

    /// Removes everything, or, with `keepsOutbox`, all but the user's writes, if there are any.
    func clear(keepingOutbox keepsOutbox: Bool, newClient: ClientIdentifier, _ settings: SyncSettings) throws {
        let keepsOutbox = keepsOutbox ? try rejections().count + outbox().count(where: \.isPending) > 0 : false
        _ = try apply(
            keepsOutbox
                ? DiskTransaction(id: TransactionID(0), removesRecords: true, state: state.withoutRecords(settings))
                : DiskTransaction(id: TransactionID(0), clear: newClient))
    }

    // MARK: Entries

    /// - Returns: the indices of those that had no effect.
    private func apply(_ operations: [EntryOperation]) throws -> [Int] {
        var skipped: [Int] = []
        var index = 0
        while index < operations.count {
            let hadEffect: Bool
            switch operations[index] {
            case .put(_, let onlyIfCached):
                index = try put(operations, from: index, onlyIfCached: onlyIfCached, &skipped)
                continue
            case .confirm(let confirmation): hadEffect = try confirm(confirmation)
            case .withoutValue(let revalidation, let keepsValue): hadEffect = try withoutValue(revalidation, keepsValue: keepsValue)
            case .invalidate(let scope, let position): hadEffect = try invalidate(scope, at: position)
            case .evict(let scope, let position): hadEffect = try evict(scope, position)
            case .finishPass(let pass, let position): hadEffect = try finishPass(pass, at: position)
            case .remove(let key): hadEffect = try remove(key)
            case .narrow(let filter, _): hadEffect = try narrow(to: filter)
            case .inherit(let inheritance): hadEffect = try inherit(inheritance)
            }
            if !hadEffect { skipped.append(index) }
            index += 1
        }
        return skipped
    }

    /// Stores consecutive entries; implements ``Entry/supersedes(_:)`` in SQL.
    ///
    /// - Returns: the index of the first operation that is not of this kind.
    private func put(_ operations: [EntryOperation], from start: Int, onlyIfCached: Bool, _ skipped: inout [Int]) throws -> Int {
        let update: StaticString = """
            UPDATE entry SET epoch = ?3, revision = ?4, as_of = ?5, pass = ?6, type = ?7, value = ?8, modified = ?9, verified = ?10,
              origin = ?11, invalidated = CASE WHEN epoch = ?3 AND pass = ?6 AND invalidated > ?5 THEN max(invalidated, ifnull(?12, 0)) ELSE ?12 END
            WHERE collection = ?1 AND id = ?2
              AND CASE WHEN epoch = ?3 THEN ?4 >= revision AND (?6 > pass OR (?6 = pass AND ?5 >= as_of)) ELSE ?6 > pass END
            """
        let insertion: StaticString = """
            INSERT INTO entry(collection, id, epoch, revision, as_of, pass, type, value, modified, verified, origin, invalidated)
            VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
            ON CONFLICT(collection, id) DO UPDATE SET epoch = ?3, revision = ?4, as_of = ?5, pass = ?6, type = ?7, value = ?8,
              modified = ?9, verified = ?10, origin = ?11,
              invalidated = CASE WHEN epoch = ?3 AND pass = ?6 AND invalidated > ?5 THEN max(invalidated, ifnull(?12, 0)) ELSE ?12 END
            WHERE CASE WHEN epoch = ?3 THEN ?4 >= revision AND (?6 > pass OR (?6 = pass AND ?5 >= as_of)) ELSE ?6 > pass END
            """
        return try connection.withStatement(onlyIfCached ? update : insertion) { statement in
            var bound: BoundTexts?
            for index in start..<operations.count {
                guard case .put(let entry, onlyIfCached) = operations[index] else { return index }
                let hadEffect = try write(entry, over: &bound, statement)
                if !hadEffect { skipped.append(index) }
            }
            return operations.count
        }
    }

    /// - Parameter bound: the texts of the previous entry of the statement, if any.
    private func write(_ entry: Entry, over bound: inout BoundTexts?, _ statement: Statement) throws -> Bool {
        try Self.bind(entry, over: &bound, to: statement)
        if let content = entry.content {
            try statement.run(8, inPlace: content.bytes)
        } else {
            try statement.bindNull(8)
            try statement.run()
        }
        return connection.changes > 0
    }

    private func confirm(_ revalidation: Revalidation) throws -> Bool {
        try connection.withStatement(
            """
            UPDATE entry SET as_of = max(as_of, ?5), pass = max(pass, ?6), verified = max(verified, ?7),
              invalidated = CASE WHEN invalidated > max(as_of, ?5) THEN invalidated END
            WHERE collection = ?1 AND id = ?2 AND epoch = ?3 AND revision = ?4
            """
        ) { statement in
            try statement.bind(1, revalidation.key.collection)
            try statement.bind(2, revalidation.key.id)
            try statement.bind(3, revalidation.epoch.token)
            try statement.bind(4, revalidation.revision.number)
            try statement.bind(5, revalidation.asOf.number)
            try statement.bind(6, revalidation.pass)
            try statement.bind(7, revalidation.verifiedAt.milliseconds)
            try statement.run()
            return connection.changes > 0
        }
    }

    /// Reads the row and writes it again, since large values are rare.
    private func withoutValue(_ revalidation: Revalidation, keepsValue: Bool) throws -> Bool {
        let stored = try entry(revalidation.key)
        let updated = Entry.withoutValue(revalidation, over: stored, keepsValue: keepsValue)
        guard updated != stored else { return false }
        var bound: BoundTexts?
        try connection.withStatement(
            """
            INSERT OR REPLACE INTO entry(collection, id, epoch, revision, as_of, pass, type, value, modified, verified, origin, invalidated)
            VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
            """
        ) { _ = try write(updated, over: &bound, $0) }
        return true
    }

    private func invalidate(_ scope: InvalidationScope, at position: Cursor) throws -> Bool {
        try change("UPDATE entry SET invalidated = max(ifnull(invalidated, 0), ?2) WHERE epoch = ?1 AND as_of < ?2", in: scope, position)
    }

    private func evict(_ scope: InvalidationScope, _ position: Cursor) throws -> Bool {
        try change("DELETE FROM entry WHERE (epoch <> ?1 OR as_of < ?2)", in: scope, position)
    }

    /// Runs the statement, which already has a condition, on the rows in the scope.
    private func change(_ sql: String, in scope: InvalidationScope, _ position: Cursor) throws -> Bool {
        let condition =
            switch scope {
            case .everything: ""
            case .key: " AND collection = ?3 AND id = ?4"
            case .collection(_, let prefix) where prefix.isEmpty: " AND collection = ?3"
            case .collection(_, let prefix) where prefix.nextAfterAllWithPrefix == nil: " AND collection = ?3 AND id >= ?4"
            case .collection: " AND collection = ?3 AND id >= ?4 AND id < ?5"
            }
        return try connection.withStatement(sql + condition) { statement in
            try statement.bind(1, position.epoch.token)
            try statement.bind(2, position.revision.number)
            switch scope {
            case .everything: break
            case .key(let key):
                try statement.bind(3, key.collection)
                try statement.bind(4, key.id)
            case .collection(let collection, let prefix):
                try statement.bind(3, collection)
                if !prefix.isEmpty { try statement.bind(4, prefix) }
                if !prefix.isEmpty, let end = prefix.nextAfterAllWithPrefix { try statement.bind(5, end) }
            }
            try statement.run()
            return connection.changes > 0
        }
    }

    private func finishPass(_ pass: Int64, at position: Cursor) throws -> Bool {
        let evicted = try connection.withStatement("DELETE FROM entry WHERE pass < ?1 AND (epoch <> ?2 OR as_of < ?3)") { statement in
            try statement.bind(1, pass)
            try statement.bind(2, position.epoch.token)
            try statement.bind(3, position.revision.number)
            try statement.run()
            return connection.changes
        }
        let kept = try connection.withStatement("UPDATE entry SET pass = ?1 WHERE pass < ?1") { statement in
            try statement.bind(1, pass)
            try statement.run()
            return connection.changes
        }
        return evicted + kept > 0
    }

    /// Implements ``Entry/inherited(_:)`` in SQL. The outbox has the written keys.
    private func inherit(_ inheritance: Inheritance) throws -> Bool {
        try connection.withStatement(
            """
            UPDATE entry SET epoch = ?3, as_of = min(as_of, ?2), pass = ?4
            WHERE epoch = ?1 AND pass = ?4 - 1 AND revision <= ?2 AND (invalidated IS NULL OR invalidated <= ?2)
              AND NOT EXISTS (SELECT 1 FROM outbox WHERE outbox.collection = entry.collection AND outbox.id = entry.id)
            """
        ) { statement in
            try statement.bind(1, inheritance.previous.token)
            try statement.bind(2, inheritance.fork.number)
            try statement.bind(3, inheritance.epoch.token)
            try statement.bind(4, inheritance.pass)
            try statement.run()
            return connection.changes > 0
        }
    }

    // MARK: Outbox

    private func apply(_ operation: OutboxOperation) throws {
        switch operation {
        case .put(let row):
            try connection.withStatement("INSERT OR REPLACE INTO outbox(receipt, collection, id, row) VALUES(?1, ?2, ?3, ?4)") {
                statement in
                try statement.bind(1, row.writeID.number)
                try statement.bind(2, row.key.collection)
                try statement.bind(3, row.key.id)
                try statement.bind(4, row.json)
                try statement.run()
            }
        case .remove(let writeID):
            try connection.withStatement("DELETE FROM outbox WHERE receipt = ?1") { statement in
                try statement.bind(1, writeID.number)
                try statement.run()
            }
        case .watermark(let key, let watermark?):
            try connection.withStatement("INSERT OR REPLACE INTO watermark(collection, id, epoch, number) VALUES(?1, ?2, ?3, ?4)") {
                statement in
                try statement.bind(1, key.collection)
                try statement.bind(2, key.id)
                try statement.bind(3, watermark.epoch.token)
                try statement.bind(4, watermark.number)
                try statement.run()
            }
        case .watermark(let key, nil):
            try connection.withStatement("DELETE FROM watermark WHERE collection = ?1 AND id = ?2") { statement in
                try statement.bind(1, key.collection)
                try statement.bind(2, key.id)
                try statement.run()
            }
        }
    }

    private func apply(_ operation: RejectionOperation) throws {
        switch operation {
        case .put(let write):
            try connection.withStatement("INSERT INTO rejection(receipt, size, row) VALUES(?1, ?2, ?3)") { statement in
                try statement.bind(1, write.writeID.number)
                try statement.bind(2, write.size)
                try statement.bind(3, write.json)
                try statement.run()
            }
        case .remove(let writeID):
            try connection.withStatement("DELETE FROM rejection WHERE receipt = ?1") { statement in
                try statement.bind(1, writeID.number)
                try statement.run()
            }
        }
    }

    /// Removes the records, and keeps the user's writes.
    private func removeRecords() throws {
        try empty(["entry", "used"])
        for row in try outbox() where !row.isPending { try apply(OutboxOperation.remove(row.writeID)) }
        try connection.withStatement("DELETE FROM watermark WHERE (collection, id) NOT IN (SELECT collection, id FROM outbox)") {
            try $0.run()
        }
        for rejection in try rejections() where rejection.problem.current != nil { try removeRecord(of: rejection) }
    }

    /// Removes the records from rejected writes. Returns whether there were any.
    private func removeRecords(_ unreadable: UnreadableRecords) throws -> Bool {
        var hasRemoved = false
        for rejection in try rejections() where rejection.problem.current != nil {
            guard unreadable.include(rejection.key, isHeld: try entry(rejection.key) != nil) else { continue }
            try removeRecord(of: rejection)
            hasRemoved = true
        }
        return hasRemoved
    }

    private func removeRecord(of rejection: RejectedWrite) throws {
        var rejection = rejection
        rejection.problem.current = nil
        try connection.withStatement("UPDATE rejection SET size = ?2, row = ?3 WHERE receipt = ?1") { statement in
            try statement.bind(1, rejection.writeID.number)
            try statement.bind(2, rejection.size)
            try statement.bind(3, rejection.json)
            try statement.run()
        }
    }

    private func empty(_ tables: [String]) throws {
        uses = []
        for table in tables { try connection.withStatement("DELETE FROM \(table)") { try $0.run() } }
    }

    func store(_ state: SyncState) throws {
        try connection.withStatement("INSERT OR REPLACE INTO state(only, namespace, state) VALUES(1, ?1, ?2)") { statement in
            try statement.bind(1, namespace.name)
            try statement.bind(2, state.json)
            try statement.run()
        }
    }
}

extension DiskTransaction {
    /// Whether it must survive a loss of power, since it contains data that only this device has. The feed brings its
    /// changes again.
    var isDurable: Bool {
        removesEntries || outbox.contains(where: \.isPut) || state.contains(where: \.isOwn) || rejections.contains(where: \.isRemoval)
    }
}

extension DiskTransaction {
    /// Whether it has removed a value that must not remain in the file, since the device may not read it any more.
    ///
    /// - Parameter skipped: the indices of the entry operations that had no effect, in order.
    fileprivate func hasErased(skipping skipped: [Int]) -> Bool {
        guard entries.contains(where: \.erases) else { return false }
        let ineffective = Set(skipped)
        return entries.indices.contains { entries[$0].erases && !ineffective.contains($0) }
    }
}

extension EntryOperation {
    /// A key that may not be read is evicted whatever its revision; after a change of rights, the end of a pass removes all such keys.
    fileprivate var erases: Bool {
        switch self {
        case .evict(_, let position), .finishPass(_, let position): position.revision == .maximum
        case .put, .confirm, .withoutValue, .invalidate, .remove, .narrow, .inherit: false
        }
    }
}

extension OutboxOperation {
    fileprivate var isPut: Bool { if case .put = self { true } else { false } }
}

extension RejectionOperation {
    /// A rejection that is lost in a loss of power comes again, since the server keeps its verdict; a removed
    /// rejection must not.
    fileprivate var isRemoval: Bool { if case .remove = self { true } else { false } }
}

extension StateChange {
    /// Whether it concerns this device's numbers, which must never be used twice, or the store in which they count.
    fileprivate var isOwn: Bool {
        switch self {
        case .nextNumber, .nextWriteID, .mustReconcile, .store, .renamesAfter, .client, .principal: true
        case .epoch, .cursor, .completeAt, .pass, .revalidation, .scope, .whole, .floor, .droppedRejections: false
        }
    }
}

extension String {
    /// The first text, in the order of UTF-8 bytes, after all texts with this prefix; `nil` if there is none. That
    /// order is also the order of the scalars, so the last scalar that has a successor is replaced by it.
    var nextAfterAllWithPrefix: String? {
        var scalars = Array(unicodeScalars)
        while let last = scalars.popLast() {
            // After U+D7FF come the surrogates, which are no scalars.
            guard let next = Unicode.Scalar(last.value == 0xD7FF ? 0xE000 : last.value + 1) else { continue }
            scalars.append(next)
            var text = String.UnicodeScalarView()
            text.append(contentsOf: scalars)
            return String(text)
        }
        return nil
    }
}
