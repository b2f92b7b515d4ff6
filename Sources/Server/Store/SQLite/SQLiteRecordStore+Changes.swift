internal import FreshetSQLite
package import FreshetWire

extension SQLiteRecordStore {
    /// Values of at most this many bytes are on the page of their row, which a scan reads in any case: with the longest names a row
    /// has 2 KiB then, and SQLite moves none of less than 4,000 bytes to other pages.
    private static let bytesReadWithRow = 1 << 10

    package func changes(_ query: ChangeQuery, in namespace: Namespace) throws(StoreError) -> Snapshot<ChangeQueryResult> {
        try read { connection in
            try connection.readTransaction {
                let row = try NamespaceRow.read(namespace, connection)
                switch row.state.start(of: query) {
                case .refused(let refusal): return Snapshot(.refused(refusal), row.state)
                case .read(let after, let origin):
                    var scan = ChangeScan(query: query, state: row.state, after: after, origin: origin)
                    // After most waits the head shows that there is nothing to scan.
                    if let id = row.id, after < row.state.head { try Self.scan(&scan, id, row.counts.invalidations > 0, connection) }
                    return Snapshot(.changes(scan.result), row.state, lastWrite: try connection.lastWrite(of: query.client, in: row.id))
                }
            }
        }
    }

    /// Merges the records and the invalidations in revision order.
    ///
    /// SQLite reads each column of a row before the filter sees it. So a scan with a filter reads only the short values with
    /// their rows, and each other one once its row is taken.
    private static func scan(_ scan: inout ChangeScan, _ namespace: Int64, _ hasInvalidations: Bool, _ connection: Connection) throws {
        let after = scan.reached.number
        let inlineLimit = scan.query.inlineLimit
        let bytesWithRow = scan.query.filter == .all ? inlineLimit : min(inlineLimit, bytesReadWithRow)
        try connection.withStatement(
            """
            SELECT revision, collection, id, modified, client, write, content_type, length(value),
                CASE WHEN length(value) <= ? THEN value END, row
            FROM record WHERE namespace = ? AND revision > ? ORDER BY revision
            """
        ) { record in
            try record.bind(1, bytesWithRow)
            try record.bind(2, namespace)
            try record.bind(3, after)
            guard hasInvalidations else {
                while try record.step() {
                    guard try scan.take(record: record, connection) else { return }
                }
                return
            }
            try connection.withStatement(
                "SELECT revision, kind, collection, name, modified FROM invalidation WHERE namespace = ? AND revision > ? ORDER BY revision"
            ) { invalidation in
                try invalidation.bind(1, namespace)
                try invalidation.bind(2, after)
                var hasRecord = try record.step()
                var hasInvalidation = try invalidation.step()
                while hasRecord || hasInvalidation {
                    if hasRecord, !hasInvalidation || record.int64(0) < invalidation.int64(0) {
                        guard try scan.take(record: record, connection) else { return }
                        hasRecord = try record.step()
                    } else {
                        guard try scan.take(invalidation: invalidation) else { return }
                        hasInvalidation = try invalidation.step()
                    }
                }
            }
        }
    }
}

extension Connection {
    /// The value of the record in a row, within the transaction that has found the row.
    fileprivate func value(ofRecord row: Int64) throws -> [UInt8] {
        try withStatement("SELECT value FROM record WHERE row = ?") { value in
            try value.bind(1, row)
            return try value.step() ? value.bytes(0) : []
        }
    }
}

extension ChangeScan {
    fileprivate mutating func take(record row: Statement, _ connection: Connection) throws -> Bool {
        let isTombstone = row.isNull(7)
        let inlineLimit = query.inlineLimit
        let revision = try Revision(row, 0)
        return try take(
            revision: revision, isRecord: !isTombstone,
            firstOfBatch: row.isNull(5) ? nil : StoredWrite(column: row.int64(5)).firstOfBatch(of: revision)
        ) { filter in
            if let collection = filter.collections.first, filter.collections.count == 1 {
                // Compares bytes, without making strings of rows that do not match.
                guard row.withBytes(1, { $0.elementsEqual(collection.utf8) }) else { return nil }
            }
            guard row.withBytes(2, { $0.starts(with: filter.prefix.utf8) }) else { return nil }
            let key = try RecordKey(collection: row.text(1), id: row.text(2))
            guard filter.matches(key) else { return nil }
            guard !isTombstone else { return (.delete(key), 0) }
            let size = Int(row.int64(7))
            guard size <= inlineLimit else {
                return (.put(key, content: nil, contentType: row.optionalText(6) ?? Content.json, size: size), 0)
            }
            let value = try row.isNull(8) ? connection.value(ofRecord: row.int64(9)) : row.bytes(8)
            let content = Content(stored: value, type: row.optionalText(6))
            return (.put(key, content: content, contentType: content.type, size: size), size)
        } details: {
            let author: Change.Author? =
                row.isNull(4)
                ? nil : Change.Author(client: try ClientIdentifier(row.text(4)), write: StoredWrite(column: row.int64(5)).number)
            return (Timestamp(milliseconds: row.int64(3)), author)
        }
    }

    fileprivate mutating func take(invalidation row: Statement) throws -> Bool {
        try take(revision: try Revision(row, 0), isRecord: false, firstOfBatch: nil) { filter in
            let scope: InvalidationScope =
                switch row.int64(1) {
                case 0: .everything
                case 1: .collection(row.text(2), prefix: row.text(3))
                default: .key(try RecordKey(collection: row.text(2), id: row.text(3)))
                }
            return filter.matches(scope) ? (.invalidate(scope), 0) : nil
        } details: {
            (Timestamp(milliseconds: row.int64(4)), nil)
        }
    }
}
