import FreshetClient
import FreshetFaultProxy
import FreshetTestSupport
import Glibc
import Testing

@Suite("A client on a disk that is full", .enabled(if: SmallDisk.isAvailable)) struct FullDiskTests {
    /// Fills the disk to the last byte.
    private func fill(_ disk: SmallDisk) {
        let descriptor = open(disk.path + "/filling", O_WRONLY | O_CREAT | O_APPEND, 0o600)
        defer { close(descriptor) }
        for size in [65_536, 4_096, 1] {
            let bytes = [UInt8](repeating: 0, count: size)
            while write(descriptor, bytes, size) > 0 {}
        }
    }

    @Test("starts, shows what it holds, sends its waiting writes, and refuses new ones until there is room")
    func restart() async throws {
        try await SmallDisk.with(kibibytes: 2_000) { disk in
            // Given a device that holds a record, and a write that it could not send
            let fixture = try ServerFixture()
            let first = try await fixture.live(throughProxy: true, storage: .directory(disk.path + "/cache"))
            _ = try await within { try await first.notes.setValue(Note(text: "a"), forKey: "1").waitUntilConfirmed() }
            fixture.proxy.refuse()
            try await first.offline()
            try await first.notes.setValue(Note(text: "b"), forKey: "2")
            await first.stop()
            // When the disk is full
            fill(disk)
            let second = try fixture.client(throughProxy: true, storage: .directory(disk.path + "/cache"))
            try await second.start()
            // Then
            #expect(try await second.notes.value(forKey: "1") == Note(text: "a"))
            #expect(try await second.notes.value(forKey: "2") == Note(text: "b"))
            await #expect(throws: ClientError.diskFull(path: disk.path + "/cache")) {
                try await second.notes.setValue(Note(text: String(repeating: "c", count: 100_000)), forKey: "3")
            }
            // When there is room again
            try await disk.grow(to: 8_000)
            fixture.proxy.acceptAgain()
            second.retryNow()
            // Then
            _ = try await within { try await second.notes.setValue(Note(text: "c"), forKey: "3").waitUntilConfirmed() }
            try await within { try await second.waitUntilDrained() }
            #expect(try await second.notes.ids() == ["1", "2", "3"])
            await second.stop()
        }
    }
}
