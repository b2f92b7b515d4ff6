import FreshetClient
import FreshetTestKit
import FreshetTestSupport
import FreshetWire
import Glibc
import Testing

/// Devices that restart as a new process would.
@Suite(.timeLimit(.minutes(5))) struct RestartTests {
    private let directory = TemporaryDirectory()

    @Test("a device in a relative directory finds it again when it restarts after the working directory has changed")
    func relative() async {
        await #expect(processExitsWith: .success) {
            // Given
            let (home, elsewhere) = (TemporaryDirectory(), TemporaryDirectory())
            #expect(chdir(home.path) == 0)
            let kit = try TestKit()
            let phone = try await kit.device("phone", storage: .directory("./phone"))
            try kit.fault(.dropRequest, of: phone, times: .untilCleared)
            try await phone.notes.setValue(Note(text: "a"), forKey: "1")
            // When
            #expect(chdir(elsewhere.path) == 0)
            try await kit.restart(phone)
            // Then
            #expect(phone.status.waitingWrites == 1 && elsewhere.files.isEmpty)
            await kit.close()
        }
    }

    @Test("a restarted device has its records on disk, and sends the pending writes")
    func restarts() async throws {
        // Given a device without a network, with a record, a pending write and an open sequence
        let kit = try TestKit()
        let phone = try await kit.device("phone", storage: .directory(directory.path))
        try await kit.notes.setValue(Note(text: "a"), forKey: "1")
        try await kit.waitUntilIdle()
        try kit.fault(.dropRequest, of: phone, times: .untilCleared)
        let earlier = phone.client
        let write = try await phone.notes.setValue(Note(text: "b"), forKey: "2")
        var sequence = phone.notes.snapshots(forKey: "1").makeAsyncIterator()
        _ = try await sequence.next()
        // When
        try await kit.restart(phone)
        // Then the earlier client has ended all its operations in progress
        #expect(phone.client !== earlier && earlier.status.connection == .stopped)
        await #expect(throws: ClientError.stopped) { try await write.waitUntilConfirmed() }
        while try await sequence.next() != nil {}
        // And the device continues from its directory
        #expect(try await phone.notes.value(forKey: "1", policy: .cacheOnly) == Note(text: "a"))
        #expect(phone.notes["2"]?.isPending == true && phone.status.waitingWrites == 1)
        kit.clearFaults()
        try await kit.waitUntilIdle()
        #expect(try await kit.notes.all().map(\.value) == [Note(text: "a"), Note(text: "b")])
        await kit.close()
        #expect(phone.status.connection == .stopped)
    }

    @Test("without a directory no data is left, and a stopped device starts")
    func memory() async throws {
        // Given
        let kit = try TestKit()
        let phone = try await kit.device("phone")
        try kit.fault(.dropRequest, of: phone, times: .untilCleared)
        try await phone.notes.setValue(Note(text: "b"), forKey: "2")
        await phone.stop()
        // When
        try await kit.restart(phone)
        // Then
        #expect(phone.notes["2"] == nil && phone.status.waitingWrites == 0)
        kit.clearFaults()
        try await kit.waitUntilIdle()
        #expect(try await kit.notes.all().isEmpty)
        await kit.close()
    }

    @Test("only a device of an open kit restarts")
    func refused() async throws {
        // Given
        let (kit, other) = (try TestKit(), try TestKit())
        let phone = try await kit.device("phone")
        // Then
        await #expect(throws: TestKitError.unknownDevice("phone")) { try await other.restart(phone) }
        await kit.close()
        await #expect(throws: TestKitError.closed) { try await kit.restart(phone) }
        #expect(phone.status.connection == .stopped)
    }
}
