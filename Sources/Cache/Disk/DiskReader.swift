internal import FreshetSQLite

/// A connection that reads one generation. A read takes it out of the pool and has it alone until it is given back.
///
/// `@unchecked Sendable`: the pool hands it from thread to thread under its lock, and never to two at once.
final class DiskReader: @unchecked Sendable {
    /// The result of a read.
    enum Outcome {
        case hit(DiskValue, KeyHash, isSliding: Bool)
        case miss
        /// The entry has expired.
        case over(KeyHash)
        /// The record is damaged, or another key's.
        case suspect(KeyHash)
    }

    let generation: UInt32
    let connection: Connection
    let files: DiskFiles
    private let select: Statement
    /// Selects the record and the entry's tags in one snapshot. Prepared when it is needed.
    private var selectTagged: Statement?
    /// The rows that were read since they were last collected, in order.
    var accesses: [KeyHash] = []

    private init(_ connection: Connection, _ files: DiskFiles, generation: UInt32) throws {
        self.connection = connection
        self.generation = generation
        self.files = files
        select = try connection.statement("SELECT record FROM value WHERE id = ?1")
    }

    /// - Parameter largestValue: the most bytes of a value; a larger one is a miss.
    /// - Returns: `nil` if the generation does not exist yet.
    /// - Throws: ``CacheError/schemaChanged(path:)`` if it is another schema's.
    static func open(
        folder: String, generation: UInt32, scope: String, largestValue: Int, pages: ResidentPages
    ) throws -> DiskReader? {
        let path = folder + "/" + DiskSchema.file
        guard DiskFolder.exists(path) else { return nil }
        let connection = try Connection(path: path, mode: .readWrite, nonblockingReads: pages)
        try DiskSchema.prepare(connection)
        try connection.pragma("query_only = ON")
        // Between its first bytes and its tables, another process's new generation is an empty file.
        if try DiskSchema.isEmpty(in: connection) { return nil }
        guard try DiskSchema.scope(in: connection) == scope else { throw CacheError.schemaChanged(path: folder) }
        return try DiskReader(connection, DiskFiles(root: folder, largestValue: largestValue), generation: generation)
    }

    /// Reads one key without waiting for the disk.
    ///
    /// - Returns: `nil` if that is not possible: its pages are not in memory, the value is in a file, or it has to be
    ///   decrypted, which may take any time. Also `nil` if the read failed.
    func readWithoutBlocking(
        _ key: UnsafeRawBufferPointer, _ number: KeyHash, now: Int64, isTagged: Bool, used: (KeyHash) -> Int64?
    ) -> Outcome? {
        connection.nonblocking {
            try read(key, number, now: now, cipher: nil, isTagged: isTagged, mayBlock: false, used: used)
        }
    }

    private struct WouldBlock: Error {}

    /// Reads one key. About 2 µs for a small value in SQLite's memory.
    ///
    /// - Parameters:
    ///   - isTagged: whether the entry's tags are to be read too.
    ///   - used: when a row that each use prolongs was last used, if that is not yet on the disk.
    func read(
        _ key: UnsafeRawBufferPointer, _ number: KeyHash, now: Int64, cipher: (any DiskCipher)?, isTagged: Bool = false,
        mayBlock: Bool = true, used: (KeyHash) -> Int64?
    ) throws -> Outcome {
        var previous: DiskRecord?
        while true {
            var found = false
            var tags: Set<CacheTag>?
            let record = isTagged ? try taggedRecord(key, number, &found, &tags) : try record(key, number, &found)
            guard let record else { return found ? .suspect(number) : .miss }
            let last = record.head.deadline.sliding > 0 ? try used(number) ?? accessLog(number) : record.head.verified
            guard record.head.deadline.isOpen(at: now, stored: record.head.verified, used: last) else { return .over(number) }
            guard mayBlock || record.canBeOpenedAtOnce else { throw WouldBlock() }
            switch record.location {
            case .inline(let bytes): return opened(bytes, record.head, tags, key, number, cipher)
            case .file(let unique, let count, let checksum):
                // No damage: the limit may have been lowered.
                guard count <= files.largestValue else { return .miss }
                if let bytes = files.read(number, unique, count: count), DiskRecord.checksum(file: bytes) == checksum {
                    return opened(bytes, record.head, tags, key, number, cipher)
                }
                // The value may have been overwritten since the row was read, and the file removed: then the row has changed.
                guard record != previous else { return .suspect(number) }
                previous = record
            }
        }
    }

    private func record(_ key: UnsafeRawBufferPointer, _ number: KeyHash, _ found: inout Bool) throws -> DiskRecord? {
        defer { select.reset() }
        try select.bind(1, number.value)
        found = try select.step()
        return found ? select.withBytes(0) { DiskRecord.decode($0, key: key) } : nil
    }

    private func taggedRecord(
        _ key: UnsafeRawBufferPointer, _ number: KeyHash, _ found: inout Bool, _ tags: inout Set<CacheTag>?
    ) throws -> DiskRecord? {
        let select =
            try selectTagged
            ?? connection.statement("SELECT value.record, entry.tags FROM value JOIN entry ON entry.id = value.id WHERE value.id = ?1")
        selectTagged = select
        defer { select.reset() }
        try select.bind(1, number.value)
        found = try select.step()
        guard found else { return nil }
        tags = Set(select.optionalBytes(1).map(DiskTags.decode) ?? [])
        return select.withBytes(0) { DiskRecord.decode($0, key: key) }
    }

    private func opened(
        _ bytes: [UInt8], _ head: DiskRecord.Head, _ tags: Set<CacheTag>?, _ key: UnsafeRawBufferPointer, _ number: KeyHash,
        _ cipher: (any DiskCipher)?
    ) -> Outcome {
        let isSliding = head.deadline.sliding > 0
        guard head.isEncrypted else { return .hit(DiskValue(bytes: bytes, head: head, tags: tags), number, isSliding: isSliding) }
        guard let cipher, let plain = cipher.open(bytes, name: Array(key)) else { return .miss }
        return .hit(DiskValue(bytes: plain, head: head, tags: tags), number, isSliding: isSliding)
    }

    private func accessLog(_ number: KeyHash) throws -> Int64 {
        try connection.withStatement("SELECT touched FROM entry WHERE id = ?1") { statement in
            try statement.bind(1, number.value)
            return try statement.step() ? statement.int64(0) : 0
        }
    }
}
