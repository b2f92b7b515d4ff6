import FreshetPlatform
import FreshetTestSupport
import FreshetWire
import Glibc
import Logging
import Synchronization
import Testing

@testable import FreshetServer

@Suite("Life of a record server") struct RecordServerTests {
    @Test func recordsOutliveARestart() async throws {
        // Given
        let directory = TemporaryDirectory()
        let first = try TestServer(RecordServerConfiguration(directory: directory.path))
        let receipt = try await first.put("/v1/shop/records/fruits/apple", "1")
        await first.server.stop()
        // When
        try await TestServer.with(RecordServerConfiguration(directory: directory.path)) { second in
            let read = try await second.request("GET", "/v1/shop/records/fruits/apple")
            let changes = try await second.request("GET", "/v1/shop/changes?since=\(receipt.cursor)&wait=0")
            // Then
            #expect(read.text == "1" && read.cursor == receipt.cursor)
            #expect(changes.status == 204)
        }
    }

    @Test func aRestoredServerBeginsNewHistories() async throws {
        // Given
        let directory = TemporaryDirectory()
        let first = try TestServer(RecordServerConfiguration(directory: directory.path))
        let receipt = try await first.put("/v1/shop/records/fruits/apple", "1")
        await first.server.stop()
        var configuration = RecordServerConfiguration(directory: directory.path)
        configuration.isRestored = true
        // When
        try await TestServer.with(configuration) { second in
            let read = try await second.request("GET", "/v1/shop/records/fruits/apple")
            let changes = try await second.request("GET", "/v1/shop/changes?since=\(receipt.cursor)")
            // Then
            #expect(read.text == "1" && read.cursor?.epoch != receipt.cursor.epoch)
            #expect(changes.status == 410 && changes.problem?.code == .epochChanged)
        }
    }

    @Test func everythingWorksOnDiskToo() async throws {
        // Given
        let directory = TemporaryDirectory()
        try await TestServer.with(RecordServerConfiguration(directory: directory.path)) { server in
            let start = try #require(try await server.request("GET", "/v1/shop").cursor)
            async let woken = server.request("GET", "/v1/shop/changes?since=\(start)&wait=60")
            try await server.waitUntil(waiting: 1, in: "shop")
            // When
            let receipt = try await server.put("/v1/shop/records/fruits/apple", "1")
            // Then
            #expect(try await woken.message(ChangePage.self).cursor == receipt.cursor)
            let page = try await server.request("GET", "/v1/shop/changes?since=0").message(ChangePage.self)
            #expect(page.changes.count == 1)
            let list = try await server.request("GET", "/v1").text
            #expect(list.contains(#""namespaces":["shop"]"#))
        }
    }

    @Test func forgottenDeletesEndOldPositions() async throws {
        // Given
        let clock = TestClock()
        try await TestServer.with(environment: clock.environment) { server in
            let old = try await server.put("/v1/shop/records/fruits/apple", "1").cursor
            try await server.put("/v1/shop/records/fruits/fig", "1")
            try await server.put("/v1/shop/records/fruits/kiwi", "1")
            _ = try await server.request("DELETE", "/v1/shop/records/fruits/fig")
            // When
            clock.advance(31 * 86_400_000)
            await server.server.compact()
            // Then
            let expired = try await server.request("GET", "/v1/shop/changes?since=\(old)")
            #expect(expired.status == 410 && expired.problem?.code == .cursorExpired && expired.cursor?.revision.number == 4)
            let metrics = try await server.request("GET", "/metrics").text
            #expect(metrics.contains("freshet_forgotten_total 1\n"))
            // A reader that starts from nothing gets past the forgotten deletes, page by page.
            let first = try await server.request("GET", "/v1/shop/changes?since=0&limit=1&wait=0")
            let second = try await server.request("GET", "/v1/shop/changes?since=\(try #require(first.cursor))")
            #expect(try first.message(ChangePage.self).changes.map(\.revision.number) == [1])
            #expect(try second.message(ChangePage.self).changes.map(\.revision.number) == [3])
            // So is a stream.
            let revisions = try await server.thread { connection in
                try connection.sendRequest("GET", "/v1/shop/changes?since=0&limit=1", [("Accept", "text/event-stream")])
                _ = try connection.readHead()
                return [try connection.readEvent(), try connection.readEvent()].map {
                    String(decoding: $0, as: UTF8.self).contains("\"revision\":3")
                }
            }
            #expect(revisions == [false, true])
        }
    }

    @Test func whyItCannotStartIsSaid() async throws {
        // Given
        let directory = TemporaryDirectory()
        let running = try TestServer(RecordServerConfiguration(directory: directory.path))
        var port = RecordServerConfiguration()
        port.port = running.port
        var hold = RecordServerConfiguration()
        hold.hold = 61
        // Then
        #expect(throws: RecordServerError.addressInUse(host: "127.0.0.1", port: running.port)) { try RecordServer.running(port) }
        #expect(throws: RecordServerError.directoryInUse(path: directory.path)) {
            try RecordServer.running(RecordServerConfiguration(directory: directory.path))
        }
        #expect(throws: RecordServerError.invalidConfiguration("hold is 61: it takes 0 to 60 seconds")) { try RecordServer.running(hold) }
        #expect(throws: RecordServerError.alreadyStarted) { try running.server.start() }
        do {
            _ = try RecordServer.running(RecordServerConfiguration(directory: directory.path + "/no/such"))
            Issue.record("a directory without a parent was taken")
        } catch RecordServerError.directoryUnusable(let path, let reason) {
            #expect(path.hasSuffix("/no/such") && reason.contains("mkdir"))
        }
        // A failed start leaves nothing behind that makes the next one fail.
        let other = TemporaryDirectory()
        port.storage = .directory(other.path)
        #expect(throws: RecordServerError.addressInUse(host: "127.0.0.1", port: running.port)) { try RecordServer.running(port) }
        let next = try RecordServer.running(RecordServerConfiguration(directory: other.path))
        await next.stop()
        await running.server.stop()
        await running.server.stop()
        #expect(running.server.address == nil)
    }

    @Test("a server that is released without a stop gives its directory free, though a poll waits and a stream is open")
    func released() async throws {
        // Given
        let directory = TemporaryDirectory()
        let configuration = RecordServerConfiguration(directory: directory.path)
        var server: TestServer? = try TestServer(configuration)
        let cursor = try #require(try await server?.put("/v1/shop/records/c/1", "1").cursor)
        let connections = try (0..<2).map { _ in try #require(Sockets.connect(port: UInt16(server?.port ?? 0))) }
        for (connection, type) in zip(connections, ["application/json", "text/event-stream"]) {
            Sockets.write(
                connection, "GET /v1/shop/changes?since=\(cursor)&wait=60 HTTP/1.1\r\nHost: localhost\r\nAccept: \(type)\r\n\r\n".utf8)
        }
        try await server?.waitUntil(waiting: 2, in: "shop")
        // When
        server = nil
        // Then another one can have it soon
        let next = try await within {
            while true {
                do { return try RecordServer.running(configuration) } catch RecordServerError.directoryInUse { await Task.yield() }
            }
        }
        await next.stop()
        for connection in connections { close(connection) }
    }

    @Test("a start that fails at any step leaves the directory free, and can be repeated")
    func repeatedStart() async throws {
        // Given a server whose certificate is not there yet, and one whose port is taken
        let directory = TemporaryDirectory()
        let other = try RecordServer.running()
        var encrypted = RecordServerConfiguration(directory: directory.path)
        encrypted.tls = .init(certificates: [.init(chain: directory.file("none.pem"), key: directory.file("none.pem"))])
        let taken = RecordServerConfiguration(port: try #require(other.address?.port), directory: directory.path)
        for configuration in [encrypted, taken] {
            let server = RecordServer(configuration)
            for _ in 1...2 { #expect(throws: RecordServerError.self) { try server.start() } }
            // Then
            try await server.waitUntilStopped()
            let next = try RecordServer.running(RecordServerConfiguration(directory: directory.path))
            await next.stop()
        }
        await other.stop()
    }

    @Test("an interval or a retention without end is valid, and a number of loops that no machine has is refused")
    func extremes() throws {
        // Given
        let forever = Duration.seconds(Int64.max / 1_000) + .milliseconds(900)
        var schedule = CompactionSchedule(interval: .max, now: 1_000)
        // Then
        #expect(schedule.tick(now: 1_000) == true)
        schedule.finished(isComplete: true, now: 1_000_000)
        #expect(schedule.tick(now: .max / 8) == false)
        #expect(forever.clampedMilliseconds == .max && Duration.seconds(Int64.min).clampedMilliseconds == .min)
        var configuration = RecordServerConfiguration()
        (configuration.tombstoneRetention, configuration.compactionInterval, configuration.outcomeRetention) = (forever, forever, forever)
        configuration.drainTimeout = .seconds(Int64.max)
        try configuration.check()
        configuration.loops = .max
        #expect(throws: RecordServerError.self) { try configuration.check() }
    }

    @Test func compactionHasItsTimes() {
        // Given
        var schedule = CompactionSchedule(interval: 100, now: 50)
        // Then
        #expect(schedule.tick(now: 50) == true, "a server that runs for a minute at a time forgets too")
        #expect(schedule.tick(now: 500) == false, "one step at a time")
        schedule.finished(isComplete: false, now: 500)
        #expect(schedule.tick(now: 501) == true)
        schedule.finished(isComplete: true, now: 600)
        #expect(schedule.tick(now: 699) == false)
        #expect(schedule.tick(now: 700) == true)
    }
}
