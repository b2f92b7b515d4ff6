import FreshetServer
import Logging
import ServiceLifecycle
import UnixSignals

/// Reads a server's configuration file and its certificates again at each SIGHUP. Files that cannot be applied change nothing.
struct ReloadOnHangup: Service {
    private let server: RecordServer
    private let file: ConfigurationFile?
    private let base: RecordServerConfiguration
    private let logger: Logger
    private let signals: UnixSignalsSequence

    /// Handles the signal from now on; ``run()`` acts on it.
    ///
    /// - Parameters:
    ///   - file: `nil` for a server without one.
    ///   - base: the settings that the file does not have.
    init(_ server: RecordServer, _ file: ConfigurationFile?, _ base: RecordServerConfiguration, _ logger: Logger) async {
        (self.server, self.file, self.base, self.logger) = (server, file, base, logger)
        signals = await UnixSignalsSequence(trapping: .sighup)
    }

    func run() async throws {
        for await _ in signals.cancelOnGracefulShutdown() {
            if let file { reload(file) }
            if base.tls != nil { reloadCertificates() }
        }
    }

    private func reload(_ file: ConfigurationFile) {
        do {
            try server.reload(try file.settings(base))
            logger.info("the configuration was read again", metadata: ["file": "\(file.path)"])
        } catch {
            let reason = (error as? CommandFailure)?.message ?? "\(error)"
            logger.error("the configuration was not applied, and the former one stays in force", metadata: ["reason": "\(reason)"])
        }
    }

    private func reloadCertificates() {
        do throws(RecordServerError) {
            try server.reloadCertificates()
            logger.notice("the certificates were read again")
        } catch {
            logger.error("the certificates were not exchanged", metadata: ["error": "\(error)"])
        }
    }
}
