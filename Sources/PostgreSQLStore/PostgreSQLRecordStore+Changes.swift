#if PostgreSQL
internal import FreshetPostgreSQL
package import FreshetServer
package import FreshetWire

extension PostgreSQLRecordStore {
    /// How many rows beyond the limit one statement reads, so that a page that ends within a small atomic batch takes no second one.
    private static let rest = 32

    package func changes(_ query: ChangeQuery, in namespace: Namespace) throws(StoreError) -> Snapshot<ChangeQueryResult> {
        try readPages { connection in
            var after = Self.beginning(of: query)
            var page = try Self.page(query, after: after, in: namespace, connection)
            let header = try SnapshotHeader(namespace, query.client, page)
            switch header.namespace.start(of: query) {
            case .refused(.epochChanged):
                var refused = header.bare(ChangeQueryResult.refused(.epochChanged))
                refused.state.lineage = try Self.lineage(of: namespace, header.row, connection)
                return .complete(refused)
            case .refused(let refusal): return .complete(header.bare(.refused(refusal)))
            case .read(let start, let origin):
                var scan = ChangeScan(query: query, state: header.namespace, after: start, origin: origin)
                while true {
                    switch try scan.take(page) {
                    case .stopped: return .complete(header.snapshot(.changes(scan.result)))
                    case .allTaken where page.count - 1 < Self.rows(for: query):
                        return .complete(header.snapshot(.changes(scan.result)))
                    case .allTaken, .valueMissing:
                        guard connection.isInTransaction else { return .needsSnapshot }
                        after = scan.reached.number
                        page = try Self.page(query, after: after, in: namespace, connection)
                    }
                }
            }
        }
    }

    /// How the namespace's history began. The statement has a later snapshot than the row, whose epoch must still be the present one.
    private static func lineage(of namespace: Namespace, _ row: NamespaceRow, _ connection: Connection) throws -> Lineage? {
        var parameters = Parameters()
        parameters.add(namespace.name)
        let found = try connection.run(.lineage, parameters, by: .patient)
        guard found.count == 1 else { return nil }
        let seed = try found.int64(0, 0)
        guard EpochRule(seed: seed, token: try found.int64(0, 1)).epoch(row.base) == row.state.epoch else { return nil }
        let previous = EpochRule(seed: seed, token: try found.int64(0, 2)).epoch(row.base)
        return Lineage(previous: previous, fork: found.isNull(0, 3) ? .zero : try Revision(found, 0, 3))
    }

    /// The most rows that one statement reads.
    private static func rows(for query: ChangeQuery) -> Int {
        // A filter skips rows, so more of them are looked at for a page.
        let wanted = query.filter == .all ? query.limit : max(256, 4 * min(query.limit, 10_000))
        return min(max(wanted, 1), query.scanLimit, 10_000) + rest
    }

    /// The revision after which the rows come that the query may need, whatever the namespace's state is.
    private static func beginning(of query: ChangeQuery) -> Int64 {
        switch query.since {
        case .start: 0
        case .now: .max
        case .after(let cursor): cursor.revision.number
        }
    }

    private static func page(
        _ query: ChangeQuery, after revision: Int64, in namespace: Namespace, _ connection: Connection
    ) throws -> QueryResult {
        var parameters = Parameters(of: namespace, for: query.client)
        parameters.add(revision)
        parameters.add(Int64(rows(for: query)))
        parameters.add(Int64(query.inlineLimit))
        parameters.add(Int64(query.byteLimit))
        parameters.add(array: query.filter.collections)
        parameters.add(query.filter.prefix)
        return try connection.run(.changes, parameters, by: .patient)
    }
}

/// How far a walk has come with the rows of a page.
private enum PageProgress {
    /// A bound of the query is reached.
    case stopped
    /// All rows are taken.
    case allTaken
    /// The next row's change carries a value, which the page left out since those before it were too much together.
    case valueMissing
}

extension ChangeScan {
    /// Takes the rows of a page, after the first row, which is the namespace's.
    fileprivate mutating func take(_ page: QueryResult) throws -> PageProgress {
        for row in 1..<max(page.count, 1) {
            let kind = try page.int64(row, 10)
            guard kind == 3 else {
                guard try take(invalidation: row, of: page, kind) else { return .stopped }
                continue
            }
            // Rarely: then whether the value is wanted shows only from what the walk does.
            if !page.isNull(row, 14), page.isNull(row, 15), try page.int64(row, 14) <= Int64(query.inlineLimit) {
                var trial = self
                var isWanted = false
                guard try trial.take(record: row, of: page, isWanted: &isWanted) else {
                    self = trial
                    return .stopped
                }
                guard !isWanted else { return .valueMissing }
                self = trial
            } else {
                var isWanted = false
                guard try take(record: row, of: page, isWanted: &isWanted) else { return .stopped }
            }
        }
        return .allTaken
    }

    private mutating func take(record row: Int, of page: QueryResult, isWanted: inout Bool) throws -> Bool {
        let revision = try Revision(page, row, 11)
        let size = try page.optionalInt64(row, 14).map { Int($0) }
        let write = try page.optionalInt64(row, 19).map { StoredWrite(column: $0) }
        let inlineLimit = query.inlineLimit
        return try take(revision: revision, isRecord: size != nil, firstOfBatch: write.flatMap { $0.firstOfBatch(of: revision) }) {
            filter in
            if let collection = filter.collections.first, filter.collections.count == 1 {
                // Compares bytes, without making strings of rows that do not match.
                guard page.withBytes(row, 16, { $0.elementsEqual(collection.utf8) }) else { return nil }
            }
            guard page.withBytes(row, 17, { $0.starts(with: filter.prefix.utf8) }) else { return nil }
            let key = try RecordKey(collection: page.text(row, 16), id: page.text(row, 17))
            guard filter.matches(key) else { return nil }
            isWanted = true
            guard let size else { return (.delete(key), 0) }
            let type = page.optionalText(row, 13)
            guard !page.isNull(row, 15) else {
                return (.put(key, content: nil, contentType: type ?? Content.json, size: size), size <= inlineLimit ? size : 0)
            }
            let value = page.byteArray(row, 15)
            let content = type.map { Content(bytes: value, type: $0) } ?? Content(checkedJSON: value)
            return (.put(key, content: content, contentType: content.type, size: size), size)
        } details: {
            let author: Change.Author? = try page.optionalText(row, 18).map {
                Change.Author(client: try ClientIdentifier($0), write: write?.number ?? 0)
            }
            return (Timestamp(milliseconds: try page.int64(row, 12)), author)
        }
    }

    private mutating func take(invalidation row: Int, of page: QueryResult, _ kind: Int64) throws -> Bool {
        try take(revision: try Revision(page, row, 11), isRecord: false, firstOfBatch: nil) { filter in
            let scope: InvalidationScope =
                switch kind {
                case 0: .everything
                case 1: .collection(page.text(row, 16), prefix: page.text(row, 17))
                default: .key(try RecordKey(collection: page.text(row, 16), id: page.text(row, 17)))
                }
            return filter.matches(scope) ? (.invalidate(scope), 0) : nil
        } details: {
            (Timestamp(milliseconds: try page.int64(row, 12)), nil)
        }
    }
}
#endif
