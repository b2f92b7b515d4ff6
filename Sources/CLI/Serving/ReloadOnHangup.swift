import FreshetServer
import Logging
import ServiceLifecycle
import UnixSignals

/// Reads a server's configuration file again at each SIGHUP. A file that cannot be applied changes nothing.
struct ReloadOnHangup: Service {
    private let file: ConfigurationFile
    private let base: RecordServerConfiguration
    private let server: RecordServer
    private let logger: Logger
    private let signals: UnixSignalsSequence

    /// Handles the signal from now on; ``run()`` acts on it.
    ///
    /// - Parameter base: the settings that the file does not have.
    init(_ file: ConfigurationFile, _ base: RecordServerConfiguration, _ server: RecordServer, _ logger: Logger) async {
        (self.file, self.base, self.server, self.logger) = (file, base, server, logger)
        signals = await UnixSignalsSequence(trapping: .sighup)
    }

    func run() async throws {
        for await _ in signals.cancelOnGracefulShutdown() {
            do {
                try server.reload(try file.settings(base))
                logger.info("the configuration was read again", metadata: ["file": "\(file.path)"])
            } catch let failure as CommandFailure {
                refuse(failure.message)
            } catch { refuse("\(error)") }
        }
    }

    private func refuse(_ reason: String) {
        logger.error("the configuration was not applied, and the former one stays in force", metadata: ["reason": "\(reason)"])
    }
}
