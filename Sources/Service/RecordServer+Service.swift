public import FreshetServer
public import ServiceLifecycle

extension RecordServer: Service {
    /// Starts the server unless it runs, and stops it when the group shuts down gracefully or the task is cancelled:
    /// waiting readers are answered, and requests in flight are finished, as `stop()` describes. Also returns when the
    /// server was stopped otherwise.
    ///
    /// - Throws: `RecordServerError` if the server cannot start, or stopped because it could not write a required audit log.
    public func run() async throws {
        if address == nil { try start() }
        try await withTaskCancellationOrGracefulShutdownHandler {
            try await waitUntilStopped()
        } onCancelOrGracefulShutdown: {
            Task { await self.stop() }
        }
    }
}
