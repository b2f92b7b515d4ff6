import FreshetTrust

/// The keys of a server, and the uses of them that are not stored yet.
struct KeyTable: Sendable {
    /// The most keys of a server.
    static let maximumCount = 10_000

    private var keys: [KeyIdentifier: StoredKey] = [:]
    /// The keys whose last use is not stored yet.
    private var unstoredUses: Set<KeyIdentifier> = []

    /// - Parameter rows: those of the store. Rows of other kinds are ignored.
    init(_ rows: [AccessRow]) {
        for row in rows { if let key = StoredKey(row) { keys[key.id] = key } }
        for row in rows where row.kind == .use { KeyIdentifier(row.name).map { keys[$0]?.take(use: row) } }
    }

    /// All keys, by id. O(n log n).
    var all: [StoredKey] { keys.values.sorted { $0.id.text < $1.id.text } }

    var hasRoom: Bool { keys.count < Self.maximumCount }

    subscript(id: KeyIdentifier) -> StoredKey? {
        get { keys[id] }
        set { keys[id] = newValue }
    }

    /// The session of a key.
    /// - Parameter generation: that of the revocations.
    func session(_ credential: [UInt8], generation: UInt64, at now: TimeReading) throws(SessionRefusal) -> Session {
        guard let key = try? AccessKey(credential), let stored = keys[key.id] else { throw .key(.unknown) }
        do throws(KeyRefusal) {
            return Session(stored, expires: try stored.check(key, at: now.wall), generation: generation, at: now)
        } catch { throw .key(error) }
    }

    /// Notes a use of a session's key: at most one has to be stored for each key and day.
    mutating func noteUse(_ lookup: SessionTable.Lookup, at now: TimeReading) {
        guard case .session(let session) = lookup, let id = session.key else { return }
        if keys[id]?.noteUse(at: now.wall) == true { unstoredUses.insert(id) }
    }

    /// The rows of the last uses that are not stored yet, each once; at most 1,000.
    mutating func takeUnstoredUses() -> [AccessRow] {
        guard !unstoredUses.isEmpty else { return [] }
        let ids = unstoredUses.prefix(1_000)
        unstoredUses.subtract(ids)
        return ids.compactMap { keys[$0]?.useRow }
    }
}
