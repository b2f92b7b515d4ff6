import FreshetPlatform
import FreshetTrust
import FreshetWire

/// Makes keys in the directory of a server that does not run: the first one of an administrator has no other way.
package enum OfflineKeys {
    /// Makes a key, and returns the only copy of it.
    ///
    /// Blocks on the disk.
    ///
    /// - Parameters:
    ///   - grants: as ``Rights`` reads them, or empty for an administrator, which then may do everything.
    ///   - expires: milliseconds since 1970.
    ///   - now: milliseconds since 1970.
    /// - Throws: ``RecordServerError`` if the directory is in use or cannot be written; ``TrustError`` for invalid grants.
    package static func make(
        inDirectory path: String, name: String, grants: [UInt8], isAdmin: Bool, expires: Int64?, now: Int64
    ) throws -> (id: String, token: String) {
        let rights = grants.isEmpty && isAdmin ? Rights.all : try Rights(json: grants)
        var random = SystemRandomNumberGenerator()
        let store: SQLiteRecordStore
        do throws(StoreError) { store = try SQLiteRecordStore(directory: path, seed: random.next()) } catch {
            throw RecordServerError(error)
        }
        let key = AccessKey(using: &random)
        let stored = StoredKey(key, name: name, rights: rights, isAdmin: isAdmin, created: now, expires: expires)
        let row = stored.row
        try store.transaction { try $0.keep(row) }
        return (key.id.text, String(decoding: key.token.exposed, as: UTF8.self))
    }
}
