import FreshetTrust
import FreshetWire
import Logging

@testable import FreshetServer

/// Principals with keys, without HTTP.
struct KeyHolders: Sendable {
    let control: AccessControl

    init(environment: ServerEnvironment = .system) {
        control = AccessControl(rows: [], environment: environment)
    }

    /// Makes a key with all rights, and returns what its writes may do.
    func access(in namespace: Namespace, isAdmin: Bool = false) throws -> (key: KeyIdentifier, access: WriteAccess) {
        var random = SystemRandomNumberGenerator()
        let key = AccessKey(using: &random)
        let stored = StoredKey(key, name: "test", rights: .all, isAdmin: isAdmin, created: 0)
        control.keep(stored)
        let session = AccessSession(
            Session(stored, expires: nil, generation: 0, at: TimeReading(wall: 0, monotonic: 0)), key.token, generation: .max)
        try control.check(session)
        return (key.id, WriteAccess(session: session, namespace: namespace, control: control))
    }
}

extension AccessControl {
    /// The access of a server without a configuration file.
    convenience init(rows: [AccessRow], environment: ServerEnvironment) {
        self.init(AccessChanges(after: nil, version: AccessVersion(number: 0), rows: rows), environment: environment)
    }

    convenience init(_ rows: AccessChanges, environment: ServerEnvironment) {
        self.init(RecordServerConfiguration().policy([:]), rows: rows, environment: environment, logger: Logger(label: "test"))
    }

    /// Takes a key as if a transaction had stored it.
    func keep(_ key: StoredKey) { _ = take(AccessChanges(after: version, version: version.next, rows: [key.row])) }

    /// Forgets a key as if a transaction had removed it.
    func forget(_ id: KeyIdentifier) {
        _ = take(AccessChanges(after: version, version: version.next, removed: [AccessRow.Name(.key, id.text)]))
    }
}

extension ServerCore {
    /// Stores a key, which the server then knows.
    func keep(_ key: StoredKey) throws {
        try store.transaction { try $0.keep(key.row) }
        if let access { _ = access.take(try store.accessChanges(after: access.version)) }
    }

    /// Removes a key from the store, which the server then does not know.
    func forget(_ id: KeyIdentifier) throws {
        try store.transaction { try $0.remove(.key, named: id.text) }
        if let access { _ = access.take(try store.accessChanges(after: access.version)) }
    }
}
