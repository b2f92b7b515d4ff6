import FreshetTestSupport
import FreshetTransport
import Glibc
import HTTPTypes
import Synchronization
import Testing

/// The transport's thread as the place where an actor lives.
@Suite struct TransportThreadTests {
    private actor Resident {
        nonisolated let transport: CurlTransport
        nonisolated var unownedExecutor: UnownedSerialExecutor { transport.executor }
        private var outcomes: [Result<HTTPReply, TransportError>] = []
        private var isBusy = false
        private(set) var overlaps = 0

        init(_ transport: CurlTransport) { self.transport = transport }

        var thread: UInt { UInt(pthread_self()) }

        /// Sends a request, and gives the thread on which its completion was called: one that may touch the actor.
        func send(_ url: String) async -> (thread: UInt, status: Int?) {
            await withCheckedContinuation { continuation in
                isBusy = true
                transport.send(HTTPRequestDescription(url: url)) { outcome in
                    self.assumeIsolated { $0.take(outcome) }
                    continuation.resume(returning: (UInt(pthread_self()), (try? outcome.get())?.status))
                }
                isBusy = false
            }
        }

        private func take(_ outcome: Result<HTTPReply, TransportError>) {
            if isBusy { overlaps += 1 }
            outcomes.append(outcome)
        }
    }

    private let answering = ScriptedServer { connection in
        while connection.request() != nil { connection.respond("x") }
    }

    @Test func jobsAndCompletionsShareTheThread() async throws {
        // Given
        let resident = Resident(try CurlTransport())
        let thread = await resident.thread
        // When
        let answer = try await within { await resident.send(answering.url) }
        // Then
        #expect(answer.thread == thread)
        #expect(answer.status == 200)
        #expect(await resident.thread == thread)
    }

    @Test func aCompletionNeverComesWithinTheCallThatSends() async throws {
        // Given an URL that libcurl refuses at once, and one that nobody answers
        let resident = Resident(try CurlTransport())
        // When
        let refused = try await within { await resident.send("ftp://127.0.0.1/") }
        let malformed = try await within { await resident.send("http://") }
        // Then
        #expect(refused.status == nil && malformed.status == nil)
        #expect(await resident.overlaps == 0)
    }

    @Test func manyRequestsFromTheThreadAreAllAnswered() async throws {
        // Given
        let resident = Resident(try CurlTransport())
        let url = answering.url
        // When
        let statuses = try await within {
            await withTaskGroup(of: Int?.self) { group in
                for _ in 0..<100 { group.addTask { await resident.send(url).status } }
                return await group.reduce(into: []) { $0.append($1) }
            }
        }
        // Then
        #expect(statuses == Array(repeating: 200, count: 100))
        #expect(await resident.overlaps == 0)
    }

    @Test func afterADisconnectConnectionsAreNew() async throws {
        // Given a request under way, and a connection that is open
        let transport = try CurlTransport()
        let resident = Resident(transport)
        #expect(try await within { await resident.send(answering.url) }.status == 200)
        let arrived = AsyncStream.makeStream(of: Void.self)
        let silent = ScriptedServer { connection in
            _ = connection.request()
            arrived.continuation.yield()
            connection.waitUntilClosed()
        }
        let url = silent.url
        async let waiting = resident.send(url)
        for await _ in arrived.stream { break }
        // When
        transport.disconnect()
        // Then the request has ended, and others are served over another connection
        #expect(await waiting.status == nil)
        #expect(try await within { await resident.send(answering.url) }.status == 200)
        #expect(answering.connections == 2)
    }

    @Test("a request that is refused locally just before a shutdown is completed")
    func refusedBeforeShutdown() async throws {
        // Given a request whose credentials may not be sent unencrypted
        let transport = try CurlTransport()
        let request = HTTPRequestDescription(url: "http://192.0.2.1/", fields: [.authorization: "Bearer 1"])
        let outcomes = AsyncStream.makeStream(of: Result<HTTPReply, TransportError>.self)
        // When one job sends it, and shuts the transport down
        transport.run {
            transport.send(request) { outcomes.continuation.yield($0) }
            transport.shutdown()
        }
        // Then
        let outcome = try await first(of: outcomes.stream) { _ in true }
        guard case .failure(.invalidRequest) = outcome else {
            Issue.record("\(outcome)")
            return
        }
    }

    @Test("a job of a job is run although the transport is shut down")
    func jobsAfterShutdown() async throws {
        // Given
        let transport = try CurlTransport()
        let done = AsyncStream.makeStream(of: Int.self)
        // When each job adds another one after the shutdown
        transport.run {
            transport.shutdown()
            transport.run { transport.run { transport.run { done.continuation.yield(3) } } }
        }
        // Then
        #expect(try await first(of: done.stream) { _ in true } == 3)
    }

    @Test func theLatestAlarmRings() async throws {
        // Given
        let transport = try CurlTransport()
        let rings = AsyncStream.makeStream(of: String.self)
        // When one alarm takes the place of another, which would be later
        transport.setTimer(in: 3_600_000) { rings.continuation.yield("late") }
        transport.setTimer(in: 1) { rings.continuation.yield("soon") }
        // Then
        #expect(try await first(of: rings.stream) { _ in true } == "soon")
        // When one is taken back before another job is done
        transport.run {
            transport.setTimer(in: 0) { rings.continuation.yield("cleared") }
            transport.clearTimer()
            transport.setTimer(in: 0) { rings.continuation.yield("next") }
        }
        // Then
        #expect(try await first(of: rings.stream) { _ in true } == "next")
    }
}
