#if PostgreSQL
internal import FreshetPostgreSQL
internal import FreshetServer
internal import FreshetWire

/// The write transaction of a ``PostgreSQLRecordStore``: it changes drafts in memory, which ``finish()`` turns into statements.
final class PostgreSQLRecordTransaction: RecordTransaction {
    let connection: Connection
    private var namespaces: [Namespace: PostgreSQLNamespaceTransaction] = [:]
    /// The namespace that was used last.
    private var latest: PostgreSQLNamespaceTransaction?
    /// That of the access rows, before the changes of this transaction.
    var version: AccessVersion?
    /// Whether no other transaction can change access rows, or decide anything by them.
    private var hasAccess = false
    private var changesAccess = false
    private(set) var heldElsewhere: Set<Namespace> = []
    private var hasFlushed = false
    private var hasTouched = false

    init(_ connection: Connection) { self.connection = connection }

    func namespace(_ name: Namespace) throws -> any NamespaceTransaction {
        if let latest, latest.draft.name == name { return latest }
        guard !heldElsewhere.contains(name) else { throw PostgreSQLError(.lockTimeout, "another transaction holds the namespace \(name)") }
        let found = try namespaces[name] ?? load(name)
        latest = found
        return found
    }

    /// Locks and reads a namespace that the scope did not name.
    private func load(_ name: Namespace) throws -> PostgreSQLNamespaceTransaction {
        let rows = try connection.exchange(Self.loading([name]), by: .patient)
        try take(rows[1], [name], locked: rows[0])
        guard let loaded = namespaces[name] else { throw PostgreSQLError(.misuse, "the namespace \(name) was not loaded") }
        return loaded
    }

    // MARK: Access rows

    /// The first statement of a transaction, before it locks anything else.
    func lockingAccess(_ scope: TransactionScope) -> Request {
        hasAccess = scope.changesAccess
        return Request(scope.changesAccess ? .lockAccess : .shareAccess)
    }

    /// Called before a change of access rows.
    func lockAccess() throws {
        changesAccess = true
        guard !hasAccess else { return }
        // The scope did not say so. Two such transactions at once wait for each other in a circle, and one of them runs again.
        _ = try connection.run(.lockAccess, by: .patient)
        hasAccess = true
    }

    // MARK: The first round trip

    /// Locks and reads namespaces.
    ///
    /// - Parameter leavesHeld: whether those that another transaction holds are not waited for.
    static func loading(_ names: [Namespace], leavingHeld leavesHeld: Bool = false) -> [Request] {
        var lock = Parameters()
        lock.add(array: names.map(\.name))
        return [Request(leavesHeld ? .lockFreeNamespaces : .lockNamespaces, lock), Request(.loadNamespaces, Parameters(of: names))]
    }

    /// The most bytes of all values that are fetched beforehand.
    private static let fetchedBytes = 8 << 20

    /// Reads the records and clients of a scope.
    static func fetching(_ scope: TransactionScope) -> [Request] {
        let places = Dictionary(
            scope.namespaces.enumerated().map { ($1, Int32(truncatingIfNeeded: $0 + 1)) }, uniquingKeysWith: { first, _ in first })
        let names = scope.namespaces.map(\.name)
        var requests: [Request] = []
        if !scope.records.isEmpty {
            let wanted = scope.records.count { $0.wantsValue }
            var parameters = Parameters()
            parameters.add(array: names)
            parameters.add(array: scope.records.lazy.map { places[$0.namespace] ?? 0 })
            parameters.add(array: scope.records.lazy.map(\.key.collection))
            parameters.add(array: scope.records.lazy.map(\.key.id))
            parameters.add(array: scope.records.lazy.map(\.wantsValue))
            parameters.add(Int64(min(scope.valueLimit, Self.fetchedBytes / max(wanted, 1))))
            requests.append(Request(.loadRecords, parameters))
        }
        if !scope.clients.isEmpty {
            var parameters = Parameters()
            parameters.add(array: names)
            parameters.add(array: scope.clients.lazy.map { places[$0.namespace] ?? 0 })
            parameters.add(array: scope.clients.lazy.map(\.client.text))
            requests.append(Request(.loadClients, parameters))
        }
        return requests
    }

    /// Takes the rows of namespaces.
    ///
    /// - Parameters:
    ///   - locked: the ids of those that this transaction has locked. Another server may have made a namespace since the
    ///     lock was asked for: two transactions would then go on from one head.
    ///   - leavesHeld: whether the others are held by another transaction, so that nothing is done in them.
    func take(_ rows: QueryResult, _ names: [Namespace], locked: QueryResult, leavingHeld leavesHeld: Bool = false) throws {
        let ids = Set(try (0..<locked.count).map { try locked.int64($0, 0) })
        for row in 0..<rows.count {
            let name = names[Int(try rows.int64(row, 14)) - 1]
            let found = try NamespaceRow(counted: name, rows, row)
            guard found.id.map(ids.contains) ?? true else {
                if leavesHeld {
                    heldElsewhere.insert(name)
                    continue
                }
                throw PostgreSQLError(.collision, "another server has made the namespace \(name) meanwhile")
            }
            let draft = NamespaceDraft(name, found)
            namespaces[name] = PostgreSQLNamespaceTransaction(draft, connection)
        }
    }

    /// Takes the rows of records and clients, in the order of ``fetching(_:)``.
    func take(_ results: ArraySlice<QueryResult>, of scope: TransactionScope) throws {
        var results = results
        if !scope.records.isEmpty, let rows = results.popFirst() {
            for record in scope.records { namespaces[record.namespace]?.draft.learn(nil, of: record.key) }
            for row in 0..<rows.count {
                let record = scope.records[Int(try rows.int64(row, 0)) - 1]
                namespaces[record.namespace]?.draft.learn(try RecordRow(rows, row, from: 1), of: record.key)
            }
        }
        if !scope.clients.isEmpty, let rows = results.popFirst() {
            for client in scope.clients { namespaces[client.namespace]?.draft.learn(nil, of: client.client) }
            for row in 0..<rows.count {
                let client = scope.clients[Int(try rows.int64(row, 0)) - 1]
                namespaces[client.namespace]?.draft.learn(try NamespaceDraft.Client(rows, row), of: client.client)
            }
        }
    }

    // MARK: The second round trip

    /// The statements that write the drafts. Makes namespaces that have no row, which takes a further round trip.
    func finish() throws -> [Request] {
        let changed = namespaces.values.map(\.draft).filter(\.isChanged).sorted { $0.name < $1.name }
        let made = changed.filter { $0.row.id == nil }
        if !made.isEmpty {
            let rows = try connection.exchange([DraftWriter.making(made)], by: .patient)[0]
            var ids: [String: Int64] = [:]
            for row in 0..<rows.count { ids[rows.text(row, 1)] = try rows.int64(row, 0) }
            for draft in made {
                guard let id = ids[draft.name.name] else {
                    throw PostgreSQLError(
                        .collision, "another transaction has made the namespace \(draft.name), or dropped one of its bucket")
                }
                draft.made(id)
            }
        }
        return DraftWriter.writing(changed)
    }

    /// Writes the drafts and forgets them, since other statements are to read and change the rows.
    func flush() throws {
        hasFlushed = true
        let requests = try finish()
        if !requests.isEmpty { _ = try connection.exchange(requests, by: .patient) }
        forget()
    }

    /// Writes to the disk, and changes nothing.
    func touch() throws {
        hasTouched = true
        _ = try connection.run(.touch, by: .patient)
    }

    /// Whether ``touch()`` was all that the transaction has done: it has read no namespace, so that it acknowledges nothing either.
    var isProbe: Bool { hasTouched && namespaces.isEmpty && !hasFlushed && !changesAccess }

    /// The last statements of a transaction.
    func raisingAccess() -> [Request] {
        guard changesAccess else { return [] }
        var kept = Parameters()
        kept.add(AccessChanges.kept)
        return [Request(.raiseAccess), Request(.forgetRemovedAccess, kept)]
    }

    private func forget() {
        namespaces.removeAll()
        latest = nil
    }
}
#endif
