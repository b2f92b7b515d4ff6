import FreshetSocketHTTP
import FreshetTLS
import Logging
import Synchronization

/// The certificates of a listener of a running server, with its clocks and its log.
final class ServerCertificates: Sendable {
    private let server: TLSServer
    private let environment: ServerEnvironment
    private let logger: Logger
    /// The next time at which they are checked, in monotonic milliseconds.
    private let nextCheck = Atomic<Int64>(0)
    private static let checkInterval: Int64 = 60_000

    /// Reads the files. Blocks on the disk.
    init(_ tls: RecordServerConfiguration.TLS, _ environment: ServerEnvironment, _ logger: Logger) throws(RecordServerError) {
        self.environment = environment
        self.logger = logger
        do throws(TLSError) {
            server = try TLSServer(tls.settings, now: Self.now(environment), wall: Self.wall(environment))
        } catch { throw .certificateUnusable(error.description) }
    }

    var layers: any ByteLayerSource { server }

    /// Stands for the authority of client certificates; `nil` if clients need none.
    var authority: String? { server.authority }

    /// When the first certificate ends, in seconds since 1970.
    var end: Int64 { server.certificateEnd }

    /// Reads and checks files, and returns the action that uses them for the connections that follow, and returns whether a
    /// certificate is another one. Blocks on the disk.
    func prepare(_ tls: RecordServerConfiguration.TLS) throws(RecordServerError) -> () -> Bool {
        do throws(TLSError) {
            let prepared = try server.prepare(tls.settings, wall: Self.wall(environment))
            return { [self] in
                let isOther = server.take(prepared, now: Self.now(environment))
                nextCheck.store(0, ordering: .relaxed)
                return isOther
            }
        } catch { throw .certificateUnusable(error.description) }
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

extension RecordServerConfiguration.TLS {
    fileprivate var settings: TLSSettings {
        TLSSettings(certificates: certificates.map { CertificateFiles(chain: $0.chain, key: $0.key) }, clientAuthority: clientAuthority)
    }
}
