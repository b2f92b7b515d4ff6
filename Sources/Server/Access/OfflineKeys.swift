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
    ///   - request: the body that `POST /admin/keys` takes.
    ///   - now: milliseconds since 1970.
    /// - Throws: ``RecordServerError`` if the directory is in use or cannot be written; `Problem` for an invalid request.
    package static func make(inDirectory path: String, request: [UInt8], now: Int64) throws -> (id: String, token: String) {
        var random = SystemRandomNumberGenerator()
        let (key, stored) = try KeyRequest(json: request).key(created: now, using: &random)
        do {
            let store = try SQLiteRecordStore(directory: path, seed: random.next())
            let row = stored.row
            try store.transaction { try $0.keep(row) }
        } catch let error as StoreError { throw RecordServerError(error) }
        return (key.id.text, String(decoding: key.token.exposed, as: UTF8.self))
    }
}
