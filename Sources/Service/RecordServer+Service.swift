public import FreshetServer
public import ServiceLifecycle

extension RecordServer: Service {
    /// Starts the server unless it runs, and stops it when the group shuts down gracefully or the task is cancelled:
    /// waiting readers are answered, and requests in flight are finished, as `stop()` describes.
    ///
    /// - Throws: `RecordServerError` if the server cannot start.
    public func run() async throws {
        if address == nil { try start() }
        try? await gracefulShutdown()
        await stop()
    }
}
