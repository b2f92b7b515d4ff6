internal import FreshetSQLite

/// Checks of single rows, and of the file's free pages.
extension DiskDatabase {
    /// Whether an entry may be returned.
    enum State: Hashable, Sendable {
        case sound
        /// Its lifetime is over.
        case over
        /// Its record, or the file of its value, differs from the bytes that were written.
        case damaged
    }

    /// The state of a row, and its key as far as it is known. A row that is not there is sound: there is nothing to do.
    func state(of number: KeyHash, now: Int64) throws -> (State, key: [UInt8]) {
        let key = try connection.withStatement("SELECT key FROM entry WHERE id = ?1") { statement in
            try statement.bind(1, number.value)
            return try statement.step() ? statement.bytes(0) : nil
        }
        let stored = try connection.withStatement("SELECT record FROM value WHERE id = ?1") { statement in
            try statement.bind(1, number.value)
            return try statement.step() ? statement.bytes(0) : nil
        }
        guard let stored else { return (key == nil ? .sound : .damaged, key ?? []) }
        guard let key, KeyHash(key) == number,
            let record = stored.withUnsafeBytes({ bytes in
                key.withUnsafeBytes { DiskRecord.decode(bytes, key: $0) }
            })
        else { return (.damaged, key ?? []) }
        let used = try connection.withStatement("SELECT touched FROM entry WHERE id = ?1") { statement in
            try statement.bind(1, number.value)
            return try statement.step() ? statement.int64(0) : 0
        }
        guard record.head.deadline.isOpen(at: now, stored: record.head.verified, used: used) else { return (.over, key) }
        if case .file(let unique, let count, let checksum) = record.location {
            guard let bytes = files.read(number, unique, count: count), DiskRecord.checksum(file: bytes) == checksum else {
                return (.damaged, key)
            }
        }
        return (.sound, key)
    }

    /// The unique number of the file that holds the row's value; `nil` if none does.
    func file(of number: KeyHash) throws -> UInt64? {
        try connection.withStatement("SELECT file FROM entry WHERE id = ?1") { statement in
            try statement.bind(1, number.value)
            guard try statement.step() else { return nil }
            return statement.optionalInt64(0).map { UInt64(bitPattern: $0) }
        }
    }

    /// Gives free pages back to the file system where they are many: some at a time.
    func giveBackPages() throws {
        guard let free = try connection.pragma("freelist_count").flatMap({ Int($0) }), free > 1_024,
            let pages = try connection.pragma("page_count").flatMap({ Int($0) }), free > pages / 4
        else { return }
        try connection.execute("PRAGMA incremental_vacuum(512)")
    }
}
