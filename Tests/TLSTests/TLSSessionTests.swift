import CFreshetTLS
import FreshetSocketHTTP
import FreshetTestSupport
import Testing

@testable import FreshetTLS

/// A session of the server, byte by byte, against a client in memory.
@Suite(.timeLimit(.minutes(5)))
struct TLSSessionTests {
    private static let request = Array("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)

    /// A certificate, for all tests of the suite.
    private struct Fixture: Sendable {
        let authority: TestAuthority
        let context: TLSContext
    }

    private static let fixture = Task {
        let authority = try await TestAuthority()
        let identity = try await authority.issue("server")
        return Fixture(authority: authority, context: try TLSContext(identity.settings, now: .now))
    }

    private func pair(_ options: MemoryClient.Options = .init()) async throws -> (server: MemoryServer, client: MemoryClient) {
        let fixture = try await Self.fixture.value
        return (try MemoryServer(fixture.context), try MemoryClient(trusting: fixture.authority.certificate, options))
    }

    @Test(arguments: [TLS1_2_VERSION, TLS1_3_VERSION], [1, 2, 3, 5, 7, 100, 16_384])
    func bytesPassInBothDirectionsHoweverTheyAreCut(version: Int32, step: Int) async throws {
        // Given a connection whose bytes arrive in pieces
        let (server, client) = try await pair(.init(name: "localhost", versions: version...version))
        server.connect(client, step: step)
        #expect(!server.isHandshaking && client.failure == nil)
        #expect(client.version == (version == TLS1_3_VERSION ? "TLSv1.3" : "TLSv1.2"))
        // When both sides send; Then each receives the bytes of the other
        _ = server.receive(client.send(Self.request), step: step)
        #expect(server.received == Self.request && server.heldBytes == 0)
        _ = client.receive(try #require(server.send([1, 2, 3])))
        #expect(client.received == [1, 2, 3])
    }

    @Test(arguments: [TLS1_2_VERSION, TLS1_3_VERSION]) func aRecordMayBeSplitAtEveryByte(version: Int32) async throws {
        let (server, client) = try await pair(.init(versions: version...version))
        server.connect(client)
        // Given a record for each of its bytes
        let length = client.send(Self.request).count
        let (other, peer) = try await pair(.init(versions: version...version))
        other.connect(peer)
        for place in 1..<length {
            let record = peer.send(Self.request)
            let before = other.received.count
            // When its first part has arrived; Then nothing is delivered, and the part counts
            _ = other.receive(Array(record[..<place]))
            #expect(other.received.count == before && other.heldBytes > 0)
            // When the rest arrives, Then the record is there
            _ = other.receive(Array(record[place...]))
            #expect(Array(other.received[before...]) == Self.request && other.heldBytes == 0)
        }
    }

    @Test(arguments: [TLS1_2_VERSION, TLS1_3_VERSION]) func manyAndLargeRecordsPass(version: Int32) async throws {
        // Given more bytes than one record holds
        let (server, client) = try await pair(.init(versions: version...version))
        server.connect(client)
        let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        // When they are sent in each direction; Then they arrive whole
        _ = server.receive(client.send(bytes))
        #expect(server.received == bytes && server.end == nil)
        _ = client.receive(try #require(server.send(bytes)))
        #expect(client.received == bytes)
    }

    @Test(arguments: [TLS1_2_VERSION, TLS1_3_VERSION]) func anOrderlyEndIsToldFromAFailure(version: Int32) async throws {
        let (server, client) = try await pair(.init(versions: version...version))
        server.connect(client)
        // When the client sends a request and ends its input
        _ = server.receive(client.send(Self.request) + client.close())
        // Then the request is delivered, and the end
        #expect(server.received == Self.request && server.end == .closed)
        // And the server can still answer, and close
        _ = client.receive(try #require(server.send([7])) + server.close())
        #expect(client.received == [7] && client.isClosed)
    }

    @Test(
        "a key exchange over a finite field, which costs the server much and the client nothing, is refused",
        arguments: ["ffdhe2048", "ffdhe8192"])
    func finiteFields(_ group: String) async throws {
        // Given a client that offers only such a group
        let (server, client) = try await pair(.init(versions: TLS1_3_VERSION...TLS1_3_VERSION, groups: group))
        // When it connects, Then the handshake fails
        server.connect(client)
        #expect(!client.isConnected && server.end != nil)
    }

    @Test(arguments: ["X25519", "P-256", "P-384", "ffdhe8192:P-256"])
    func aKeyExchangeOverAnEllipticCurveIsAccepted(_ groups: String) async throws {
        // Given
        let (server, client) = try await pair(.init(versions: TLS1_3_VERSION...TLS1_3_VERSION, groups: groups))
        // When
        server.connect(client)
        // Then
        #expect(client.isConnected && server.end == nil)
    }

    @Test func plainHTTPIsRecognised() async throws {
        for method in ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "X"] {
            let (server, _) = try await pair()
            let output = server.receive(Array("\(method) / HTTP/1.1\r\n\r\n".utf8), step: 1)
            #expect(server.end == .plaintext && output.isEmpty)
        }
    }

    @Test func aHandshakeCountsAsTheBytesThatItMayHold() async throws {
        // Given a client's first message
        let (server, client) = try await pair()
        let hello = client.receive()
        #expect(server.heldBytes == 0)
        // When a part has arrived, it counts as the longest one; when all of it has, as a handshake; and at the end as nothing
        _ = server.receive(Array(hello.prefix(9)))
        #expect(server.heldBytes > 128 << 10)
        let reply = server.receive(Array(hello.dropFirst(9)))
        #expect(server.heldBytes > 0 && server.heldBytes <= 64 << 10)
        _ = client.receive(server.receive(client.receive(reply)))
        #expect(!server.isHandshaking && server.heldBytes == 0)
    }

    @Test(arguments: 0..<200) func garbageFails(seed: UInt64) async throws {
        // Given bytes that are no handshake, with the header of a record for half of them
        var random = SeededGenerator(seed: seed)
        var bytes = (0..<Int.random(in: 5...2_000, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
        if seed % 2 == 0 { bytes[0..<3] = [22, 3, 1] }
        if seed % 4 == 0 { (bytes[3], bytes[4]) = (0, UInt8.random(in: 1...200, using: &random)) }
        // When they arrive at once, or one by one
        let (server, _) = try await pair()
        _ = server.receive(bytes, step: seed % 3 == 0 ? 1 : 500)
        // Then nothing is delivered, and the session has failed or waits for the rest of a record
        #expect(server.received.isEmpty && server.isHandshaking)
        #expect(server.end != nil && server.end != .closed || server.heldBytes > 0)
        #expect(server.send([1]) == nil && server.close().isEmpty)
    }

    @Test(arguments: 0..<100) func aFlippedBitFails(seed: UInt64) async throws {
        let version = seed % 2 == 0 ? TLS1_2_VERSION : TLS1_3_VERSION
        let (server, client) = try await pair(.init(versions: version...version))
        server.connect(client)
        // When one bit of a record is another
        var random = SeededGenerator(seed: seed)
        var record = client.send(Self.request)
        record[Int.random(in: 0..<record.count, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        _ = server.receive(record + client.send(Self.request))
        // Then nothing of it is delivered
        #expect(server.received.isEmpty)
        if server.heldBytes == 0 {
            guard case .failed = server.end else { return #expect(server.end != nil, "it was ignored") }
            #expect(server.send([1]) == nil)
        }
    }

    @Test func versionsBelow12AreRefused() async throws {
        let (server, client) = try await pair(.init(versions: TLS1_VERSION...TLS1_1_VERSION))
        server.connect(client)
        #expect(server.end == .failed("unsupported protocol") && server.isHandshaking)
        // The client receives the alert.
        #expect(client.failure?.contains("alert protocol version") == true, "\(client.failure ?? "none")")
    }

    @Test func renegotiationIsRefused() async throws {
        let (server, client) = try await pair(.init(versions: TLS1_2_VERSION...TLS1_2_VERSION))
        server.connect(client)
        // When the client asks for another handshake; Then it gets a warning, and the connection goes on as it was
        _ = client.receive(server.receive(client.renegotiate()))
        #expect(client.failure?.contains("no renegotiation") == true, "\(client.failure ?? "none")")
    }

    @Test func aRenegotiationThatHasArrivedInPartCountsAsAFirstMessage() async throws {
        // Given a request for a renegotiation in several records
        let (server, client) = try await pair(.init(versions: TLS1_2_VERSION...TLS1_2_VERSION))
        server.connect(client)
        let records = client.renegotiate(recordBytes: 64)
        let first = 5 + Int(records[3]) << 8 + Int(records[4])
        try #require(first < records.count)
        // When the first has arrived, it counts as the longest message; when all have, as nothing
        _ = server.receive(Array(records[..<first]))
        #expect(server.heldBytes > 128 << 10)
        _ = server.receive(Array(records[first...]))
        #expect(server.heldBytes == 0 && server.end == nil)
    }

    @Test func keysAreUpdated() async throws {
        let (server, client) = try await pair(.init(versions: TLS1_3_VERSION...TLS1_3_VERSION))
        server.connect(client)
        for _ in 0..<3 {
            _ = client.receive(server.receive(client.updateKeys()))
            _ = server.receive(client.send([1]))
            _ = client.receive(try #require(server.send([2])))
        }
        #expect(server.received == [1, 1, 1] && client.received == [2, 2, 2])
    }

    @Test func keysAreUpdatedAgainAfterEnoughData() async throws {
        // Given
        let (server, client) = try await pair(.init(versions: TLS1_3_VERSION...TLS1_3_VERSION))
        server.connect(client)
        let data = [UInt8](repeating: 7, count: 64 << 10)
        for round in 1...3 {
            // When the client updates its keys as often as it may, and then sends data; Then all of it arrives
            _ = client.receive(server.receive((0..<32).flatMap { _ in client.updateKeys() }))
            _ = server.receive(client.send(data))
            #expect(server.end == nil && client.failure == nil && server.received.count == round * data.count)
        }
    }

    @Test(arguments: [27, ByteLayerInput.mostBytes], [0, 1]) func aFloodOfKeyUpdatesFails(step: Int, dataBytes: Int) async throws {
        // Given updates of the keys, alone or with a byte of data after each
        let (server, client) = try await pair(.init(versions: TLS1_3_VERSION...TLS1_3_VERSION))
        server.connect(client)
        let data = [UInt8](repeating: 7, count: dataBytes)
        let flood = (0..<1_000).flatMap { _ in client.updateKeys() + (data.isEmpty ? [] : client.send(data)) }
        // When they arrive one by one, or at once, with data behind them
        _ = server.receive(flood + client.send(Self.request), step: step)
        // Then the session fails, and reads nothing behind the last update that it has handled
        #expect(server.end == .failed("too many key updates or renegotiations"))
        #expect(server.received.count <= 33 * dataBytes && server.send([1]) == nil)
    }

    @Test(arguments: [([], ""), (["http/1.1"], "http/1.1"), (["h2", "http/1.1"], "http/1.1")])
    func theProtocolIsHTTP11(offers: [String], chosen: String) async throws {
        let (server, client) = try await pair(.init(protocols: offers))
        server.connect(client)
        #expect(client.chosenProtocol == chosen && !server.isHandshaking)
    }

    @Test func aClientWithoutHTTP11IsRefused() async throws {
        let (server, client) = try await pair(.init(protocols: ["h2", "http/1"]))
        server.connect(client)
        #expect(server.end == .failed("no application protocol"))
        #expect(client.failure?.contains("alert no application protocol") == true, "\(client.failure ?? "none")")
    }

    @Test(arguments: [TLS1_2_VERSION, TLS1_3_VERSION]) func aSessionIsResumedByItsTicket(version: Int32) async throws {
        // Given a client that has connected before
        let (first, client) = try await pair(.init(versions: version...version))
        first.connect(client)
        #expect(!client.isResumed)
        // When it connects again; Then the session is resumed
        let (second, again) = try await pair(.init(versions: version...version, ticket: client.ticket))
        second.connect(again)
        #expect(again.isResumed && !second.isHandshaking)
        // And with other ticket keys it is a new session, without a failure
        let fixture = try await Self.fixture.value
        let third = try MemoryServer(fixture.context.withNewTicketKeys())
        let later = try MemoryClient(trusting: fixture.authority.certificate, .init(versions: version...version, ticket: again.ticket))
        third.connect(later)
        #expect(!later.isResumed && !third.isHandshaking && later.failure == nil)
    }
}
