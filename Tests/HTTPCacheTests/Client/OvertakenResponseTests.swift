import Dispatch
import FreshetCache
import FreshetHTTPCache
import FreshetPlatform
import FreshetTestSupport
import HTTPTypes
import Synchronization
import Testing

/// Two requests for one URL, of which the first is answered last.
@Suite("Responses that a newer response overtakes") struct OvertakenResponseTests {
    /// An origin that holds its answer to one request, and answers the others at once.
    private final class Origin: Sendable {
        let held: AsyncStream<Void>
        private let gate = DispatchSemaphore(value: 0)
        private let server = Mutex<ScriptedServer?>(nil)

        /// - Parameters:
        ///   - number: the number of the request whose answer is held, from 1.
        ///   - answers: the answers in the order of the requests.
        init(holding number: Int, _ answers: [String]) {
            let (held, continuation) = AsyncStream.makeStream(of: Void.self)
            self.held = held
            let count = Mutex(0)
            let server = ScriptedServer { [gate] connection in
                while connection.request() != nil {
                    let current = count.withLock { count in
                        count += 1
                        return count
                    }
                    if current == number {
                        continuation.yield()
                        gate.wait()
                    }
                    connection.send(current <= answers.count ? answers[current - 1] : "")
                }
            }
            self.server.withLock { $0 = server }
        }

        var url: String { server.withLock { $0?.url ?? "" } }
        func release() { gate.signal() }
    }

    private static let start: Int64 = 1_714_521_600

    /// - Parameter date: the answer's date, in seconds after the start.
    private static func answer(_ status: Int, _ body: String, date: Int64, _ fields: String) -> String {
        "HTTP/1.1 \(status) Text\r\nDate: \(HTTPDate(seconds: start + date))\r\n\(fields)\r\n"
            + (status == 304 ? "\r\n" : "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
    }

    private static func text(_ response: CachedHTTPResponse) -> String { String(decoding: response.body, as: UTF8.self) }

    private static func client(_ time: ManualCacheClock) throws -> CachingHTTPClient {
        var configuration = CachingHTTPClient.Configuration()
        configuration.clock = time.clock
        return try CachingHTTPClient(store: MemoryHTTPCacheStore(), configuration: configuration)
    }

    @Test("an older response does not replace a newer one", arguments: ["", "\r\nVary: Accept"])
    func olderResponse(vary: String) async throws {
        // Given a request in flight, and the answer to a later one
        let fields = "Cache-Control: max-age=60\(vary)"
        let origin = Origin(holding: 1, [Self.answer(200, "old", date: 0, fields), Self.answer(200, "new", date: 1, fields)])
        let time = ManualCacheClock(wall: Self.start * 1_000)
        let client = try Self.client(time)
        let url = origin.url
        let slow = Task { try await client.data(from: url) }
        for await _ in origin.held { break }
        time.advance(by: .seconds(1))
        #expect(Self.text(try await within { try await client.data(from: url, mode: .reload) }) == "new")
        // When the first request is answered
        time.advance(by: .seconds(1))
        origin.release()
        // Then its caller gets the answer, and the newer one stays stored
        let response = try await within { try await slow.value }
        #expect(Self.text(response) == "old" && response.storage == .refused(.outdated))
        let stored = try await client.data(from: url)
        #expect(Self.text(stored) == "new" && stored.source == .cache)
    }

    @Test("a response that is newer by its date replaces one that was received before it")
    func newerResponse() async throws {
        let fields = "Cache-Control: max-age=60"
        let origin = Origin(holding: 1, [Self.answer(200, "new", date: 2, fields), Self.answer(200, "old", date: 1, fields)])
        let time = ManualCacheClock(wall: Self.start * 1_000)
        let client = try Self.client(time)
        let url = origin.url
        let slow = Task { try await client.data(from: url) }
        for await _ in origin.held { break }
        time.advance(by: .seconds(1))
        _ = try await within { try await client.data(from: url, mode: .reload) }
        time.advance(by: .seconds(1))
        origin.release()
        #expect(try await within { try await slow.value }.storage == .stored)
        #expect(Self.text(try await client.data(from: url)) == "new")
    }

    @Test("a confirmation does not restore a response that was replaced meanwhile", arguments: ["", "\r\nVary: Accept"])
    func lateConfirmation(vary: String) async throws {
        // Given a stale response, and a request in flight to validate it
        let fields = "Cache-Control: max-age=60\(vary)\r\nETag: "
        let origin = Origin(
            holding: 2,
            [
                Self.answer(200, "old", date: 0, fields + "\"1\""), Self.answer(304, "", date: 61, fields + "\"1\""),
                Self.answer(200, "new", date: 61, fields + "\"2\""),
            ])
        let time = ManualCacheClock(wall: Self.start * 1_000)
        let client = try Self.client(time)
        let url = origin.url
        _ = try await within { try await client.data(from: url) }
        time.advance(by: .seconds(61))
        let slow = Task { try await client.data(from: url) }
        for await _ in origin.held { break }
        // When the response is replaced before the confirmation arrives
        _ = try await within { try await client.data(from: url, mode: .reload) }
        origin.release()
        // Then the confirmed response goes to its caller, and the other one stays stored
        let confirmed = try await within { try await slow.value }
        #expect(Self.text(confirmed) == "old" && confirmed.source == .validated && confirmed.storage == .refused(.outdated))
        let stored = try await client.data(from: url)
        #expect(Self.text(stored) == "new" && stored.source == .cache)
    }
}
