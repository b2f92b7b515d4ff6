import Glibc

/// The reason why a server could not start. Each description says how to fix the problem.
public enum SocketHTTPError: Error, Sendable, Equatable {
    /// Another socket listens there already.
    case addressInUse(host: String, port: Int)
    /// This host does not have the address.
    case addressNotAvailable(host: String, port: Int)
    /// The process may not listen there; ports below 1024 usually need a privilege.
    case permissionDenied(host: String, port: Int)
    /// Another process listens at the path of a Unix socket.
    case socketInUse(path: String)
    /// A Unix socket cannot be made at the path.
    case socketUnusable(path: String, reason: String)
    /// The host's name has no address.
    case unknownHost(String, reason: String)
    /// A port is 0 (any free one) to 65535.
    case invalidPort(Int)
    /// The process or the system is out of descriptors.
    case tooManyOpenFiles
    /// `start()` was called on a server that runs or has run.
    case alreadyStarted
    /// A system call failed with an error that no other case covers.
    case system(call: String, errno: Int32)

    init(errno code: Int32, during call: String) {
        switch code {
        case EMFILE, ENFILE: self = .tooManyOpenFiles
        default: self = .system(call: call, errno: code)
        }
    }

    init(errno code: Int32, binding host: String, port: Int) {
        switch code {
        case EADDRINUSE: self = .addressInUse(host: host, port: port)
        case EADDRNOTAVAIL: self = .addressNotAvailable(host: host, port: port)
        case EACCES, EPERM: self = .permissionDenied(host: host, port: port)
        default: self.init(errno: code, during: "bind")
        }
    }
}

extension SocketHTTPError: CustomStringConvertible {
    /// One line for a person: the problem, and how to fix it.
    public var description: String {
        switch self {
        case .addressInUse(let host, let port):
            "\(host):\(port) is in use: stop the program that listens there, or choose another port (0 picks a free one)"
        case .addressNotAvailable(let host, let port):
            "\(host):\(port) is not an address of this machine: listen on 127.0.0.1, 0.0.0.0 or an address that `ip address` shows"
        case .permissionDenied(let host, let port):
            "not allowed to listen on \(host):\(port): choose a port from 1024 up, or grant CAP_NET_BIND_SERVICE"
        case .socketInUse(let path):
            "another process listens at \(path): stop it, or choose another path"
        case .socketUnusable(let path, let reason):
            "no socket can be made at \(path): \(reason)"
        case .unknownHost(let host, let reason):
            "cannot resolve host \"\(host)\" (\(reason)): use an address such as 127.0.0.1 or ::1, or a name this machine knows"
        case .invalidPort(let port):
            "\(port) is not a port: use 1 to 65535, or 0 for any free one"
        case .tooManyOpenFiles:
            "too many open files: raise the limit (`ulimit -n`) or close what is not needed"
        case .alreadyStarted:
            "this server was started before: make a new one for each run"
        case .system(let call, let code):
            "\(call) failed: \(String(cString: strerror(code))) (errno \(code))"
        }
    }
}
