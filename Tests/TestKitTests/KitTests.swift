import FreshetClient
import FreshetServer
import FreshetTestKit
import FreshetTestSupport
import FreshetWire
import Testing

/// Making and closing kits, and what they refuse.
@Suite(.timeLimit(.minutes(5))) struct KitTests {
    @Test func aKitHasAFreshNamespaceOnTheSharedServer() throws {
        let (one, other) = (try TestKit(), try TestKit())
        #expect(one.url == other.url && one.url.hasPrefix("http://127.0.0.1:"))
        #expect(one.namespace != other.namespace)
    }

    @Test func othersReachItByHTTP() async throws {
        // Given
        let kit = try TestKit()
        let phone = try await kit.device("phone")
        // When a program of any kind writes
        let url = "\(kit.url)/v1/\(kit.namespace)/records/notes/1"
        let answer = try await curl(["-X", "PUT", "-H", "Content-Type: application/json", "-d", #"{"text":"curl"}"#, url])
        try await kit.waitUntilIdle()
        // Then
        #expect(answer.status == 201)
        #expect(phone.notes["1"]?.value == Note(text: "curl"))
        await kit.close()
    }

    @Test func aClosedKitLeavesNothing() async throws {
        // Given
        let server = try TestKit.Server()
        let kit = try TestKit(on: server, namespace: "mine")
        let phone = try await kit.device("phone")
        try await kit.notes.setValue(Note(text: "x"), forKey: "1")
        try kit.fault(.answer(503), times: .untilCleared)
        // When
        await kit.close()
        await kit.close()
        // Then
        #expect(phone.status.connection == .stopped)
        #expect(try await TestKit(on: server, namespace: "mine").notes.all().isEmpty)
        #expect(try await curl(["\(server.url)/v1/mine/faults"]).body.contains(#"{"faults":[]}"#))
        await #expect(throws: TestKitError.closed) { try await kit.device("other") }
        await server.stop()
        #expect(throws: TestKitError.closed) { try TestKit(on: server) }
    }

    @Test func aKitThatIsLetGoOfLeavesNothingEither() async throws {
        // Given a kit that is released without having been closed
        let server = try TestKit.Server()
        var kit: TestKit? = try TestKit(on: server, namespace: "mine")
        try await kit?.notes.setValue(Note(text: "x"), forKey: "1")
        // When
        kit = nil
        // Then a later read finds nothing: writes are applied in their order
        let next = try TestKit(on: server, namespace: "mine")
        try await next.notes.setValue(Note(text: "y"), forKey: "2")
        #expect(try await next.notes.all().map(\.value) == [Note(text: "y")])
        await server.stop()
    }

    @Test func aCollectionThatIsInUseKeepsItsKit() async throws {
        // Given a collection whose kit has no other owner
        let server = try TestKit.Server()
        var kit: TestKit? = try TestKit(on: server, namespace: "mine")
        let notes = try #require(kit?.notes)
        try await notes.setValue(Note(text: "x"), forKey: "1")
        // When
        kit = nil
        // Then its records stay as long as the collection is retained
        try await notes.setValue(Note(text: "y"), forKey: "2")
        #expect(try await notes.all().map(\.value) == [Note(text: "x"), Note(text: "y")])
        await server.stop()
    }

    @Test func aServerOfItsOwnKeepsRecordsWhereItIsTold() async throws {
        // Given a server with a directory
        let folder = TemporaryDirectory()
        let configuration = RecordServerConfiguration(directory: folder.file("data"))
        let first = try TestKit.Server(configuration)
        let kit = try TestKit(on: first, namespace: "mine")
        try await kit.notes.setValue(Note(text: "x"), forKey: "1")
        await first.stop()
        // Then another server finds its data
        let second = try TestKit.Server(configuration)
        #expect(try await TestKit(on: second, namespace: "mine").notes.value(forKey: "1") == Note(text: "x"))
        await second.stop()
        withExtendedLifetime(kit) {}
    }

    @Test func aServerThatCannotStartSaysWhatToDo() {
        var configuration = RecordServerConfiguration()
        configuration.storage = .directory("/nowhere/at/all")
        #expect { try TestKit.Server(configuration) } throws: { "\($0)".contains("mkdir -p") }
    }

    @Test func whatCannotBeIsRefused() async throws {
        let (kit, other) = (try TestKit(), try TestKit())
        let foreign = try await other.device("phone")
        try await kit.device("phone")
        await #expect(throws: TestKitError.nameTaken("phone")) { try await kit.device("phone") }
        await #expect { try await kit.device("a/b") } throws: { "\($0)".contains("'a/b' names no device") }
        #expect(throws: TestKitError.unknownDevice("phone")) { try kit.fault(.freeze, of: foreign) }
        #expect(throws: TestKitError.unknownDevice("phone")) { try kit.expireToken(of: foreign) }
        #expect { try kit.fault(.freeze, times: 0) } throws: { "\($0)".contains("it takes 1 or more") }
        #expect { try kit.fault(.answer(200)) } throws: { "\($0)".contains("it takes 400 to 599") }
        #expect { try kit.fault(.answer(503, retryAfter: -1)) } throws: { "\($0)".contains("it takes 0 to 86400") }
        #expect { try kit.fault(.delayReply(.seconds(61))) } throws: { "\($0)".contains("it takes 0 to 60 seconds") }
        #expect { try TestKit(namespace: "No") } throws: { "\($0)".contains("is no namespace") }
    }
}
