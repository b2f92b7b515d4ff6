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
        control.set(stored)
        let session = AccessSession(
            Session(stored, expires: nil, generation: 0, at: TimeReading(wall: 0, monotonic: 0)), key.token, generation: .max)
        try control.check(session)
        return (key.id, WriteAccess(session: session, namespace: namespace, control: control))
    }
}

extension AccessControl {
    /// The access of a server without a configuration file.
    convenience init(rows: [AccessRow], environment: ServerEnvironment) {
        self.init(RecordServerConfiguration().policy, rows: rows, environment: environment, logger: Logger(label: "test"))
    }
}
