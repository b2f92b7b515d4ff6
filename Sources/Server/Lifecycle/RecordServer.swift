import Dispatch
import FreshetSocketHTTP
import FreshetTrust
import FreshetWire
public import Logging
import Synchronization

/// A whole Freshet server in this process.
///
/// ```swift
/// let server = try RecordServer.running()     // in memory, on a free port
/// // … use server.url …
/// await server.stop()
/// ```
///
/// Every member may be called from any thread. A server that is released stops at once, without finishing requests; the
/// writes that it has acknowledged are on disk either way.
public final class RecordServer: Sendable {
    /// Where a server listens.
    public struct Address: Hashable, Sendable {
        /// The numeric address.
        public let host: String
        /// The port; the one that was picked if the configuration has 0.
        public let port: Int
        /// The root URL, for example `http://127.0.0.1:8180`.
        public let url: String
    }

    private enum Phase {
        case new
        case starting
        /// The addresses of all listeners, in their order.
        case running(ServerInstance, [Address])
        case stopping
        case stopped
    }

    private struct State {
        var phase = Phase.new
        /// The calls that wait until the server has stopped.
        var waiting: [CheckedContinuation<Void, Never>] = []
        /// Why the server stops although nothing asked it to.
        var failure: RecordServerError?
    }

    /// With absolute paths; why they cannot be made, which ``start()`` throws.
    private let configuration: Result<RecordServerConfiguration, RecordServerError>
    private let environment: ServerEnvironment
    private let logger: Logger
    private let shared: SharedStore?
    private let state = Mutex(State())
    /// Held from the reading of a configuration to its application, so that an earlier one never replaces a later one.
    private let reloading = Mutex(())

    /// Creates a server that does not run yet. Relative paths of the configuration begin at the present working directory.
    public init(
        _ configuration: RecordServerConfiguration = RecordServerConfiguration(), environment: ServerEnvironment = .system,
        logger: Logger = Logger(label: "freshet.server")
    ) {
        self.configuration = Result { () throws(RecordServerError) in try configuration.withAbsolutePaths() }
        self.environment = environment
        self.logger = logger
        shared = nil
    }

    /// Creates a server over an open store, which several may share. The store stays open when the server stops; the
    /// configuration's `storage` has no effect.
    package init(
        _ configuration: RecordServerConfiguration = RecordServerConfiguration(), sharing store: SharedStore,
        environment: ServerEnvironment = .system, logger: Logger = Logger(label: "freshet.server")
    ) {
        self.configuration = Result { () throws(RecordServerError) in try configuration.withAbsolutePaths() }
        self.environment = environment
        self.logger = logger
        shared = store
    }

    /// Creates a server and starts it; see ``start()``.
    public static func running(
        _ configuration: RecordServerConfiguration = RecordServerConfiguration(), environment: ServerEnvironment = .system,
        logger: Logger = Logger(label: "freshet.server")
    ) throws(RecordServerError) -> RecordServer {
        let server = RecordServer(configuration, environment: environment, logger: logger)
        try server.start()
        return server
    }

    /// Opens the store and listens. The address works as soon as this returns, some milliseconds later. Blocks on the
    /// disk.
    ///
    /// - Throws: ``RecordServerError``, which says what to do; ``RecordServerError/alreadyStarted`` at a second call.
    @discardableResult
    public func start() throws(RecordServerError) -> Address {
        let isNew = state.withLock { state in
            guard case .new = state.phase else { return false }
            (state.phase, state.failure) = (.starting, nil)
            return true
        }
        guard isNew else { throw .alreadyStarted }
        do throws(RecordServerError) {
            let configuration = try configuration.get()
            try configuration.check()
            let run = try ServerInstance(configuration, sharing: shared, environment, logger) { [weak self] reason in
                self?.state.withLock { $0.failure = .auditLogUnusable(reason) }
                Task { await self?.stop() }
            }
            run.core.onReload { [weak self] cause throws(RecordServerError) in try self?.reload(by: cause) }
            let addresses = try run.start().map { Address(host: $0.host, port: $0.port, url: $0.description) }
            let hasFailed = state.withLock { state in
                state.phase = .running(run, addresses)
                return state.failure != nil
            }
            // A call of `stop` before this moment had no effect.
            if hasFailed { Task { await stop() } }
            return addresses[0]
        } catch {
            state.withLock { $0.phase = .new }
            throw error
        }
    }

    /// Where the server listens; `nil` unless it runs.
    public var address: Address? { addresses.first }

    /// All addresses and the admin socket at which the server listens; empty unless it runs.
    package var addresses: [Address] {
        guard case .running(_, let addresses) = state.withLock({ $0.phase }) else { return [] }
        return addresses
    }

    /// The root URL; empty unless the server runs.
    public var url: String { address?.url ?? "" }

    /// Answers waiting readers with their position, finishes requests in flight, and closes the store.
    ///
    /// Requests that take longer than the drain timeout are cut off. A further call waits for the same end. Does nothing
    /// unless the server runs: a call during ``start()`` has no effect.
    public func stop() async {
        let run: ServerInstance? = state.withLock { state in
            guard case .running(let run, _) = state.phase else { return nil }
            state.phase = .stopping
            return run
        }
        guard let run else { return await waitForEnding() }
        await run.stop()
        let waiting = state.withLock { state in
            state.phase = .stopped
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Waits until the server has stopped, by any cause. Returns at once unless the server runs. Cancellation does not
    /// end the wait.
    ///
    /// - Throws: ``RecordServerError/auditLogUnusable(_:)`` if the server stopped because it could not write the audit log
    ///   that ``RecordServerConfiguration/requiresAuditLog`` demands.
    public func waitUntilStopped() async throws(RecordServerError) {
        await waitForEnding()
        if let failure = state.withLock({ $0.failure }) { throw failure }
    }

    private func waitForEnding() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                switch state.phase {
                case .running, .stopping:
                    state.waiting.append(continuation)
                    return false
                case .new, .starting, .stopped: return true
                }
            }
            if isOver { continuation.resume() }
        }
    }

    /// Applies another configuration to the running server: who may use it, for what, and under which names. Waiting readers
    /// are answered with their position.
    ///
    /// - Throws: `invalidConfiguration` if a setting is out of range, or if one that a running server cannot change is
    ///   another; then nothing is applied. `failed` if the server does not run.
    package func reload(_ other: RecordServerConfiguration) throws(RecordServerError) {
        try reloading.withLock { _ throws(RecordServerError) in try apply(other, by: nil) }
    }

    private func apply(_ other: RecordServerConfiguration, by cause: AuditRecord?) throws(RecordServerError) {
        guard case .running(let run, _) = state.withLock({ $0.phase }) else { throw .failed("The server does not run") }
        let (configuration, other) = (try configuration.get(), try other.withAbsolutePaths())
        try other.check()
        let fixed = configuration.fixedSettings(changedBy: other)
        guard fixed.isEmpty else {
            throw .invalidConfiguration("a running server cannot change \(fixed.joined(separator: ", ")): restart it")
        }
        try run.reload(other, by: cause)
    }

    /// Reads the configuration again where it came from, and applies it with its certificates: all or nothing. Without a
    /// source, reads only the certificates again. Blocks on the disk.
    package func reload() throws(RecordServerError) { try reload(by: nil) }

    /// - Parameter cause: the record of the request for it; `nil` if there is none.
    private func reload(by cause: AuditRecord?) throws(RecordServerError) {
        try reloading.withLock { _ throws(RecordServerError) in
            guard let source = try configuration.get().source else { return try applyCertificates(by: cause) }
            try apply(try source(), by: cause)
        }
    }

    /// Reads the files of ``RecordServerConfiguration/tls`` again, for the connections that follow; existing connections go on as they are,
    /// except for those whose certificates the new ``RecordServerConfiguration/TLS/clientAuthority`` has not signed: their waits and
    /// streams end, and they are closed when their next request arrives.
    /// Does nothing unless the server runs with TLS. Blocks on the disk.
    ///
    /// - Throws: ``RecordServerError/certificateUnusable(_:)``; the server then keeps the certificates that it has.
    public func reloadCertificates() throws(RecordServerError) {
        try reloading.withLock { _ throws(RecordServerError) in try applyCertificates(by: nil) }
    }

    private func applyCertificates(by cause: AuditRecord?) throws(RecordServerError) {
        guard case .running(let run, _) = state.withLock({ $0.phase }) else { return }
        try run.reloadCertificates(try configuration.get(), by: cause)
    }

    /// Opens the file of ``RecordServerConfiguration/auditLog`` again, after it was renamed. Does nothing unless the server runs with
    /// one. Blocks on the disk.
    ///
    /// - Throws: ``RecordServerError/auditLogUnusable(_:)``; the server then keeps the file that it has.
    public func reopenAuditLog() throws(RecordServerError) {
        guard case .running(let run, _) = state.withLock({ $0.phase }) else { return }
        try run.core.audit.reopen()
    }

    /// The state that handlers share; `nil` unless the server runs.
    var core: ServerCore? {
        guard case .running(let run, _) = state.withLock({ $0.phase }) else { return nil }
        return run.core
    }

    /// Forgets at once all deletes that are older than the retention.
    package func compact() async {
        guard case .running(let run, _) = state.withLock({ $0.phase }) else { return }
        await run.compact()
    }
}
