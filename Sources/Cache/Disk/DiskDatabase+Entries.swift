internal import FreshetSQLite

/// Rows of entries, changed within a transaction.
extension DiskDatabase {
    /// An entry to be stored.
    struct NewEntry {
        var key: [UInt8]
        var number: KeyHash
        var record: DiskRecord
        var tags: [CacheTag]

        /// The size of the value, as it is on the disk.
        var byteCount: Int {
            switch record.location {
            case .inline(let bytes): bytes.count
            case .file(_, let count, _): count
            }
        }
    }

    /// Stores an entry, and replaces any other with the same number. O(log entries).
    func put(_ entry: NewEntry) throws {
        try removeEntry(entry.number)
        let encoded = entry.record.encoded(key: entry.key)
        // Replaces a value without a row in `entry`, too, which damage may have cost.
        try connection.withStatement("INSERT OR REPLACE INTO value(id, record) VALUES (?1, ?2)") { statement in
            try statement.bind(1, entry.number.value)
            try statement.withBound(2, inPlace: encoded) { () throws(SQLiteError) in try statement.run() }
        }
        try connection.withStatement(
            """
            INSERT INTO entry(id, key, bytes, recorded, verified, deadline, sliding, expires, touched, used, encrypted, file, tags)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
            """
        ) { statement in
            let head = entry.record.head
            try statement.bind(1, entry.number.value)
            try statement.bind(2, entry.key)
            try statement.bind(3, entry.byteCount)
            try statement.bind(4, head.recorded)
            try statement.bind(5, head.verified)
            try statement.bind(6, head.deadline.end)
            try statement.bind(7, head.deadline.sliding)
            let expires = head.deadline.expires(stored: head.verified, used: head.verified)
            try statement.bind(8, expires == .max ? nil : expires)
            try statement.bind(9, head.verified)
            try statement.bind(10, nextTick())
            try statement.bind(11, head.isEncrypted ? 1 : 0)
            if case .file(let unique, _, _) = entry.record.location { try statement.bind(12, Int64(bitPattern: unique)) }
            if !entry.tags.isEmpty { try statement.bind(13, DiskTags.encode(entry.tags)) }
            try statement.run()
        }
        for tag in entry.tags { try link(tag, entry.number) }
        let cost = Self.cost(value: entry.byteCount, key: entry.key.count, tags: DiskTags.byteCount(entry.tags))
        // The sums wrap where damage has made them huge; they are then below zero, which is found when they are stored.
        totals.entries &+= 1
        totals.bytes &+= cost
    }

    private func link(_ tag: CacheTag, _ number: KeyHash) throws {
        try connection.withStatement("INSERT OR IGNORE INTO tag(tag, id) VALUES (?1, ?2)") { statement in
            try statement.bind(1, Array(tag.bytes))
            try statement.bind(2, number.value)
            try statement.run()
        }
    }

    /// Removes a row, of any key. O(log entries).
    ///
    /// - Returns: whether there was one.
    @discardableResult
    func remove(_ number: KeyHash) throws -> Bool {
        let wasThere = try removeEntry(number)
        // Also without a row in `entry`, which damage may have cost.
        try delete("DELETE FROM value WHERE id = ?1", number)
        return wasThere
    }

    /// Removes all of a row but its value.
    @discardableResult
    private func removeEntry(_ number: KeyHash) throws -> Bool {
        let old = try connection.withStatement("SELECT bytes, length(key), file, tags FROM entry WHERE id = ?1") { statement in
            try statement.bind(1, number.value)
            guard try statement.step() else { return nil as (Int, Int64?, [UInt8]?)? }
            let tags = statement.optionalBytes(3)
            let cost = Self.cost(value: Int(statement.int64(0)), key: Int(statement.int64(1)), tags: tags?.count ?? 0)
            return (cost, statement.optionalInt64(2), tags)
        }
        if let (cost, file, tags) = old {
            if let file { leftFiles.append((number, UInt64(bitPattern: file))) }
            for tag in tags.map(DiskTags.decode) ?? [] {
                try connection.withStatement("DELETE FROM tag WHERE tag = ?1 AND id = ?2") { statement in
                    try statement.bind(1, Array(tag.bytes))
                    try statement.bind(2, number.value)
                    try statement.run()
                }
            }
            try delete("DELETE FROM entry WHERE id = ?1", number)
            totals.entries &-= 1
            totals.bytes &-= cost
        }
        return old != nil
    }

    private func delete(_ sql: StaticString, _ number: KeyHash) throws {
        try connection.withStatement(sql) { statement in
            try statement.bind(1, number.value)
            try statement.run()
        }
    }

    /// Notes the use of a row. Does nothing if the row is gone.
    func touch(_ number: KeyHash, at now: Int64) throws {
        try connection.withStatement(
            """
            UPDATE entry SET used = ?2, touched = max(touched, ?3),
              expires = CASE WHEN sliding > 0 THEN min(deadline, max(touched, ?3) + sliding) ELSE expires END WHERE id = ?1
            """
        ) { statement in
            try statement.bind(1, number.value)
            try statement.bind(2, nextTick())
            try statement.bind(3, now)
            try statement.run()
        }
    }

    /// The rows that a statement names, at most so many.
    func numbers(_ sql: StaticString, limit: Int, bind: (Statement) throws -> Void = { _ in }) throws -> [KeyHash] {
        try connection.withStatement(sql) { statement in
            try bind(statement)
            var numbers: [KeyHash] = []
            while numbers.count < limit, try statement.step() { numbers.append(KeyHash(row: statement.int64(0))) }
            return numbers
        }
    }

    /// Evicts the least recently used entries until the rest is within the limit, or so many are evicted.
    ///
    /// - Returns: how many were evicted. O(that × log entries): an index has them in order.
    func evict(toBytes limit: Int, atMost most: Int) throws -> Int {
        var count = 0
        while totals.bytes > limit, count < most {
            let batch = try numbers("SELECT id FROM entry ORDER BY used LIMIT 16", limit: 16)
            let before = count
            for number in batch where totals.bytes > limit {
                if try remove(number) { count += 1 }
            }
            if count == before { throw DiskFailure.damage("the sums do not agree with the entries") }
        }
        return count
    }

    /// Removes rows that an index named; if none of them is there, the index is damaged.
    func removeEach(_ numbers: [KeyHash]) throws -> Int {
        var count = 0
        for number in numbers where try remove(number) { count += 1 }
        if count == 0, !numbers.isEmpty { throw DiskFailure.damage("an index does not agree with its entries") }
        return count
    }

    /// Removes expired entries, at most so many.
    func purge(now: Int64, atMost most: Int) throws -> Int {
        let over = try numbers("SELECT id FROM entry WHERE expires <= ?1 ORDER BY expires", limit: most) { try $0.bind(1, now) }
        return try removeEach(over)
    }
}
