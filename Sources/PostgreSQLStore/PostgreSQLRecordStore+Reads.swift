#if PostgreSQL
internal import FreshetPostgreSQL
package import FreshetServer
package import FreshetWire

extension PostgreSQLRecordStore {
    package func namespaces(withPrefix prefix: String, limit: Int) throws(StoreError) -> [Namespace] {
        try read { connection in
            var parameters = Parameters()
            parameters.add(prefix)
            parameters.add(prefix + Namespace.aboveAllCharacters)
            parameters.add(Int64(limit))
            let rows = try connection.run(.namespaces, parameters, by: .patient)
            return try (0..<rows.count).map { try Namespace(rows.text($0, 0)) }
        }
    }

    package func retention() throws(StoreError) -> RetentionClock.Stored {
        try read { connection in
            let row = try connection.run(.retention, by: .patient)
            let mark = try RetentionClock.Mark(row, from: 0)
            let latest = mark == nil ? try connection.run(.latestStamp, by: .patient).optionalInt64(0, 0) : nil
            return RetentionClock.Stored(mark: mark, latestStamp: latest, wall: try row.int64(0, 2))
        }
    }

    package func accessVersion() throws(StoreError) -> AccessVersion {
        try read { connection in
            let row = try connection.run(.accessVersion, by: .patient)
            return AccessVersion(history: try row.int64(0, 0), number: try row.int64(0, 1))
        }
    }

    package func accessChanges(after version: AccessVersion?) throws(StoreError) -> AccessChanges {
        try read { try AccessChanges(after: version, over: $0) }
    }

    package func totals() throws(StoreError) -> StoreTotals {
        try read { try StoreTotals($0.run(.totals, by: .patient)) }
    }

    package func state(of namespace: Namespace) throws(StoreError) -> NamespaceState { try counted(namespace).state }

    package func states(of namespaces: [Namespace]) throws(StoreError) -> [NamespaceState] {
        try read { connection in
            let rows = try connection.run(.loadNamespaces, Parameters(of: namespaces), by: .patient)
            guard rows.count == namespaces.count else {
                throw StoreError.corrupt(path: label, reason: "the table freshet.store has no row, or several")
            }
            var states: [Int: NamespaceState] = [:]
            for row in 0..<rows.count {
                let place = Int(try rows.int64(row, 14)) - 1
                states[place] = try NamespaceRow(counted: namespaces[place], rows, row).state
            }
            return namespaces.indices.compactMap { states[$0] }
        }
    }

    package func counts(of namespace: Namespace) throws(StoreError) -> Snapshot<NamespaceCounts> {
        let row = try counted(namespace)
        return Snapshot(row.counts, row.state)
    }

    private func counted(_ namespace: Namespace) throws(StoreError) -> NamespaceRow {
        try read { connection in
            let rows = try connection.run(.state, Parameters(of: namespace), by: .patient)
            return try NamespaceRow(counted: namespace, rows, 0)
        }
    }

    package func lastWrite(of client: ClientIdentifier, in namespace: Namespace) throws(StoreError) -> Snapshot<Int64> {
        try read { connection in
            let rows = try connection.run(.client, Parameters(of: namespace, for: client), by: .patient)
            return Snapshot(try rows.optionalInt64(0, 9) ?? 0, try NamespaceRow(namespace, rows, 0).state)
        }
    }

    package func owner(of client: ClientIdentifier, in namespace: Namespace) throws(StoreError) -> ClientOwner? {
        try read { connection in
            let rows = try connection.run(.client, Parameters(of: namespace, for: client), by: .patient)
            return rows.optionalText(0, 10).map(ClientOwner.init(text:))
        }
    }

    package func record(
        _ key: RecordKey, in namespace: Namespace, for client: ClientIdentifier?, valueBytes: Int
    ) throws(StoreError) -> Snapshot<Record?> {
        let lookup = RecordLookup(key, in: namespace, for: client, valueBytes: valueBytes)
        return try read { try lookup.snapshot(of: $0.run(.record, lookup.parameters, by: .patient)) }
    }

    package func records(_ lookups: [RecordLookup]) -> [Result<Snapshot<Record?>, StoreError>] {
        do throws(StoreError) {
            return try read { connection in
                let rows = try connection.exchange(lookups.map { Request(.record, $0.parameters) }, by: .patient)
                return try zip(lookups, rows).map { lookup, rows in .success(try lookup.snapshot(of: rows)) }
            }
        } catch {
            // A store that is away or busy would let each of them wait.
            guard error.concernsOneLookup else { return lookups.map { _ in .failure(error) } }
            // One of them failed, and with it those that were sent after it.
            var common: StoreError?
            return lookups.map { lookup in
                if let common { return .failure(common) }
                do throws(StoreError) {
                    return .success(try record(lookup.key, in: lookup.namespace, for: lookup.client, valueBytes: lookup.valueBytes))
                } catch {
                    if !error.concernsOneLookup { common = error }
                    return .failure(error)
                }
            }
        }
    }

    package func records(_ query: ListQuery, in namespace: Namespace) throws(StoreError) -> Snapshot<RecordSlice> {
        // No row has an id with a NUL, and no text of PostgreSQL does: ids after such a text are those after its part before the NUL.
        let after = query.after.map { String($0.prefix { $0 != "\0" }) } ?? ""
        let limit = min(query.limit, query.scanLimit) + 1
        return try readPages { connection in
            var scan = ListScan(query)
            var header: SnapshotHeader?
            var reached = after
            while true {
                var parameters = Parameters(of: namespace)
                parameters.add(query.collection)
                parameters.add(query.prefix)
                parameters.add(TextRange.end(ofPrefix: query.prefix))
                parameters.add(reached)
                parameters.add(Int64(limit))
                parameters.add(Int64(query.byteLimit))
                let rows = try connection.run(.list, parameters, by: .patient)
                let found = try header ?? SnapshotHeader(namespace, nil, rows, hasClient: false)
                header = found
                for row in 1..<max(rows.count, 1) {
                    let record = try RecordRow(rows, row, from: 10)
                    let goesOn = try scan.take(size: record.size) {
                        rows.text(row, 9)
                    } record: {
                        record.record(try RecordKey(collection: query.collection, id: rows.text(row, 9)))
                    }
                    guard goesOn else { return .complete(found.snapshot(scan.slice)) }
                }
                guard rows.count - 1 == limit else { return .complete(found.snapshot(scan.slice)) }
                guard connection.isInTransaction else { return .needsSnapshot }
                reached = rows.text(rows.count - 1, 9)
            }
        }
    }

    package func records(
        _ request: ReadsRequest, within bounds: ReadBounds, in namespace: Namespace
    ) throws(StoreError) -> Snapshot<DifferingRecords> {
        var seen = Set<RecordKey>(minimumCapacity: request.items.count)
        let items = request.items.filter { seen.insert($0.key).inserted }
        return try readPages { connection in
            var parameters = Parameters(of: namespace, for: request.client)
            parameters.add(array: items.map(\.key.collection))
            parameters.add(array: items.map(\.key.id))
            parameters.add(array: items.map { $0.revision?.number })
            parameters.add(Int64(bounds.valueBytes))
            parameters.add(Int64(bounds.bytes))
            let rows = try connection.run(.records, parameters, by: .patient)
            let header = try SnapshotHeader(namespace, request.client, rows)
            var places = [RecordKey: Int](minimumCapacity: rows.count)
            for row in 1..<max(rows.count, 1) { places[items[Int(try rows.int64(row, 10)) - 1].key] = row }
            var scan = ReadsScan(bounds)
            do {
                try scan.walk(request.items) { item, room in
                    guard let place = places[item.key] else { return nil }
                    let row = try RecordRow(rows, place, from: 11)
                    guard row.value == nil, let size = row.size, size <= room, row.revision != item.revision else {
                        let record = row.record(item.key)
                        return record.map { $0.size > room ? $0.outline : $0 }
                    }
                    // The statement left it out, since those before it would have been too much together.
                    guard connection.isInTransaction else { throw NeedsSnapshot() }
                    return try Self.record(item.key, in: namespace, connection)
                }
            } catch is NeedsSnapshot { return .needsSnapshot }
            return .complete(header.snapshot(scan.result))
        }
    }

    private static func record(_ key: RecordKey, in namespace: Namespace, _ connection: Connection) throws -> Record? {
        var parameters = Parameters(of: namespace, for: nil)
        parameters.add(key.collection)
        parameters.add(key.id)
        parameters.add(Int64.max)
        let rows = try connection.run(.record, parameters, by: .patient)
        return rows.isNull(0, 10) ? nil : try RecordRow(rows, 0, from: 10).record(key)
    }
}

/// Thrown when one statement was not enough for an answer.
private struct NeedsSnapshot: Error {}

/// The result of an attempt to answer with one statement.
enum PagedAnswer<Value: Sendable>: Sendable {
    case complete(Value)
    /// The answer takes several statements, which have to see the same snapshot.
    case needsSnapshot
}

extension PostgreSQLRecordStore {
    /// Answers with one statement, as a rule. If that is not enough, runs the closure again in a transaction, in which all statements
    /// see one snapshot: the closure finds `connection.isInTransaction`.
    func readPages<Value: Sendable>(_ body: @Sendable (Connection) throws -> PagedAnswer<Value>) throws(StoreError) -> Value {
        try read { connection in
            if case .complete(let value) = try body(connection) { return value }
            _ = try connection.run(.beginSnapshot, by: .patient)
            let answer = try body(connection)
            _ = try connection.run(.commit, by: .patient)
            guard case .complete(let value) = answer else {
                throw PostgreSQLError(.misuse, "an answer was not complete within a transaction")
            }
            return value
        }
    }
}

/// The first row of an answer: the namespace, and the last write of a client.
struct SnapshotHeader: Sendable {
    let row: NamespaceRow
    private let lastWrite: Int64?

    /// - Parameter hasClient: whether the client's last write is in the column after the namespace.
    init(_ namespace: Namespace, _ client: ClientIdentifier?, _ rows: QueryResult, hasClient: Bool = true) throws {
        row = try NamespaceRow(namespace, rows, 0)
        lastWrite = client == nil || !hasClient ? nil : try rows.optionalInt64(0, NamespaceRow.columns) ?? 0
    }

    func snapshot<Value>(_ value: Value) -> Snapshot<Value> { Snapshot(value, namespace, lastWrite: lastWrite) }

    var namespace: NamespaceState { row.state }

    /// A snapshot that states no client's last write.
    func bare<Value>(_ value: Value) -> Snapshot<Value> { Snapshot(value, namespace) }
}

extension Deadline {
    /// For one exchange with the server.
    static var patient: Deadline { Deadline(after: StoreDatabase.patience) }
}

extension Parameters {
    /// The name and the bucket of a namespace.
    init(of namespace: Namespace) {
        self.init()
        add(namespace.name)
        add(Int32(truncatingIfNeeded: EpochSource.bucket(of: namespace)))
    }

    /// The names and the buckets of namespaces.
    init(of namespaces: [Namespace]) {
        self.init()
        add(array: namespaces.map(\.name))
        add(array: namespaces.map { Int32(truncatingIfNeeded: EpochSource.bucket(of: $0)) })
    }

    /// The name and the bucket of a namespace, and the name of a client, which may be NULL.
    init(of namespace: Namespace, for client: ClientIdentifier?) {
        self.init(of: namespace)
        add(client?.text)
    }
}

extension StoreError {
    /// Whether other lookups may succeed at the same time.
    fileprivate var concernsOneLookup: Bool {
        switch self {
        case .failed, .corrupt: true
        default: false
        }
    }
}

extension RecordLookup {
    fileprivate var parameters: Parameters {
        var parameters = Parameters(of: namespace, for: client)
        parameters.add(key.collection)
        parameters.add(key.id)
        parameters.add(Int64(valueBytes))
        return parameters
    }

    fileprivate func snapshot(of rows: QueryResult) throws -> Snapshot<Record?> {
        let header = try SnapshotHeader(namespace, client, rows)
        return header.snapshot(rows.isNull(0, 10) ? nil : try RecordRow(rows, 0, from: 10).record(key))
    }
}

extension StoreTotals {
    /// Reads the row of ``Statement/totals``.
    init(_ rows: QueryResult) throws {
        self.init()
        namespaces = Int(try rows.int64(0, 0))
        records = Int(try rows.int64(0, 1))
        bytes = Int(try rows.int64(0, 2))
        counts = try NamespaceCounts(rows, 0, from: 3)
    }
}
#endif
