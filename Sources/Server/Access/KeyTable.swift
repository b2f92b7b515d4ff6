import FreshetTrust

/// The keys of a server, and the uses of them that are not stored yet.
struct KeyTable: Sendable {
    /// The most keys of a server.
    static let maximumCount = 10_000

    private var keys: [KeyIdentifier: StoredKey] = [:]
    /// The keys whose last use is not stored yet.
    private var unstoredUses: Set<KeyIdentifier> = []
    /// The earliest end of a replaced secret that ``takeEndedOverlaps(at:)`` has not reported, in milliseconds since 1970.
    private var nextOverlapEnd: Int64?

    /// - Parameter rows: those of the store. Rows of other kinds are ignored.
    init(_ rows: [AccessRow]) {
        for row in rows { if let key = StoredKey(row) { keys[key.id] = key } }
        for row in rows where row.kind == .use { KeyIdentifier(row.name).map { keys[$0]?.take(use: row) } }
        nextOverlapEnd = keys.values.lazy.compactMap { $0.previous?.until }.min()
    }

    /// All keys, with those uses that `former` knows and the store does not have yet.
    init(_ rows: [AccessRow], over former: KeyTable) {
        self.init(rows)
        for id in keys.keys { former.keys[id]?.useRow.map { keys[id]?.take(use: $0) } }
        unstoredUses = former.unstoredUses.filter { keys[$0] != nil }
    }

    /// Takes the changes of rows. Those of uses are added to the uses that it knows.
    ///
    /// - Returns: whether a key was changed or removed.
    mutating func take(_ changes: AccessChanges) -> Bool {
        var isChanged = false
        for row in changes.rows where row.kind == .key {
            guard var key = StoredKey(row) else { continue }
            keys[key.id]?.useRow.map { key.take(use: $0) }
            guard keys.updateValue(key, forKey: key.id) != key else { continue }
            isChanged = true
            if let end = key.previous?.until { nextOverlapEnd = min(nextOverlapEnd ?? .max, end) }
        }
        for row in changes.rows where row.kind == .use { KeyIdentifier(row.name).map { keys[$0]?.take(use: row) } }
        for name in changes.removed where name.kind == .key {
            if KeyIdentifier(name.text).flatMap({ keys.removeValue(forKey: $0) }) != nil { isChanged = true }
        }
        return isChanged
    }

    /// All keys, by id. O(n log n).
    var all: [StoredKey] { keys.values.sorted { $0.id.text < $1.id.text } }

    var hasRoom: Bool { keys.count < Self.maximumCount }

    subscript(id: KeyIdentifier) -> StoredKey? { keys[id] }

    /// The session of a key.
    /// - Parameter generation: that of the revocations.
    func session(_ credential: [UInt8], generation: UInt64, at now: TimeReading) throws(SessionRefusal) -> Session {
        guard let key = try? AccessKey(credential), let stored = keys[key.id] else { throw .key(.unknown) }
        do throws(KeyRefusal) {
            return Session(stored, expires: try stored.check(key, at: now.wall), generation: generation, at: now)
        } catch { throw .key(error) }
    }

    /// Whether a replaced secret has ended since the last call, so that waits have to be looked at. O(1), and O(n) if one has.
    mutating func takeEndedOverlaps(at now: Int64) -> Bool {
        guard let end = nextOverlapEnd, end <= now else { return false }
        nextOverlapEnd = keys.values.lazy.compactMap { $0.previous?.until }.filter { $0 > now }.min()
        return true
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
