import FreshetTestSupport
import Testing

@testable import FreshetClient

@Suite("A wrong response to a read, while the client stays live") struct ObserverRetryTests {
    struct Response: Sendable {
        var status = "200 OK"
        var body: String

        static func list(_ records: String, next: String) -> Response {
            Response(body: "{\"records\":[\(records)],\"next\":\(next),\"cursor\":\"a-9\"}")
        }
    }

    enum Fault: CaseIterable {
        case cut
        case otherCollection
        case wrongNext
        case refusedToken

        /// The responses, which make more than one list or read fail.
        var responses: [Response] {
            switch self {
            case .cut: Array(repeating: Response(body: "{\"records\":["), count: 5)
            case .otherCollection:
                Array(repeating: .list("{\"key\":\"other/1\",\"revision\":7}", next: "null"), count: 5)
            case .wrongNext: Array(repeating: .list("", next: "\"1\""), count: 4)
            case .refusedToken: Array(repeating: Response(status: "401 Unauthorized", body: ""), count: 5)
            }
        }
    }

    /// A server with the record `notes/1`. It holds each poll until the client closes the connection, so that no event but
    /// the client's timer repeats a read.
    ///
    /// - Parameters:
    ///   - path: a part of the requests that first get `responses`, in order.
    ///   - requests: counts these requests.
    private static func server(_ path: String, _ responses: [Response], _ requests: Counter) -> ScriptedServer {
        ScriptedServer { connection in
            while let (head, _) = connection.request() {
                if head.contains("since=a-9"), !head.contains("wait=0") { return connection.waitUntilClosed() }
                let count = head.contains(path) ? requests.next() : .max
                let answer = count <= responses.count ? responses[count - 1] : Self.response(to: head)
                let fields = "Freshet-Cursor: a-9\r\nFreshet-Last-Write: 0\r\nETag: \"a-7\"\r\n"
                let type = "Content-Type: application/json\r\n"
                connection.respond(answer.body, status: answer.status, fields: fields + type)
            }
        }
    }

    private static func response(to head: String) -> Response {
        if head.contains("/records/notes/1") { return Response(body: "{\"text\":\"a\",\"votes\":0}") }
        if head.contains("/records/notes?") { return .list("{\"key\":\"notes/1\",\"revision\":7}", next: "null") }
        return Response(body: "{\"changes\":[],\"cursor\":\"a-9\",\"upToDate\":true}")
    }

    private static func live(
        _ server: ScriptedServer, firstDelay: Duration = .milliseconds(10), longestDelay: Duration = .milliseconds(50)
    ) async throws -> SyncClient {
        let client = try ServerFixture.client(server.url) {
            ($0.following, $0.hold) = (.cachedRecords, .seconds(60))
            ($0.grace, $0.readTimeout) = (.seconds(600), .seconds(600))
            ($0.firstDelay, $0.longestDelay) = (firstDelay, longestDelay)
        }
        try await client.start()
        try await within { try await client.waitUntilLive() }
        return client
    }

    @Test("is followed by another list for an observer of the collection", arguments: Fault.allCases)
    func list(_ fault: Fault) async throws {
        // Given
        let requests = Counter()
        let server = Self.server("/records/notes?", fault.responses, requests)
        let client = try await Self.live(server)
        // When
        let shown = try await first(of: client.notes.snapshots()) { $0.count == 1 }
        // Then
        #expect(shown.first?.value == Note(text: "a"))
        #expect(requests.count > fault.responses.count && client.status.isLive)
        await client.stop()
        withExtendedLifetime(server) {}
    }

    @Test("is followed by another read for an observer of the record", arguments: [Fault.cut, .refusedToken])
    func record(_ fault: Fault) async throws {
        // Given
        let requests = Counter()
        let server = Self.server("/records/notes/1", fault.responses, requests)
        let client = try await Self.live(server)
        // When
        let shown = try await first(of: client.notes.snapshots(forKey: "1")) { $0.exists }
        // Then
        #expect(shown.value == Note(text: "a"))
        #expect(requests.count > fault.responses.count && client.status.isLive)
        await client.stop()
        withExtendedLifetime(server) {}
    }

    @Test(
        "is followed by no other request before the back-off has ended",
        arguments: [Fault.cut, .otherCollection, .refusedToken])
    func backOff(_ fault: Fault) async throws {
        // Given a client whose back-offs last for hours
        let requests = Counter()
        let server = Self.server("/records/notes?", fault.responses, requests)
        let client = try await Self.live(server, firstDelay: .seconds(18_000), longestDelay: .seconds(18_000))
        // When its list has failed
        let lists = Task { for try await list in client.notes.snapshots() { Issue.record("\(list)") } }
        try await within {
            while requests.count < 1 { await Task.yield() }
            while await client.engine.requests.count > 1 { await Task.yield() }
        }
        // Then, and nothing says that there are no records
        #expect(requests.count == 1 && client.status.isLive)
        await client.stop()
        try await lists.value
        withExtendedLifetime(server) {}
    }

    @Test(
        "is an error for a call of the app: after four attempts if the page was cut, and at once otherwise",
        arguments: [(.cut, 4), (.otherCollection, 1), (.refusedToken, 1)] as [(Fault, Int)])
    func call(_ fault: Fault, attempts: Int) async throws {
        // Given
        let requests = Counter()
        let server = Self.server("/records/notes?", fault.responses, requests)
        let client = try await Self.live(server)
        // When
        let error = await #expect(throws: ClientError.self) { try await within { try await client.notes.ids() } }
        // Then
        switch error {
        case .unexpectedResponse?: #expect(fault != .refusedToken)
        case .unauthorized?: #expect(fault == .refusedToken)
        default: Issue.record("\(String(describing: error))")
        }
        #expect(requests.count == attempts)
        await client.stop()
        withExtendedLifetime(server) {}
    }
}
