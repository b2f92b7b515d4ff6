import FreshetTestSupport
import FreshetTransport
import Glibc
import HTTPTypes
import Synchronization
import Testing

@Suite struct CurlTransportTests {
    private let transport: CurlTransport

    init() throws { transport = try CurlTransport() }

    /// The transport's completion as an `await`.
    private func exchange(_ request: HTTPRequestDescription) async throws -> Result<HTTPReply, TransportError> {
        let transport = transport
        return try await within {
            await withCheckedContinuation { continuation in
                transport.send(request) { continuation.resume(returning: $0) }
            }
        }
    }

    private func failure(_ request: HTTPRequestDescription) async throws -> TransportError? {
        guard case .failure(let error) = try await exchange(request) else { return nil }
        return error
    }

    @Test func aRequestArrivesAsItWasDescribed() async throws {
        // Given a server that echoes each request
        let server = ScriptedServer { connection in
            guard let request = connection.request() else { return }
            connection.respond(
                request.head + "|" + String(decoding: request.body, as: UTF8.self), fields: "Freshet-Cursor: e-7\r\nX-Empty:\r\n")
        }
        // When a request with fields and a body is sent to a path with a dot segment
        let reply = try await exchange(
            HTTPRequestDescription(
                method: .post, url: server.url + "/v1/a/%2E%2E/../x",
                fields: [.authorization: "Bearer 1", .contentType: "application/json"],
                body: Array("{}".utf8))
        ).get()
        // Then the path, the fields and the body are the same, and nothing was added that delays
        let text = String(decoding: reply.body, as: UTF8.self)
        #expect(text.hasPrefix("POST /v1/a/%2E%2E/../x HTTP/1.1\r\n"))
        #expect(text.contains("Authorization: Bearer 1\r\n"))
        #expect(text.hasSuffix("|{}"))
        #expect(!text.contains("Expect:"))
        #expect(reply.status == 200)
        #expect(reply.fields[HTTPField.Name("Freshet-Cursor")!] == "e-7")
    }

    @Test func otherMethodsAndEmptyBodiesKeepTheirShape() async throws {
        let server = ScriptedServer { connection in
            while let request = connection.request() {
                connection.respond(request.head)
            }
        }
        let delete = try await exchange(HTTPRequestDescription(method: .delete, url: server.url + "/d")).get()
        #expect(String(decoding: delete.body, as: UTF8.self).hasPrefix("DELETE /d HTTP/1.1"))
        let empty = try await exchange(HTTPRequestDescription(method: .post, url: server.url + "/p", body: [])).get()
        let text = String(decoding: empty.body, as: UTF8.self)
        #expect(text.hasPrefix("POST /p HTTP/1.1") && text.contains("Content-Length: 0") && !text.contains("Content-Type"))
    }

    @Test func aThousandRequestsUseOneConnection() async throws {
        // Given a server that counts its connections
        let server = ScriptedServer { connection in
            while let request = connection.request() { connection.respond(String(decoding: request.body, as: UTF8.self)) }
        }
        // When 1,000 requests follow each other
        for number in 0..<1_000 {
            let reply = try await exchange(HTTPRequestDescription(method: .post, url: server.url, body: Array("\(number)".utf8))).get()
            try #require(reply.body == Array("\(number)".utf8))
        }
        // Then one connection served them all
        #expect(server.connections == 1)
    }

    @Test func manyAtOnceShareFewConnections() async throws {
        let server = ScriptedServer { connection in
            while let request = connection.request() { connection.respond(String(decoding: request.body, as: UTF8.self)) }
        }
        let bodies = try await withThrowingTaskGroup(of: [UInt8].self) { group in
            for number in 0..<200 {
                group.addTask {
                    try await exchange(HTTPRequestDescription(method: .post, url: server.url, body: Array("\(number)".utf8))).get().body
                }
            }
            return try await group.reduce(into: Set<String>()) { $0.insert(String(decoding: $1, as: UTF8.self)) }
        }
        #expect(bodies.count == 200)
        #expect(server.connections <= 8)
    }

    @Test func aConnectionThatTheServerClosedMeanwhileIsReplaced() async throws {
        // Given a server that closes after each answer without saying so
        let server = ScriptedServer { connection in
            if connection.request() != nil { connection.respond("once") }
        }
        for _ in 0..<20 { #expect(try await exchange(HTTPRequestDescription(url: server.url)).get().status == 200) }
    }

    // MARK: Failures

    @Test(arguments: ["garbage\r\n\r\n", "\u{0}\u{1}\u{2}\r\n", "SSH-2.0-OpenSSH_9.2\r\n"])
    func whatIsNotHTTPIsSaidToBeSo(_ text: String) async throws {
        let server = ScriptedServer { connection in
            _ = connection.request()
            connection.send(text)
        }
        let error = try await failure(HTTPRequestDescription(url: server.url))
        guard case .malformedResponse? = error else {
            Issue.record("got \(String(describing: error))")
            return
        }
    }

    @Test func aResponseCutInTheMiddleIsNoResponse() async throws {
        let server = ScriptedServer { connection in
            _ = connection.request()
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
        }
        let error = try await failure(HTTPRequestDescription(url: server.url))
        guard case .connectionLost? = error else {
            Issue.record("got \(String(describing: error))")
            return
        }
    }

    @Test(arguments: [true, false]) func aConnectionThatEndsWithoutAnAnswerIsLost(_ reset: Bool) async throws {
        let server = ScriptedServer { connection in
            _ = connection.request()
            if reset { connection.reset() }
        }
        let error = try await failure(HTTPRequestDescription(url: server.url))
        guard case .connectionLost? = error else {
            Issue.record("got \(String(describing: error))")
            return
        }
    }

    @Test func aPortWhereNobodyListensIsCouldNotConnect() async throws {
        let (descriptor, port) = Sockets.bound()
        defer { close(descriptor) }
        let error = try await failure(HTTPRequestDescription(url: "http://127.0.0.1:\(port)"))
        guard case .couldNotConnect? = error else {
            Issue.record("got \(String(describing: error))")
            return
        }
    }

    @Test func anAnswerThatNeverComesIsTimedOut() async throws {
        let server = ScriptedServer { $0.waitUntilClosed() }
        #expect(try await failure(HTTPRequestDescription(url: server.url, timeout: .milliseconds(50))) == .timedOut())
    }

    @Test func anAnswerThatDripsIsTimedOutToo() async throws {
        let server = ScriptedServer { connection in
            _ = connection.request()
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
            while connection.send([0x61]) { usleep(1_000) }
        }
        #expect(try await failure(HTTPRequestDescription(url: server.url, timeout: .milliseconds(100))) == .timedOut())
    }

    @Test(arguments: [true, false]) func aResponseOverTheBoundIsRefused(_ announced: Bool) async throws {
        let server = ScriptedServer { connection in
            _ = connection.request()
            connection.send("HTTP/1.1 200 OK\r\n\(announced ? "Content-Length: 1000000000000\r\n" : "Connection: close\r\n")\r\n")
            while connection.send([UInt8](repeating: 0, count: 65_536)) {}
        }
        let error = try await failure(HTTPRequestDescription(url: server.url, maximumResponseSize: 1 << 20))
        #expect(error == .tooLarge(limit: 1 << 20))
    }

    @Test func endlessFieldsAreRefused() async throws {
        let server = ScriptedServer { connection in
            _ = connection.request()
            connection.send("HTTP/1.1 200 OK\r\n")
            while connection.send(Array("X-Field: \(String(repeating: "x", count: 1_000))\r\n".utf8)) {}
        }
        let error = try await failure(HTTPRequestDescription(url: server.url))
        guard case .malformedResponse? = error else {
            Issue.record("got \(String(describing: error))")
            return
        }
    }

    @Test(arguments: ["ftp://127.0.0.1/x", "file:///etc/passwd", "http://[::bad", ""])
    func aURLThatIsNotHTTPIsRefused(_ url: String) async throws {
        let error = try await failure(HTTPRequestDescription(url: url))
        guard case .invalidRequest? = error else {
            Issue.record("got \(String(describing: error))")
            return
        }
    }

    @Test func redirectsAreNotFollowed() async throws {
        let server = ScriptedServer { connection in
            while connection.request() != nil { connection.respond("moved", status: "302 Found", fields: "Location: /b\r\n") }
        }
        let reply = try await exchange(HTTPRequestDescription(url: server.url + "/a")).get()
        #expect(reply.status == 302 && reply.fields[.location] == "/b" && server.connections == 1)
    }

    // MARK: Ending

    @Test func aCancelledRequestIsAbortedOnceAndOthersGoOn() async throws {
        // Given a server that holds one path and answers another
        let arrived = AsyncStream.makeStream(of: Void.self)
        let server = ScriptedServer { connection in
            while let request = connection.request() {
                guard request.head.hasPrefix("GET /held ") else {
                    connection.respond("ok")
                    continue
                }
                arrived.continuation.yield()
                return connection.waitUntilClosed()
            }
        }
        // When the held request is cancelled once the server has it
        let outcomes = AsyncStream.makeStream(of: Result<HTTPReply, TransportError>.self)
        let id = transport.send(HTTPRequestDescription(url: server.url + "/held")) { outcomes.continuation.yield($0) }
        for await _ in arrived.stream { break }
        transport.cancel(id)
        transport.cancel(id)
        // Then it ends as aborted, once, and the next request is served
        let outcome = try await first(of: outcomes.stream) { _ in true }
        #expect(outcome == .failure(.aborted))
        #expect(try await exchange(HTTPRequestDescription(url: server.url + "/next")).get().status == 200)
    }

    @Test func shutdownAbortsWhatIsUnderWayAndWhatComesAfter() async throws {
        let arrived = AsyncStream.makeStream(of: Void.self)
        let server = ScriptedServer { connection in
            _ = connection.request()
            arrived.continuation.yield()
            connection.waitUntilClosed()
        }
        let transport = try CurlTransport()
        let outcomes = AsyncStream.makeStream(of: Result<HTTPReply, TransportError>.self)
        transport.send(HTTPRequestDescription(url: server.url)) { outcomes.continuation.yield($0) }
        for await _ in arrived.stream { break }
        transport.shutdown()
        transport.shutdown()
        #expect(try await first(of: outcomes.stream) { _ in true } == .failure(.aborted))
        let after = Mutex<Result<HTTPReply, TransportError>?>(nil)
        transport.send(HTTPRequestDescription(url: server.url)) { outcome in after.withLock { $0 = outcome } }
        #expect(after.withLock { $0 } == .failure(.aborted))
    }

    @Test func aTransportThatGoesTakesItsRequestsAlong() async throws {
        let server = ScriptedServer { $0.waitUntilClosed() }
        let outcomes = AsyncStream.makeStream(of: Result<HTTPReply, TransportError>.self)
        do {
            let transport = try CurlTransport()
            transport.send(HTTPRequestDescription(url: server.url)) { outcomes.continuation.yield($0) }
        }
        #expect(try await first(of: outcomes.stream) { _ in true } == .failure(.aborted))
    }
}
