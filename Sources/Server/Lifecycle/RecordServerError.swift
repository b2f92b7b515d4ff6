package import FreshetSocketHTTP
import FreshetWire

/// Why a server could not start. The text of each says what to do.
public enum RecordServerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Another program listens on the port: stop it, or choose another (0 picks a free one).
    case addressInUse(host: String, port: Int)
    /// The host is not an address of this machine, or the process may not listen there.
    case addressUnusable(host: String, port: Int, reason: String)
    /// The data directory cannot be made or written: make it, or give the server's user the right to write it.
    case directoryUnusable(path: String, reason: String)
    /// Another server has the data directory open: stop it, or name another directory.
    case directoryInUse(path: String)
    /// The data was written by a newer version: run that one or a later one. The data is untouched.
    case newerSchema(path: String, found: Int, known: Int)
    /// The data is damaged or something other than a database: put a back-up in its place.
    case dataDamaged(path: String, reason: String)
    /// The disk is full: make room.
    case diskFull(path: String)
    /// A certificate or its key cannot be used: the text says why, and what to do.
    case certificateUnusable(String)
    /// The audit log cannot be opened or written: the text says why, and what to do.
    case auditLogUnusable(String)
    /// A setting is out of range: the text says which, and what would be right.
    case invalidConfiguration(String)
    /// The server was started before: make another one.
    case alreadyStarted
    /// Anything else; the text says what.
    case failed(String)

    /// The cause and the remedy, in one line for a person.
    public var description: String {
        switch self {
        case .addressInUse(let host, let port):
            "\(host):\(port) is in use: stop the program that listens there, or choose another port (0 picks a free one)"
        case .addressUnusable(_, _, let reason), .directoryUnusable(_, let reason), .dataDamaged(_, let reason): reason
        case .directoryInUse(let path): StoreError.inUse(path: path).description
        case .newerSchema(let path, let found, let known):
            StoreError.newerSchema(path: path, found: Int64(found), known: Int64(known)).description
        case .diskFull(let path): StoreError.full(path: path).description
        case .certificateUnusable(let text), .auditLogUnusable(let text), .invalidConfiguration(let text), .failed(let text): text
        case .alreadyStarted: "This server was started before: make a new one for each run"
        }
    }

    package init(_ error: SocketHTTPError) {
        switch error {
        case .addressInUse(let host, let port): self = .addressInUse(host: host, port: port)
        case .addressNotAvailable(let host, let port), .permissionDenied(let host, let port):
            self = .addressUnusable(host: host, port: port, reason: error.description)
        case .socketInUse(let path), .socketUnusable(let path, _):
            self = .addressUnusable(host: path, port: 0, reason: error.description)
        case .unknownHost(let host, _): self = .addressUnusable(host: host, port: 0, reason: error.description)
        case .invalidPort: self = .invalidConfiguration(error.description)
        case .alreadyStarted: self = .alreadyStarted
        case .tooManyOpenFiles, .system: self = .failed(error.description)
        }
    }

    package init(_ error: StoreError) {
        switch error {
        case .invalidPath: self = .invalidConfiguration(error.description)
        case .missingDirectory(let path), .notADirectory(let path), .readOnly(let path, _), .moved(let path):
            self = .directoryUnusable(path: path, reason: error.description)
        case .inUse(let path): self = .directoryInUse(path: path)
        case .notADatabase(let path), .corrupt(let path, _): self = .dataDamaged(path: path, reason: error.description)
        case .newerSchema(let path, let found, let known):
            self = .newerSchema(path: path, found: Int(found), known: Int(known))
        case .full(let path): self = .diskFull(path: path)
        case .revisionsExhausted, .unavailable, .overloaded, .outcomeUnknown, .noStore, .notEmpty, .serversConnected, .copyDiffers,
            .unusable, .failed:
            self = .failed(error.description)
        }
    }
}
