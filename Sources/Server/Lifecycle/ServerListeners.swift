import FreshetPlatform
import FreshetSQLite
import FreshetSocketHTTP
import Logging

extension RecordServerConfiguration {
    /// An address to listen on.
    package struct Listener: Hashable, Sendable {
        package var host: String
        package var port: Int
        /// Encrypts its connections; `nil` leaves them plain.
        package var tls: TLS?

        package init(host: String, port: Int, tls: TLS? = nil) { (self.host, self.port, self.tls) = (host, port, tls) }
    }

    /// All addresses, the first one being that of ``host`` and ``port``, and the operators' the last one.
    var listeners: [Listener] { [Listener(host: host, port: port, tls: tls)] + otherListeners + (adminListener.map { [$0] } ?? []) }

    /// Reads and checks the certificates of all listeners. Blocks on the disk.
    package func checkCertificates() throws(RecordServerError) {
        let logger = Logger(label: "freshet.check")
        for tls in listeners.compactMap(\.tls) { _ = try ServerCertificates(tls, .system, logger) }
    }

    /// Whether operators have a separate listener.
    var hasAdminListener: Bool { adminSocket != nil || adminListener != nil }
}

/// The listeners of a running server: their certificates, and the lock of the admin socket.
final class ServerListeners: Sendable {
    /// Which requests are those of operators.
    struct Roles: Sendable {
        /// The index of the operators' listener; `nil` if all listeners serve operators.
        var admin: Int?
        /// Whether that is a socket, whose requests need no credential.
        var isSocket = false

        /// Whether a request came over the admin socket, so that it is the operator's.
        func isOperator(_ request: Request) -> Bool { isSocket && request.listener == admin }

        /// Whether a request may reach the endpoints of operators, if it has the right to.
        func servesOperators(_ request: Request) -> Bool { admin.map { request.listener == $0 } ?? true }
    }

    /// By listener.
    private let certificates: [ServerCertificates?]
    private let socket: String?
    private let hasAdminListener: Bool
    /// Held as long as the server runs.
    private let lock: FileLock?

    /// Reads the certificates. Blocks on the disk.
    init(_ configuration: RecordServerConfiguration, _ environment: ServerEnvironment, _ logger: Logger) throws(RecordServerError) {
        certificates = try configuration.listeners.map { listener throws(RecordServerError) in
            try listener.tls.map { tls throws(RecordServerError) in try ServerCertificates(tls, environment, logger) }
        }
        (socket, hasAdminListener) = (configuration.adminSocket, configuration.hasAdminListener)
        lock = try socket.map { path throws(RecordServerError) in try Self.lock(path) }
    }

    /// Those of listeners with TLS.
    var encrypted: [ServerCertificates] { certificates.compactMap(\.self) }

    /// The digests of the present authorities of client certificates, by the index of the listener.
    var authorities: [Int: String] {
        certificates.enumerated().reduce(into: [:]) { $0[$1.offset] = $1.element?.authority }
    }

    var roles: Roles {
        Roles(admin: hasAdminListener ? certificates.count - (socket == nil ? 1 : 0) : nil, isSocket: socket != nil)
    }

    /// Has an HTTP server listen at all of them.
    func configure(_ http: inout HTTPServerConfiguration, for configuration: RecordServerConfiguration) {
        http.layers = certificates[0]?.layers
        http.otherListeners = zip(configuration.listeners, certificates).enumerated().dropFirst().map { index, parts in
            HTTPListener(
                .address(host: parts.0.host, port: parts.0.port), layers: parts.1?.layers, hasReserve: index == roles.admin)
        }
        if let socket { http.otherListeners.append(HTTPListener(.socket(path: socket), hasReserve: true)) }
    }

    /// Reads the certificates of a configuration with the same listeners, and returns the action that uses all of them, and
    /// returns those of the listeners that have other ones then. Blocks on the disk.
    func prepare(_ configuration: RecordServerConfiguration) throws(RecordServerError) -> () -> [ServerCertificates] {
        var actions: [(certificates: ServerCertificates, exchange: () -> Bool)] = []
        for (listener, certificates) in zip(configuration.listeners, certificates) {
            if let tls = listener.tls, let certificates { actions.append((certificates, try certificates.prepare(tls))) }
        }
        return { [actions] in actions.filter { $0.exchange() }.map(\.certificates) }
    }

    /// Keeps another server from replacing the socket between its check and its replacement.
    private static func lock(_ path: String) throws(RecordServerError) -> FileLock {
        do throws(SocketHTTPError) { try HTTPListener.Address.checkFolder(ofSocket: path) } catch { throw RecordServerError(error) }
        do throws(FileLock.Failure) { return try FileLock(path: path + ".lock") } catch {
            switch error {
            case .held: throw RecordServerError(.socketInUse(path: path))
            case .system(let code):
                throw RecordServerError(.socketUnusable(path: path, reason: "its lock cannot be made: \(SystemFailure(code: code).reason)"))
            }
        }
    }
}
