import FreshetClient
import FreshetServer
import FreshetTestSupport
import Testing

/// Eight devices read, write and invalidate while their connections are cut at random; then each cache must equal the server.
@Suite("No stale read")
struct StaleReadTests {
    @Test("no revision ever falls, and in the end each cache equals the server", .timeLimit(.minutes(10)))
    func noStaleRead() async throws {
        // Given a server on disk and eight devices with separate caches, each behind a network that fails
        let folder = TemporaryDirectory()
        let server = try RecordServer.running(RecordServerConfiguration(directory: "\(folder.path)/server"))
        let port = try #require(server.address?.port)
        var devices: [ChaosDevice] = []
        for index in 0..<8 { devices.append(try await ChaosDevice(index: index, port: port, directory: "\(folder.path)/device-\(index)")) }

        // When they mix reads, writes and invalidations on 500 keys, and connections are cut at random
        let deadline = ContinuousClock.now + .seconds(SoakScale.staleSeconds)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for device in devices { group.addTask { try await device.work(until: deadline) } }
            try await group.waitForAll()
        }

        // Then no device ever saw a key's revision fall
        for device in devices {
            let falls = await device.falls
            #expect(falls.isEmpty, "device \(device.index) saw \(falls.prefix(3))")
        }
        // And once all writes are decided, each cache equals the server
        for device in devices { try await device.settle() }
        let truth = try await ChaosDevice.truth(port: port)
        for device in devices {
            let differences = try await device.differences(from: truth)
            #expect(differences.isEmpty, "device \(device.index): \(differences.prefix(3))")
        }
        for device in devices { await device.client.stop() }
        await server.stop()
    }
}
