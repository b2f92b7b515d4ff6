import FreshetClient
import FreshetServer
import FreshetTestKit
import FreshetTestSupport
import FreshetWire
import Testing

/// Kits that end before the test does, and what they leave for the next one.
@Suite("Closed and released kits", .timeLimit(.minutes(5))) struct ClosingTests {
    @Test("a closed kit refuses faults, records and waits, and its namespace is not created again")
    func refusesFurtherUse() async throws {
        // Given
        let server = try TestKit.Server()
        let kit = try TestKit(on: server, namespace: "mine")
        let phone = try await kit.device("phone")
        let notes = kit.notes
        let fault = try kit.fault(.freeze)
        await kit.close()
        // Then
        #expect(throws: TestKitError.closed) { try kit.fault(.freeze) }
        #expect(throws: TestKitError.closed) { try kit.expireToken(of: phone) }
        await #expect(throws: TestKitError.closed) { try await notes.setValue(Note(text: "x"), forKey: "1") }
        await #expect(throws: TestKitError.closed) { try await notes.all() }
        await #expect(throws: TestKitError.closed) { try await kit.invalidate(.everything) }
        await #expect(throws: TestKitError.closed) { try await kit.compact() }
        await #expect(throws: TestKitError.closed) { try await kit.reset() }
        await #expect(throws: TestKitError.closed) { try await kit.waitUntilIdle() }
        await #expect(throws: TestKitError.closed) { try await kit.waitForFault(fault) }
        await #expect(throws: TestKitError.closed) { try await kit.restart(phone) }
        #expect(try await TestKit(on: server, namespace: "mine").notes.all().isEmpty)
        await server.stop()
    }

    @Test("a kit on a server that has stopped says that it is closed")
    func serverHasStopped() async throws {
        let server = try TestKit.Server()
        let kit = try TestKit(on: server)
        await server.stop()
        await #expect(throws: TestKitError.closed) { try await kit.notes.setValue(Note(text: "x"), forKey: "1") }
        #expect(throws: TestKitError.closed) { try kit.fault(.freeze) }
        await kit.close()
    }

    @Test("a device that is made while its kit closes does not run afterwards")
    func deviceDuringClose() async throws {
        let server = try TestKit.Server()
        for _ in 1...200 {
            // Given
            let kit = try TestKit(on: server)
            // When
            async let device = kit.device("phone")
            await kit.close()
            // Then
            do { _ = try await device } catch { #expect(error as? TestKitError == .closed) }
            #expect(kit.devices.allSatisfy { $0.status.connection == .stopped })
        }
        await server.stop()
    }

    @Test("a device that a test still has stops when its kit is released")
    func deviceOfAReleasedKit() async throws {
        // Given
        var kit: TestKit? = try TestKit()
        let phone = try #require(try await kit?.device("phone"))
        try await kit?.waitUntilIdle()
        // When
        kit = nil
        // Then
        for await status in phone.client.statuses where status.connection == .stopped { break }
    }

    @Test("a kit on a directory has no records of a kit that an earlier process did not close")
    func leftRecords() async throws {
        // Given a test that failed half way, on a server with a directory
        let folder = TemporaryDirectory()
        let configuration = RecordServerConfiguration(directory: folder.file("data"))
        let first = try TestKit.Server(configuration)
        let kit = try TestKit(on: first)
        try await kit.notes.setValue(Note(text: "x"), forKey: "1")
        await first.stop()
        // When the next run begins
        let second = try TestKit.Server(configuration)
        // Then
        #expect(try await TestKit(on: second).notes.all().isEmpty)
        await second.stop()
        withExtendedLifetime(kit) {}
    }
}
