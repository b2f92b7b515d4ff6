internal import FreshetPlatform
internal import FreshetSQLite
internal import FreshetWire
internal import Glibc

/// The directory of a client that is not running, for tools.
package struct ClientDirectory: Sendable {
    package let path: String
    private let namespace: Namespace

    /// `nil` for a directory without a client's file.
    ///
    /// - Throws: ``ClientError/corrupt(path:quarantine:)`` for a file that is none of a client, which stays where it is;
    ///   ``ClientError/readOnly(path:)`` and ``ClientError/storageFailed(path:_:)`` for one that cannot be read now.
    package init?(_ path: String) throws(ClientError) {
        let path = try Self.absolute(path)
        let file = path + "/freshet.sqlite"
        guard access(file, F_OK) == 0 else { return nil }
        guard let name = try Self.namespace(in: file), let namespace = try? Namespace(name) else {
            throw .corrupt(path: file, quarantine: file)
        }
        (self.path, self.namespace) = (path, namespace)
    }

    private static func absolute(_ path: String) throws(ClientError) -> String {
        do { return try AbsolutePath(path).text } catch { throw .invalidConfiguration("'\(path)' \(error)") }
    }

    /// - Returns: `nil` for a file without a client's tables.
    private static func namespace(in file: String) throws(ClientError) -> String? {
        do {
            let connection = try Connection(path: file, mode: .readOnly)
            return try connection.withStatement("SELECT namespace FROM state") { try $0.step() ? $0.text(0) : nil }
        } catch {
            if let error = error as? SQLiteError, error.category == .misuse { return nil }
            throw DiskTier.clientError(error, file)
        }
    }

    /// Removes everything, or, with `keepsOutbox`, all but the writes that wait or were rejected.
    ///
    /// - Returns: the numbers of entries that were removed, and of writes that were kept.
    /// - Throws: ``ClientError/directoryInUse(path:holder:)``, and failures of the disk.
    package func clear(keepingOutbox keepsOutbox: Bool) throws(ClientError) -> (removed: Int, kept: Int) {
        let client = EngineSettings.randomClient
        let disk = try DiskTier(directory: path, namespace: namespace, client: client)
        return try disk.handling {
            let removed = try disk.connection.withStatement("SELECT count(*) FROM entry") { try $0.step() ? $0.int64(0) : 0 }
            // The next start verifies everything by the settings of its client.
            try disk.clear(keepingOutbox: keepsOutbox, newClient: client, SyncSettings())
            let kept = try disk.load()
            return (Int(removed), kept.outbox.count + kept.rejections.count)
        }
    }
}
