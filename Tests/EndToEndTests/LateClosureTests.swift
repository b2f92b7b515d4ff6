import FreshetClient
import FreshetServer
import FreshetTestSupport
import Testing

/// A device is restarted repeatedly with writes that met conflicts, and opens its collection, with the merge closure,
/// only later.
@Suite("Merge closures that come late")
struct LateClosureTests {
    private struct List: Codable, Sendable {
        var items: [String] = []
    }

    /// Appends this device's additions to those of the other one.
    private static let append: MergeClosure<List> = { conflict in
        let base = Set(conflict.base?.items ?? [])
        let added = (conflict.mine?.items ?? []).filter { !base.contains($0) }
        return .value(List(items: (conflict.theirs?.items ?? []) + added))
    }

    private static func client(_ url: String, _ storage: SyncClient.Configuration.Storage = .memory) throws -> SyncClient {
        var configuration = SyncClient.Configuration(url: url, namespace: "late", storage: storage)
        configuration.firstDelay = .milliseconds(10)
        configuration.longestDelay = .milliseconds(50)
        configuration.following = .everything
        return try SyncClient(configuration)
    }

    @Test("every write has its effect exactly once", .timeLimit(.minutes(10)))
    func exactlyOnce() async throws {
        // Given a server, a device that changes the record between the other's processes, and a record
        let folder = TemporaryDirectory()
        let server = try RecordServer.running(RecordServerConfiguration())
        let other = try Self.client(server.url)
        try await other.start()
        let theirs = other.collection("lists", of: List.self)
        try await theirs.setValue(List(), forKey: "1").waitUntilConfirmed()
        var expected: Set<String> = []
        var waited = 0
        // When the device restarts repeatedly: each process meets the conflict of the previous one, opens the
        // collection late, waits until all is merged, and ends with a write that was never sent
        for round in 0..<SoakScale.restarts {
            let device = try Self.client(server.url, .directory(folder.path + "/device"))
            try await device.start()
            try await device.waitUntilLive()
            // The write that the previous process left meets the other's change, and waits for the closure.
            if round > 0 {
                for await status in device.statuses where status.missingMergeClosures == ["lists": 1] { break }
                waited += 1
            }
            let lists = device.collection("lists", of: List.self, merging: Self.append)
            try await device.waitUntilDrained()
            for try await snapshot in lists.snapshots(forKey: "1") where !snapshot.isPending { break }
            // The client stops before the other's change, so the write is based on the value that it has seen, and
            // cannot have been sent.
            let seen = try await lists.value(forKey: "1", policy: .networkOnly) ?? List()
            await device.stop()
            try await theirs.setValue(List(items: seen.items + ["theirs \(round)"]), forKey: "1").waitUntilConfirmed()
            // The same device without a network.
            let offline = try Self.client("http://127.0.0.1:9", .directory(folder.path + "/device"))
            try await offline.start()
            try await offline.collection("lists", of: List.self, merging: Self.append)
                .setValue(List(items: seen.items + ["mine \(round)"]), forKey: "1", onConflict: .merge)
            await offline.stop()
            expected.formUnion(["theirs \(round)", "mine \(round)"])
        }
        let last = try Self.client(server.url, .directory(folder.path + "/device"))
        try await last.start()
        _ = last.collection("lists", of: List.self, merging: Self.append)
        try await last.waitUntilDrained()
        // Then each write is in the record, once
        let items = try await theirs.value(forKey: "1", policy: .networkOnly)?.items ?? []
        #expect(items.count == expected.count && Set(items) == expected, "\(items.count) of \(expected.count)")
        #expect(waited == SoakScale.restarts - 1)
        await last.stop()
        await other.stop()
        await server.stop()
    }
}
