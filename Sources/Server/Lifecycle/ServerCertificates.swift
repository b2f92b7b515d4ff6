import FreshetSocketHTTP
import FreshetTLS
import Logging
import Synchronization

/// The certificates of a running server, with its clocks and its log.
final class ServerCertificates: Sendable {
    private let server: TLSServer
    private let environment: ServerEnvironment
    private let logger: Logger
    /// The next time at which they are checked, in monotonic milliseconds.
    private let nextCheck = Atomic<Int64>(0)
    private static let checkInterval: Int64 = 60_000

    /// Reads the files. Blocks on the disk.
    init(_ tls: RecordServerConfiguration.TLS, _ environment: ServerEnvironment, _ logger: Logger) throws(RecordServerError) {
        let settings = TLSSettings(
            certificates: tls.certificates.map { CertificateFiles(chain: $0.chain, key: $0.key) }, clientAuthority: tls.clientAuthority)
        self.environment = environment
        self.logger = logger
        do throws(TLSError) {
            server = try TLSServer(settings, now: Self.now(environment), wall: Self.wall(environment))
        } catch { throw .certificateUnusable(error.description) }
    }

    var layers: any ByteLayerSource { server }

    /// When the first certificate ends, in seconds since 1970.
    var end: Int64 { server.certificateEnd }

    func reload() throws(RecordServerError) {
        do throws(TLSError) {
            try server.reload(now: Self.now(environment), wall: Self.wall(environment))
        } catch { throw .certificateUnusable(error.description) }
        nextCheck.store(0, ordering: .relaxed)
    }

    /// Renews the keys of session tickets, and warns of certificates that end soon. To be called often.
    func timePassed() {
        let now = Self.now(environment)
        guard now >= nextCheck.load(ordering: .relaxed) else { return }
        nextCheck.store(now + Self.checkInterval, ordering: .relaxed)
        if let warning = server.timePassed(now: now, wall: Self.wall(environment)) { logger.warning("\(warning)") }
    }

    private static func now(_ environment: ServerEnvironment) -> Int64 { environment.monotonicNanoseconds() / 1_000_000 }
    private static func wall(_ environment: ServerEnvironment) -> Int64 { environment.wallMilliseconds() / 1_000 }
}
