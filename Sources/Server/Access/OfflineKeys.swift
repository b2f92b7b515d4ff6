import FreshetPlatform
import FreshetTrust
import FreshetWire

/// Makes keys without a server: the first one of an administrator has no other way. The right to open the store is the operator's.
package enum OfflineKeys {
    /// Makes a key in the directory of a server that does not run, and returns the only copy of it.
    ///
    /// Blocks on the disk.
    ///
    /// - Parameters:
    ///   - request: the body that `POST /admin/keys` takes.
    ///   - now: milliseconds since 1970.
    /// - Throws: ``RecordServerError`` if the directory is in use or cannot be written; `Problem` for an invalid request.
    package static func make(inDirectory path: String, request: [UInt8], now: Int64) throws -> (id: String, token: String) {
        // An invalid request makes no directory.
        _ = try KeyRequest(json: request)
        var random = SystemRandomNumberGenerator()
        do {
            return try make(in: try SQLiteRecordStore(directory: path, seed: random.next()), request: request, now: now)
        } catch let error as StoreError { throw RecordServerError(error) }
    }

    /// Makes a key in an open store. Servers that share it accept the key once they have compared their keys with the store.
    ///
    /// - Throws: ``StoreError``; `Problem` for an invalid request.
    package static func make(in store: any RecordStore, request: [UInt8], now: Int64) throws -> (id: String, token: String) {
        var random = SystemRandomNumberGenerator()
        let (key, stored) = try KeyRequest(json: request).key(created: now, using: &random)
        let row = stored.row
        try store.transaction(touching: { TransactionScope(changesAccess: true) }) { try $0.keep(row) }
        return (key.id.text, String(decoding: key.token.exposed, as: UTF8.self))
    }
}
