import Foundation
import FreshetClient
import FreshetFaultProxy
import FreshetServer
import FreshetTestSupport
import FreshetWire
import Testing

/// Clients with keys, over a real server, whose client name belongs to another key.
@Suite struct ClientNameTests {
    private struct Keys {
        let world: ServerFixture
        let keys: [(id: String, token: String)]

        /// A server that requires keys, and keys with all rights.
        init(_ count: Int, in directory: TemporaryDirectory) throws {
            let path = directory.file("data")
            keys = try (0..<count).map { number in
                try OfflineKeys.make(inDirectory: path, request: Array(#"{"name":"\#(number)","admin":true}"#.utf8), now: 0)
            }
            var configuration = RecordServerConfiguration(directory: path)
            configuration.requiresKeys = true
            world = try ServerFixture(configuration)
        }

        func client(_ place: Int, at path: String, throughProxy: Bool = false) throws -> SyncClient {
            let token = keys[place].token
            return try world.client(throughProxy: throughProxy, storage: .directory(path)) { $0.token = { _ in token } }
        }
    }

    @Test func aCloneWithAnotherKeyTakesAnotherNameAndLosesNothing() async throws {
        // Given an image that was used with the first key
        let directory = TemporaryDirectory()
        let server = try Keys(3, in: directory)
        let image = directory.file("image")
        let first = try server.client(0, at: image)
        try await first.start()
        _ = try await within { try await first.notes.setValue(Note(text: "image"), forKey: "0").waitUntilConfirmed() }
        await first.stop()
        // When each clone has another key
        for clone in 1...2 {
            let path = directory.file("clone-\(clone)")
            try FileManager.default.copyItem(atPath: image, toPath: path)
            let client = try server.client(clone, at: path)
            try await client.start()
            let write = try await client.notes.setValue(Note(text: "clone"), forKey: "\(clone)")
            // Then
            _ = try await within { try await write.waitUntilConfirmed() }
            #expect(client.status.writeError == nil && client.status.waitingWrites == 0)
            await client.stop()
        }
        // When the first goes on
        try await first.start()
        _ = try await within { try await first.notes.setValue(Note(text: "image"), forKey: "3").waitUntilConfirmed() }
        try await within { try await first.waitUntilLive() }
        // Then
        for (key, text) in [("0", "image"), ("1", "clone"), ("2", "clone"), ("3", "image")] {
            #expect(try await first.notes.value(forKey: key)?.text == text)
        }
        await first.stop()
        await server.world.server.stop()
    }

    @Test func aDeviceWhoseKeyWasLostContinuesOnceTheKeyIsRevoked() async throws {
        // Given a write that may have been sent with the first key
        let directory = TemporaryDirectory()
        let server = try Keys(2, in: directory)
        let path = directory.file("device")
        let former = try server.client(0, at: path, throughProxy: true)
        try await former.start()
        _ = try await within { try await former.notes.setValue(Note(text: "a", votes: 1), forKey: "1").waitUntilConfirmed() }
        server.world.proxy.refuse()
        try await former.offline()
        _ = try await former.notes.increment("/votes", by: 1, of: "1")
        await former.stop()
        // When another key is used
        let second = try server.client(1, at: path)
        try await second.start()
        let status = try await first(of: second.statuses) {
            $0.writeError == .otherPrincipal(pendingWrites: 1)
        }
        // Then the write waits, and changes are followed
        #expect(status.waitingWrites == 1 && "\(status)".contains("another principal"))
        try await within { try await second.waitUntilLive() }
        // When the first key is revoked
        let revoked = try await curl([
            "-X", "DELETE", "-H", "Authorization: Bearer \(server.keys[1].token)",
            "\(server.world.server.url)/admin/keys/\(server.keys[0].id)",
        ])
        #expect(revoked.status == 200)
        // Then
        try await within { try await second.waitUntilDrained() }
        try await within { try await second.waitUntilLive() }
        #expect(try await second.notes.value(forKey: "1")?.votes == 2 && second.status.writeError == nil)
        await second.stop()
        await server.world.server.stop()
    }
}
