import Dispatch
import FreshetServer
import Logging
import ServiceLifecycle
import UnixSignals

/// Makes a server read its configuration and its certificates again at each SIGHUP, and open its audit log again. Files that
/// cannot be applied change nothing. A server without such files runs on.
struct ReloadOnHangup: Service {
    private let server: RecordServer?
    private let logger: Logger
    private let signals: UnixSignalsSequence
    /// A file that cannot be read to its end may hold up a reload for ever, and not the end of the service.
    private let reloads = DispatchQueue(label: "freshet.hangup")

    /// Handles the signal from now on; ``run()`` acts on it.
    /// - Parameter server: `nil` if it has no files to read or open again.
    init(_ server: RecordServer?, _ logger: Logger) async {
        (self.server, self.logger) = (server, logger)
        signals = await UnixSignalsSequence(trapping: .sighup)
    }

    func run() async throws {
        for await _ in signals.cancelOnGracefulShutdown() {
            guard let server else {
                logger.notice("SIGHUP changes nothing: the server has no configuration file, no certificate and no audit log")
                continue
            }
            reloads.async { [logger] in Self.reload(server, logger) }
        }
    }

    private static func reload(_ server: RecordServer, _ logger: Logger) {
        do throws(RecordServerError) {
            try server.reload()
            logger.notice("the configuration and the certificates were read again")
        } catch {
            logger.error("nothing was applied, and the former configuration stays in force", metadata: ["reason": "\(error)"])
        }
        do throws(RecordServerError) { try server.reopenAuditLog() } catch {
            logger.error("the audit log was not opened again, and the former file stays in use", metadata: ["error": "\(error)"])
        }
    }
}
