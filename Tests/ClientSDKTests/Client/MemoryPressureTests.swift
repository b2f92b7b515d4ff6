import FreshetCache
import FreshetClient
import FreshetFaultProxy
import FreshetTestSupport
import Testing

@Suite("A client whose machine is short of memory")
struct MemoryPressureTests {
    @Test("keeps pending and observed records in memory, and reads the rest from disk")
    func shrinks() async throws {
        // Given a device that holds much in memory, and a pressure monitor that only the test notifies
        let fixture = try ServerFixture()
        let directory = TemporaryDirectory()
        var configuration = MemoryPressure.Configuration()
        configuration.root = directory.file("none")
        configuration.servicePath = "/dev/null"
        let pressure = MemoryPressure(configuration)
        let client = try await fixture.live(throughProxy: true, storage: .directory(directory.path)) { $0.memoryPressure = pressure }
        for number in 0..<200 { try await client.notes.setValue(Note(text: String(repeating: "x", count: 1_000)), forKey: "\(number)") }
        try await within { try await client.waitUntilDrained() }
        var observed = client.notes.snapshots(forKey: "3").makeAsyncIterator()
        _ = try await observed.next()
        fixture.proxy.refuse()
        try await client.notes.setValue(Note(text: "mine"), forKey: "4")
        let before = await client.statistics().memory
        // When
        pressure.report(.critical)
        // Then
        let after = await client.statistics().memory
        #expect(after.bytes <= before.bytes / 4 + 4_000 && after.evictions >= 140)
        #expect(client.notes["3"]?.value?.text.count == 1_000)
        #expect(client.notes["4"]?.value?.text == "mine" && client.notes["4"]?.isPending == true)
        for number in 5..<200 {
            #expect(try await client.notes.snapshot(forKey: "\(number)", policy: .cacheOnly).value?.text.count == 1_000)
        }
        _ = observed
        await client.stop()
        await pressure.stop()
    }
}
