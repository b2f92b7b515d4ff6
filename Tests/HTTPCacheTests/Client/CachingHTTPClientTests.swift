import Dispatch
import FreshetCache
import FreshetHTTPCache
import FreshetTestSupport
import Glibc
import HTTPTypes
import Synchronization
import Testing

/// What many callers at once, cancellation and stores that fail do.
@Suite struct CachingHTTPClientTests {
    private static func text(_ response: CachedHTTPResponse) -> String { String(decoding: response.body, as: UTF8.self) }

    @Test(arguments: ["Cache-Control: max-age=60\r\n", "Cache-Control: max-age=60\r\nVary: Accept\r\n"])
    func aHundredCallersShareOneRequest(lines: String) async throws {
        // Given an origin that holds its answers
        let origin = HeldOrigin(lines: lines)
        let client = try CachingHTTPClient(store: MemoryHTTPCacheStore())
        // When a hundred ask, and it answers once the first has come
        let bodies = try await within {
            try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<100 { group.addTask { Self.text(try await client.data(from: origin.url + "/a")) } }
                for await _ in origin.arrived { break }
                origin.release()
                return try await group.reduce(into: Set<String>()) { $0.insert($1) }
            }
        }
        // Then it was asked once, and all have that answer
        #expect(origin.count == 1 && bodies == ["1"])
        let statistics = client.statistics
        #expect(statistics.fetched + statistics.served == 100 && statistics.stored == 1)
        #expect("\(statistics)".hasPrefix("\(statistics.served) from the cache, 0 validated, \(statistics.fetched) fetched ("))
        #expect("\(statistics)".contains(", 1 stored"))
    }

    @Test func anAnswerThatMayNotBeKeptIsSharedWithNobody() async throws {
        let origin = HeldOrigin(lines: "Cache-Control: no-store\r\n")
        let client = try CachingHTTPClient(store: MemoryHTTPCacheStore())
        let bodies = try await within {
            try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<10 { group.addTask { Self.text(try await client.data(from: origin.url + "/a")) } }
                for await _ in origin.arrived { break }
                origin.release()
                return try await group.reduce(into: Set<String>()) { $0.insert($1) }
            }
        }
        #expect(bodies.count == 10)
    }

    @Test func aCallerThatIsCancelledHarmsNobodyAndTheLastEndsTheRequest() async throws {
        // Given two callers of the same URL, at an origin that holds its answers
        let origin = HeldOrigin(lines: "Cache-Control: max-age=60\r\n")
        let client = try CachingHTTPClient(store: MemoryHTTPCacheStore())
        let url = origin.url + "/a"
        let first = Task { try await client.data(from: url) }
        for await _ in origin.arrived { break }
        let second = Task { try await client.data(from: url) }
        // When the first is cancelled
        first.cancel()
        await #expect(throws: CancellationError.self) { try await within { try await first.value } }
        origin.release()
        // Then the second has an answer: of the shared request, or of a separate one if it came too late to share
        _ = try await within { try await second.value }
        #expect(origin.count <= 2)
    }

    @Test func aRequestThatNobodyWaitsForEnds() async throws {
        // Given an origin that never answers, and says when its client has gone
        let (gone, left) = AsyncStream.makeStream(of: Void.self)
        let (arrived, came) = AsyncStream.makeStream(of: Void.self)
        let server = ScriptedServer { connection in
            _ = connection.request()
            came.yield()
            connection.waitUntilClosed()
            left.yield()
        }
        let client = try CachingHTTPClient(store: MemoryHTTPCacheStore())
        let only = Task { try await client.data(from: server.url) }
        for await _ in arrived { break }
        // When its only caller is cancelled, then the connection is closed
        only.cancel()
        await #expect(throws: CancellationError.self) { try await within { try await only.value } }
        _ = try await first(of: gone) { _ in true }
    }

    @Test func whatIsRemovedMeanwhileIsNotKept() async throws {
        // Given a request under way
        let origin = HeldOrigin(lines: "Cache-Control: max-age=60\r\n")
        let client = try CachingHTTPClient(store: MemoryHTTPCacheStore())
        let url = origin.url + "/a"
        let before = Task { try await client.data(from: url) }
        for await _ in origin.arrived { break }
        // When its URL is removed before the answer comes
        try await client.remove(url)
        origin.release()
        // Then its caller has the answer, which is not kept
        let response = try await within { try await before.value }
        #expect(response.storage == .refused(.outdated))
        #expect(Self.text(try await client.data(from: url)) == "2")
    }

    @Test func urlsAreRemovedByPrefixWithTheirVariantsAndWhatIsUnderWay() async throws {
        // Given two URLs under a folder, one with variants, and a third beside it
        let origin = HeldOrigin(lines: "Cache-Control: max-age=60\r\nVary: Accept-Language\r\n")
        origin.release()
        let client = try CachingHTTPClient(store: MemoryHTTPCacheStore())
        for path in ["/news/1", "/news/2", "/newspaper"] { _ = try await client.data(from: origin.url + path) }
        _ = try await client.data(from: origin.url + "/news/1", fields: [.acceptLanguage: "de"])
        // When the folder is removed
        try await client.removeAll(withPrefix: origin.url.replacing("http", with: "HTTP") + "/news/")
        // Then its URLs are asked for again, and the other is not
        #expect(try await client.data(from: origin.url + "/newspaper").source == .cache)
        for path in ["/news/1", "/news/2"] { #expect(try await client.data(from: origin.url + path).source == .network) }
        #expect(try await client.data(from: origin.url + "/news/1", fields: [.acceptLanguage: "de"]).source == .network)
        // And a prefix that is no URL is refused
        await #expect(throws: HTTPClientError.self) { try await client.removeAll(withPrefix: "/news/") }
    }

    @Test func whatIsUnderWayToARemovedPrefixIsNotKept() async throws {
        // Given a request under way
        let origin = HeldOrigin(lines: "Cache-Control: max-age=60\r\n")
        let client = try CachingHTTPClient(store: MemoryHTTPCacheStore())
        let url = origin.url + "/a/1"
        let before = Task { try await client.data(from: url) }
        for await _ in origin.arrived { break }
        // When its folder is removed before the answer comes
        try await client.removeAll(withPrefix: origin.url + "/a/")
        origin.release()
        // Then its caller has the answer, which is not kept
        #expect(try await within { try await before.value }.storage == .refused(.outdated))
        #expect(Self.text(try await client.data(from: url)) == "2")
    }

    @Test func whatIsBeingWrittenWhenAllIsRemovedDoesNotComeBack() async throws {
        // Given a store whose write has begun and waits
        let store = SlowStore()
        let origin = HeldOrigin(lines: "Cache-Control: max-age=60\r\n")
        origin.release()
        let client = try CachingHTTPClient(store: store)
        let url = origin.url + "/a"
        let before = Task { try await client.data(from: url) }
        for await _ in store.began { break }
        // When all is removed meanwhile
        let removal = Task { try await client.removeAll() }
        store.release.yield()
        _ = try await within { try await before.value }
        try await within { try await removal.value }
        // Then nothing is kept
        #expect(store.memory.byteCount == 0)
    }

    @Test func aTimeOutIsToldAsOne() async throws {
        let server = ScriptedServer { $0.waitUntilClosed() }
        var configuration = CachingHTTPClient.Configuration()
        configuration.timeout = .milliseconds(50)
        let client = try CachingHTTPClient(store: MemoryHTTPCacheStore(), configuration: configuration)
        await #expect(throws: HTTPClientError.timedOut(after: .milliseconds(50))) { try await client.data(from: server.url) }
        #expect(client.statistics.failed == 1)
    }

    @Test func whatCannotBeSentIsToldAtOnce() async throws {
        let client = try CachingHTTPClient(store: MemoryHTTPCacheStore())
        for url in ["", "ftp://a/", "/path", "http://user@host/", "http://a b/"] {
            await #expect(throws: HTTPClientError.self) { try await client.data(from: url) }
        }
        let (descriptor, port) = Sockets.bound()
        defer { close(descriptor) }
        do {
            _ = try await client.data(from: "http://127.0.0.1:\(port)/")
            Issue.record("nobody listens there")
        } catch let error as HTTPClientError {
            guard case .unreachable(_) = error else { Issue.record("\(error)"); return }
        }
        client.shutdown()
        await #expect(throws: HTTPClientError.stopped) { try await client.data(from: "http://127.0.0.1:\(port)/") }
    }

    @Test func aStoreThatFailsFailsNoRequest() async throws {
        // Given a store that can neither be read nor written
        struct Failing: HTTPCacheStore {
            struct Trouble: Error {}
            func bytes(named name: String) throws -> [UInt8]? { throw Trouble() }
            func store(_ bytes: [UInt8], named name: String) throws { throw Trouble() }
            func remove(named name: String) throws { throw Trouble() }
            func removeAll() throws { throw Trouble() }
        }
        let origin = HeldOrigin(lines: "Cache-Control: max-age=60\r\n")
        origin.release()
        let client = try CachingHTTPClient(store: Failing())
        // When a URL is asked for twice, then both are served by the origin, and say so
        for number in 1...2 {
            let response = try await client.data(from: origin.url)
            #expect(Self.text(response) == "\(number)" && response.source == .network)
            guard case .refused(.storeFailed(_)) = response.storage else { Issue.record("\(response)"); return }
        }
        #expect(client.statistics.storeFailures == 2)
        await #expect(throws: Failing.Trouble.self) { try await client.remove(origin.url) }
    }

    @Test("callers share a response that the store does not take, and a refusal for too many requests", arguments: [200, 429])
    func sharing(status: Int) async throws {
        // Given a store that takes nothing, and an origin that holds its answers
        struct Full: HTTPCacheStore {
            struct Trouble: Error {}
            func bytes(named name: String) -> [UInt8]? { nil }
            func store(_ bytes: [UInt8], named name: String) throws { throw Trouble() }
            func remove(named name: String) {}
            func removeAll() {}
        }
        let (arrived, arrival) = AsyncStream.makeStream(of: Void.self)
        let gate = DispatchSemaphore(value: 0)
        let count = Mutex(0)
        let server = ScriptedServer { connection in
            while connection.request() != nil {
                count.withLock { $0 += 1 }
                arrival.yield()
                gate.wait()
                connection.respond("x", status: "\(status) Text", fields: status == 200 ? "Cache-Control: max-age=60\r\n" : "")
            }
        }
        let client = try CachingHTTPClient(store: Full())
        let url = server.url
        // When a caller asks, and nine more while its request is in flight
        let first = Task { try await client.data(from: url) }
        for await _ in arrived { break }
        let others = (1...9).map { _ in Task { try await client.data(from: url) } }
        try await within { while client.waiterCount < 10 { await Task.yield() } }
        for _ in 1...20 { gate.signal() }
        // Then all have the answer to one request
        for task in [first] + others { #expect(try await within { try await task.value }.status == status) }
        #expect(count.withLock { $0 } == 1 && client.statistics.joined == 9)
    }

    @Test func aConnectionThatIsNotMadeInTimeIsUnreachable() async throws {
        // Given a server that accepts connections, and answers no TLS handshake
        let server = ScriptedServer { $0.waitUntilClosed() }
        var configuration = CachingHTTPClient.Configuration()
        configuration.connectTimeout = .milliseconds(50)
        let client = try CachingHTTPClient(store: MemoryHTTPCacheStore(), configuration: configuration)
        // When it is asked over TLS; Then the error names the time for a connection
        await #expect(throws: HTTPClientError.unreachable("no connection within \(Duration.milliseconds(50))")) {
            try await within { try await client.data(from: "https://127.0.0.1:\(server.port)/") }
        }
    }

    @Test func aClientExplainsWhatItWouldDo() async throws {
        let origin = HeldOrigin(lines: "Cache-Control: max-age=60\r\nETag: \"1\"\r\n")
        origin.release()
        let time = ManualCacheClock()
        var configuration = CachingHTTPClient.Configuration()
        configuration.clock = time.clock
        let client = try CachingHTTPClient(store: MemoryHTTPCacheStore(), configuration: configuration)
        let authority = String(origin.url.dropFirst("http://".count))
        let request = HTTPRequest(method: .get, scheme: "http", authority: authority, path: "/")
        #expect(try await client.explain(request) == "from the origin: nothing stored fits the request")
        _ = try await client.data(for: request)
        #expect(try await client.explain(request).hasPrefix("from the cache: stored and fresh, age "))
        time.advance(by: .seconds(100_000))
        #expect(try await client.explain(request).hasPrefix("validated by the origin: the stored response is stale, age "))
        #expect(origin.count == 1)
    }
}

/// A store whose writes say that they have begun, and wait until they are let.
private final class SlowStore: HTTPCacheStore {
    let memory = MemoryHTTPCacheStore()
    let began: AsyncStream<Void>
    let release: AsyncStream<Void>.Continuation
    private let beginning: AsyncStream<Void>.Continuation
    private let released: AsyncStream<Void>

    init() {
        (began, beginning) = AsyncStream.makeStream(of: Void.self)
        (released, release) = AsyncStream.makeStream(of: Void.self)
    }

    func bytes(named name: String) -> [UInt8]? { memory.bytes(named: name) }
    func store(_ bytes: [UInt8], named name: String) async {
        beginning.yield()
        for await _ in released { break }
        memory.store(bytes, named: name)
    }
    func remove(named name: String) { memory.remove(named: name) }
    func removeAll() { memory.removeAll() }
}
