import FoundationEssentials
import FreshetClient
import FreshetFaultProxy
import FreshetServer
import FreshetTestSupport
import FreshetWire
import Testing

/// Whose cache a directory is.
@Suite("The owner of a directory") struct PrincipalTests {
    private let directory = TemporaryDirectory()

    private func client(_ fixture: ServerFixture, _ principal: String?, throughProxy: Bool = false) throws -> SyncClient {
        try fixture.client(throughProxy: throughProxy, storage: .directory(directory.path)) { $0.principal = principal }
    }

    /// Whether a file of the directory contains the text.
    private func holds(_ text: String) throws -> Bool {
        try FileManager.default.contentsOfDirectory(atPath: directory.path).contains { name in
            let bytes = Array(try Data(contentsOf: URL(filePath: directory.file(name))))
            return String(decoding: bytes, as: UTF8.self).contains(text)
        }
    }

    /// Ann's running client, which holds a record and has lost the server.
    private func ann(_ fixture: ServerFixture) async throws -> SyncClient {
        let ann = try client(fixture, "ann", throughProxy: true)
        try await ann.start()
        _ = try await within { try await ann.notes.setValue(Note(text: "secret-record"), forKey: "1").waitUntilConfirmed() }
        fixture.proxy.refuse()
        try await ann.offline()
        return ann
    }

    @Test("keeps other principals out until it is cleared, and counts the waiting writes")
    func another() async throws {
        // Given a directory of Ann's with a record and a waiting write
        let fixture = try ServerFixture()
        let ann = try await ann(fixture)
        try await ann.notes.setValue(Note(text: "secret-write"), forKey: "2")
        await ann.stop()
        // When another principal opens it, or none
        for principal in ["bob", nil] {
            let other = try client(fixture, principal)
            await #expect(throws: ClientError.otherPrincipal(pendingWrites: 1)) { try await other.start() }
            #expect(other.notes["1"] == nil && "\(ClientError.otherPrincipal(pendingWrites: 1))".contains("clear()"))
        }
        // Then Ann still has it
        try await ann.start()
        #expect(try await ann.notes.value(forKey: "1", policy: .cacheOnly)?.text == "secret-record" && ann.status.waitingWrites == 1)
        await ann.stop()
        // When Bob clears it
        let bob = try client(fixture, "bob")
        try await bob.clear()
        #expect(try !holds("secret-record") && !holds("secret-write"))
        try await bob.start()
        #expect(bob.status.waitingWrites == 0)
        await bob.stop()
        // Then it is Bob's
        await #expect(throws: ClientError.otherPrincipal(pendingWrites: 0)) { try await ann.start() }
    }

    @Test("is the first principal that opens it, and nobody's after a log-out")
    func adopted() async throws {
        let fixture = try ServerFixture()
        for principal in [nil, "ann"] {
            let client = try client(fixture, principal)
            try await client.start()
            if principal == nil { await client.stop() } else { try await client.clear(andStop: true) }
        }
        let bob = try client(fixture, "bob")
        try await bob.start()
        try await bob.clear()
        await bob.stop()
        // A clear that continues keeps the principal of the client
        await #expect(throws: ClientError.otherPrincipal(pendingWrites: 0)) { try await client(fixture, nil).start() }
    }

    @Test("stays while its writes wait after a log-out that keeps them; they are sent once, and no record is left in a file")
    func kept() async throws {
        // Given
        let fixture = try ServerFixture()
        let ann = try await ann(fixture)
        try await ann.notes.increment("/votes", by: 1, of: "1")
        // When
        let observed = ann.notes.snapshots(forKey: "1")
        try await within { try await ann.clear(keepingOutbox: true) }
        // Then
        #expect(try !holds("secret-record") && ann.status.waitingWrites == 1)
        #expect(try await ann.notes.snapshot(forKey: "1", policy: .cacheOnly).isPending)
        _ = try await first(of: observed) { $0.isPending && $0.value == nil }
        await ann.stop()
        await #expect(throws: ClientError.otherPrincipal(pendingWrites: 1)) { try await client(fixture, "bob").start() }
        // When a client that is not running does the same
        try await ann.clear(keepingOutbox: true)
        fixture.proxy.acceptAgain()
        try await ann.start()
        try await within { try await ann.waitUntilDrained() }
        // Then
        _ = try await first(of: ann.notes.snapshots(forKey: "1")) { $0.value == Note(text: "secret-record", votes: 1) && !$0.isPending }
        await ann.stop()
    }

    @Test("takes 1 to 1,024 bytes")
    func bounds() throws {
        let fixture = try ServerFixture()
        for text in ["", String(repeating: "x", count: 1_025)] {
            #expect(throws: ClientError.self) { try client(fixture, text) }
        }
        _ = try client(fixture, String(repeating: "x", count: 1_024))
    }
}
