internal import FreshetSQLite
internal import FreshetWire

/// The work that one step of compaction may still do, so that writes do not wait long for it.
private struct CompactionBudget {
    var rows: Int
    var bytes = 8 << 20

    var isSpent: Bool { rows <= 0 || bytes <= 0 }

    mutating func spend(rows: Int = 1, bytes: Int = 0) {
        self.rows -= rows
        self.bytes -= bytes
    }
}

extension SQLiteRecordTransaction {
    func compact(before time: Timestamp, limit: Int) throws -> Compaction {
        try writer.flush()
        writer.forget()
        var compaction = Compaction()
        var budget = CompactionBudget(rows: limit)
        try forgetTombstones(before: time, &budget, &compaction)
        try forgetInvalidations(before: time, &budget, &compaction)
        compaction.purged += try purge(&budget)
        compaction.isComplete = !budget.isSpent
        return compaction
    }

    func forgetOutcomes(before time: Timestamp, limit: Int) throws -> Compaction {
        try writer.flush()
        writer.forget()
        var compaction = Compaction()
        var budget = CompactionBudget(rows: limit)
        while !budget.isSpent, let (client, namespace) = try idleClient(before: time.day) {
            // Removes all outcomes of a client at once: at most 2,200 of at most 1 KiB.
            let removed = try connection.removeOutcomes(of: client, through: .max)
            try run("UPDATE client SET day = NULL WHERE id = ?", client)
            let isOurs =
                try run(
                    "UPDATE namespace SET outcomes = outcomes - ?, outcome_bytes = outcome_bytes - ? WHERE id = ?",
                    Int64(removed.outcomes), Int64(removed.bytes), namespace) > 0
            if isOurs { compaction.outcomes += removed.outcomes } else { compaction.purged += removed.rows }
            budget.spend(rows: removed.rows + 1, bytes: removed.bytes)
        }
        if budget.rows < limit { writer.forgetClients() }
        compaction.isComplete = !budget.isSpent
        return compaction
    }

    /// The client that has been idle for longest, if it has been idle since before `day` and outcomes of it are kept.
    private func idleClient(before day: Int64) throws -> (client: Int64, namespace: Int64)? {
        try connection.withStatement("SELECT id, namespace FROM client WHERE day < ? ORDER BY day LIMIT 1") { row in
            try row.bind(1, day)
            return try row.step() ? (row.int64(0), row.int64(1)) : nil
        }
    }

    func forgetDeletes(of namespace: Namespace, limit: Int) throws -> Compaction {
        try writer.flush()
        writer.forget()
        guard let id = try NamespaceRow.read(namespace, connection).id else { return Compaction() }
        let deletes = try revisions(
            "SELECT revision FROM record WHERE deleted IS NOT NULL AND namespace = ? ORDER BY revision LIMIT ?", id, limit)
        for revision in deletes { try run("DELETE FROM record WHERE namespace = ? AND revision = ?", id, revision) }
        let invalidations = try revisions(
            "SELECT revision FROM invalidation WHERE namespace = ? ORDER BY revision LIMIT ?", id, limit - deletes.count)
        for revision in invalidations { try run("DELETE FROM invalidation WHERE namespace = ? AND revision = ?", id, revision) }
        let newest = max(deletes.last ?? 0, invalidations.last ?? 0)
        try run(
            """
            UPDATE namespace SET forgotten = max(forgotten, ?), tombstones = tombstones - ?, invalidations = invalidations - ? WHERE id = ?
            """, newest, Int64(deletes.count), Int64(invalidations.count), id)
        let count = deletes.count + invalidations.count
        return Compaction(forgotten: count, isComplete: count < limit)
    }

    func raise(_ mark: RetentionClock.Mark) throws -> RetentionClock.Mark {
        try run("UPDATE store SET retention = max(ifnull(retention, ?1), ?1), wall = max(ifnull(wall, ?2), ?2)", mark.time, mark.wall)
        return try connection.retentionMark() ?? mark
    }

    private func revisions(_ sql: StaticString, _ namespace: Int64, _ limit: Int) throws -> [Int64] {
        try connection.withStatement(sql) { row in
            try row.bind(1, namespace)
            try row.bind(2, limit)
            var revisions: [Int64] = []
            while try row.step() { revisions.append(row.int64(0)) }
            return revisions
        }
    }

    private func forgetTombstones(before time: Timestamp, _ budget: inout CompactionBudget, _ compaction: inout Compaction) throws {
        let rows = try connection.withStatement(
            "SELECT row, namespace, revision FROM record WHERE deleted < ? ORDER BY deleted, namespace, revision LIMIT ?"
        ) { row in
            try row.bind(1, time.milliseconds)
            try row.bind(2, budget.rows)
            var rows: [(row: Int64, namespace: Int64, revision: Int64)] = []
            while try row.step() { rows.append((row.int64(0), row.int64(1), row.int64(2))) }
            return rows
        }
        budget.spend(rows: rows.count)
        for row in rows {
            try run("DELETE FROM record WHERE row = ?", row.row)
            let isOurs =
                try run(
                    "UPDATE namespace SET forgotten = max(forgotten, ?), tombstones = tombstones - 1 WHERE id = ?", row.revision,
                    row.namespace) > 0
            // The others belonged to a namespace that was dropped.
            if isOurs { compaction.forgotten += 1 } else { compaction.purged += 1 }
        }
    }

    private func forgetInvalidations(before time: Timestamp, _ budget: inout CompactionBudget, _ compaction: inout Compaction) throws {
        let rows = try connection.withStatement(
            "SELECT namespace, revision FROM invalidation WHERE since < ? ORDER BY since, namespace, revision LIMIT ?"
        ) { row in
            try row.bind(1, time.milliseconds)
            try row.bind(2, budget.rows)
            var rows: [(namespace: Int64, revision: Int64)] = []
            while try row.step() { rows.append((row.int64(0), row.int64(1))) }
            return rows
        }
        budget.spend(rows: rows.count)
        for row in rows {
            try run("DELETE FROM invalidation WHERE namespace = ? AND revision = ?", row.namespace, row.revision)
            let isOurs =
                try run(
                    "UPDATE namespace SET forgotten = max(forgotten, ?), invalidations = invalidations - 1 WHERE id = ?", row.revision,
                    row.namespace) > 0
            if isOurs { compaction.forgotten += 1 } else { compaction.purged += 1 }
        }
    }

    /// Removes the rows of dropped namespaces.
    private func purge(_ budget: inout CompactionBudget) throws -> Int {
        let before = budget.rows
        while !budget.isSpent {
            let next = try connection.withStatement("SELECT namespace FROM dropped LIMIT 1") { try $0.step() ? $0.int64(0) : nil }
            guard let id = next else { break }
            try purgeRecords(of: id, &budget)
            budget.spend(
                rows: try run(
                    "DELETE FROM invalidation WHERE (namespace, revision) IN (SELECT namespace, revision FROM invalidation WHERE namespace = ? LIMIT ?)",
                    id, Int64(max(budget.rows, 0))))
            try purgeClients(of: id, &budget)
            guard !budget.isSpent else { break }
            budget.spend(rows: try run("DELETE FROM dropped WHERE namespace = ?", id))
        }
        return before - budget.rows
    }

    private func purgeRecords(of namespace: Int64, _ budget: inout CompactionBudget) throws {
        let rows = try connection.withStatement("SELECT row, length(value) FROM record WHERE namespace = ? LIMIT ?") { row in
            try row.bind(1, namespace)
            try row.bind(2, budget.rows)
            var rows: [Int64] = []
            while !budget.isSpent, try row.step() {
                rows.append(row.int64(0))
                budget.spend(bytes: Int(row.int64(1)))
            }
            return rows
        }
        for row in rows { try run("DELETE FROM record WHERE row = ?", row) }
    }

    private func purgeClients(of namespace: Int64, _ budget: inout CompactionBudget) throws {
        while !budget.isSpent {
            let next = try connection.withStatement("SELECT id FROM client WHERE namespace = ? LIMIT 1") { row in
                try row.bind(1, namespace)
                return try row.step() ? row.int64(0) : nil
            }
            guard let client = next else { return }
            let removed = try connection.removeOutcomes(of: client, through: .max)
            try run("DELETE FROM client WHERE id = ?", client)
            budget.spend(rows: removed.rows + 1, bytes: removed.bytes)
        }
    }
}

extension Connection {
    /// What a server has stored of the retention clock; `nil` if none has.
    func retentionMark() throws -> RetentionClock.Mark? {
        try withStatement("SELECT retention, wall FROM store WHERE retention IS NOT NULL") { row in
            try row.step() ? RetentionClock.Mark(time: row.int64(0), wall: row.int64(1)) : nil
        }
    }

    /// The latest of all stamps; `nil` if there is none.
    func latestStamp() throws -> Int64? {
        try withStatement(
            """
            SELECT max(stamp) FROM (
                SELECT max(deleted) AS stamp FROM record WHERE deleted IS NOT NULL
                UNION ALL SELECT max(since) FROM invalidation
                UNION ALL SELECT max(day) * 86400000 FROM client WHERE day IS NOT NULL
            )
            """
        ) { row in try row.step() ? row.optionalInt64(0) : nil }
    }
}
