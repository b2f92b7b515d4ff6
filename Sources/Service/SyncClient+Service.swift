public import FreshetClient
public import ServiceLifecycle

extension SyncClient: Service {
    /// Starts the client unless it runs, and stops it when the group shuts down gracefully or the task is cancelled.
    /// Writes that wait stay on disk, and are sent after the next start. The app may stop and start the client meanwhile.
    ///
    /// - Throws: `ClientError` if the storage cannot be opened.
    public func run() async throws {
        try await start()
        try? await gracefulShutdown()
        await stop()
    }
}
