internal import FreshetSQLite

/// Changes of entries that are there, within a transaction.
extension DiskDatabase {
    /// Removes an entry unless another process has replaced it since it was listed.
    func removeIfSame(_ entry: DiskEntry) throws -> Bool {
        let number = KeyHash(entry.keyBytes)
        let isSame = try connection.withStatement(
            "SELECT 1 FROM entry WHERE id = ?1 AND key = ?2 AND recorded = ?3 AND verified = ?4 AND bytes = ?5"
        ) { statement in
            try statement.bind(1, number.value)
            try statement.bind(2, entry.keyBytes)
            try statement.bind(3, DiskDeadline.milliseconds(entry.recorded))
            try statement.bind(4, DiskDeadline.milliseconds(entry.verified))
            try statement.bind(5, entry.byteCount)
            return try statement.step()
        }
        return isSame ? try remove(number) : false
    }

    /// Writes another date of verification and another lifetime into an entry that is not over yet.
    func renew(_ key: [UInt8], _ deadline: DiskDeadline, now: Int64) throws -> Bool {
        let number = KeyHash(key)
        let (state, found) = try state(of: number, now: now)
        guard state == .sound, found == key else { return false }
        let record = try connection.withStatement("SELECT record FROM value WHERE id = ?1") { statement in
            try statement.bind(1, number.value)
            guard try statement.step() else { return nil as DiskRecord? }
            return statement.withBytes(0) { bytes in key.withUnsafeBytes { DiskRecord.decode(bytes, key: $0) } }
        }
        guard var record else { return false }
        record.head.verified = now
        record.head.deadline = deadline
        let encoded = record.encoded(key: key)
        try connection.withStatement("UPDATE value SET record = ?2 WHERE id = ?1") { statement in
            try statement.bind(1, number.value)
            try statement.bind(2, encoded)
            try statement.run()
        }
        let expires = deadline.expires(stored: now, used: now)
        try connection.withStatement(
            "UPDATE entry SET verified = ?2, deadline = ?3, sliding = ?4, expires = ?5, touched = ?2, used = ?6 WHERE id = ?1"
        ) { statement in
            try statement.bind(1, number.value)
            try statement.bind(2, now)
            try statement.bind(3, deadline.end)
            try statement.bind(4, deadline.sliding)
            try statement.bind(5, expires == .max ? nil : expires)
            try statement.bind(6, nextTick())
            try statement.run()
        }
        return true
    }
}
