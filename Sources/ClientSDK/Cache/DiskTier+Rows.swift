internal import FreshetSQLite
internal import FreshetWire

extension DiskTier {
    /// The texts that a statement has bound and that most entries of a page share.
    struct BoundTexts {
        fileprivate var collection: String
        fileprivate var epoch: Epoch
        fileprivate var type: String?
    }

    /// Binds all columns but the value. Texts equal to those of the previous entry stay bound.
    static func bind(_ entry: Entry, over bound: inout BoundTexts?, to statement: Statement) throws {
        let type = entry.storedType
        if bound?.collection != entry.key.collection { try statement.bind(1, entry.key.collection) }
        try statement.bind(2, entry.key.id)
        if bound?.epoch != entry.epoch { try statement.bind(3, entry.epoch.token) }
        try statement.bind(4, entry.revision.number)
        try statement.bind(5, entry.asOf.number)
        try statement.bind(6, entry.pass)
        if bound == nil || bound?.type != type { try statement.bind(7, type) }
        try statement.bind(9, entry.modified?.milliseconds)
        try statement.bind(10, entry.verifiedAt.milliseconds)
        try statement.bind(11, entry.origin.rawValue)
        try statement.bind(12, entry.invalidatedAt?.number)
        bound = BoundTexts(collection: entry.key.collection, epoch: entry.epoch, type: type)
    }

    /// Decodes a row. A row that breaks a rule was not written by this code: the file is damaged.
    static func entry(_ row: Statement) throws -> Entry {
        guard let epoch = Epoch(row.text(2)), let revision = Revision(row.int64(3)), let asOf = Revision(row.int64(4)),
            let origin = Entry.Origin(rawValue: row.int64(10)), let key = try? RecordKey(collection: row.text(0), id: row.text(1))
        else { throw damaged("an entry") }
        return Entry(
            key: key, epoch: epoch, revision: revision, asOf: asOf, pass: row.int64(5),
            content: row.optionalText(6).flatMap { $0.isEmpty ? nil : Content(bytes: row.bytes(7), type: $0) },
            lacksValue: row.optionalText(6)?.isEmpty ?? false, invalidatedAt: row.optionalInt64(11).flatMap { Revision($0) },
            modified: row.optionalInt64(8).map { Timestamp(milliseconds: $0) },
            verifiedAt: Timestamp(milliseconds: row.int64(9)), origin: origin)
    }

    static func damaged(_ what: String) -> SQLiteError {
        // SQLITE_CORRUPT, so that it is treated as any other damage.
        SQLiteError(code: 11, message: "\(what) in the file breaks the rules that all of them were written by")
    }
}

extension Entry {
    /// The value of the column `type`: null if there is no record, and an empty text if its value is not on this device.
    fileprivate var storedType: String? { content?.type ?? (lacksValue ? "" : nil) }
}
