import FreshetFaultProxy
import FreshetServer
import FreshetTestSupport
import Logging
import Testing

@Suite("A server behind a fault proxy") struct FaultServerTests {
    @Test("a port that is taken leaves no server running, so that its directory is free at once")
    func takenPort() async throws {
        // Given a server with the port, and a directory
        let other = try RecordServer.running()
        let directory = TemporaryDirectory()
        var configuration = RecordServerConfiguration()
        configuration.storage = .directory(directory.path)
        configuration.port = try #require(other.address?.port)
        // When
        #expect(throws: RecordServerError.addressInUse(host: "127.0.0.1", port: configuration.port)) {
            try FaultServer(configuration, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        }
        // Then
        configuration.port = 0
        let next = try RecordServer.running(configuration)
        await next.stop()
        await other.stop()
    }
}
