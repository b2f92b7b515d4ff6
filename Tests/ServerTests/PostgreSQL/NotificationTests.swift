#if PostgreSQL
import Dispatch
import FreshetTestSupport
import FreshetWire
import Logging
import Synchronization
import Testing

@testable import FreshetPostgreSQLStore
@testable import FreshetServer

/// Servers that notify each other over PostgreSQL, whose connections end, or take messages and deliver none.
@Suite("Notifications of PostgreSQL", .enabled(if: PostgreSQLCluster.isInstalled, Comment(rawValue: PostgreSQLCluster.reason)))
struct NotificationTests {
    private let database: PostgreSQLDatabase

    init() throws { database = try PostgreSQLDatabase() }

    /// What one connection delivers.
    private final class Inbox: Sendable {
        private let state = Mutex<[HeadFollower.Event]>([])
        private let arrived = DispatchSemaphore(value: 0)

        func take(_ event: HeadFollower.Event) {
            state.withLock { $0.append(event) }
            arrived.signal()
        }

        /// The next event. Only this waits, and one thread.
        func next() throws -> HeadFollower.Event {
            guard arrived.wait(timeout: .now() + .seconds(60)) == .success else { throw Unexpected(what: "nothing arrives") }
            return state.withLock { $0.removeFirst() }
        }
    }

    private static var quiet: Logger {
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        return logger
    }

    private func store() throws -> PostgreSQLRecordStore {
        var configuration = PostgreSQLRecordStore.Configuration()
        (configuration.lanes, configuration.readers) = (1, 1)
        return try PostgreSQLRecordStore(uri: database.uri, configuration: configuration) { 7 }
    }

    private func connection() throws -> (NotificationConnection, Inbox) {
        let (connection, inbox) = (NotificationConnection(try store(), logger: Self.quiet), Inbox())
        connection.connect(inbox.take)
        #expect(try inbox.next() == .established)
        return (connection, inbox)
    }

    private func message(_ number: Int64, heads count: Int) throws -> HeadMessage {
        let heads = try (0..<count).map { place in
            HeadMessage.Head(try Namespace("namespace-with-a-long-name-\(10_000 + place)"), FeedSupport.cursor(Int64(place)))
        }
        return HeadMessage(sender: 7, number: number, heads: heads, isPartial: false, access: AccessVersion(history: 2, number: 3))
    }

    @Test("A message reaches all servers, its sender among them, however many heads it has", arguments: [0, 1, 100, 1_000])
    func delivery(_ count: Int) throws {
        // Given
        let (first, own) = try connection()
        let (second, other) = try connection()
        defer { for connection in [first, second] { connection.disconnect() } }
        let message = try message(1, heads: count)
        // When
        first.send(message)
        // Then
        for (inbox, isSender) in [(own, true), (other, false)] {
            var heads: [HeadMessage.Head] = []
            var (isSent, isReceived) = (!isSender, false)
            while heads.count < count || !isSent || !isReceived {
                switch try inbox.next() {
                case .sent: isSent = true
                case .received(let part):
                    #expect(part.sender == 7 && part.number == 1 && part.access == message.access && !part.isPartial)
                    heads += part.heads
                    isReceived = true
                case let event: throw Unexpected(what: "\(event)")
                }
            }
            #expect(heads == message.heads)
        }
    }

    @Test func aConnectionThatEndsIsReported() throws {
        // Given
        let (connection, inbox) = try connection()
        defer { connection.disconnect() }
        // When
        try database.cluster.query(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = '\(database.name)' AND query LIKE '%notify%' AND pid <> pg_backend_pid()",
            in: database.name)
        // Then
        #expect(try inbox.next() == .lost)
        // And another takes its place
        connection.connect(inbox.take)
        #expect(try inbox.next() == .established)
    }

    @Test func aConnectionToAServerThatIsNoLongerThePrimaryIsReportedAsLost() throws {
        // Given
        let (store, inbox) = (try store(), Inbox())
        let connection = NotificationConnection(store, logger: Self.quiet)
        defer { connection.disconnect() }
        connection.connect(inbox.take)
        #expect(try inbox.next() == .established)
        // When another connection of the store leads to a later timeline
        var history = try #require(store.database.history)
        history.place.timeline += 1
        try store.database.see(history)
        connection.send(try message(1, heads: 0))
        // Then. The message may have been sent before.
        while try inbox.next() != .lost {}
    }

    @Test("Texts of other programs on the channel have no effect")
    func strangers() throws {
        let (connection, inbox) = try connection()
        defer { connection.disconnect() }
        for text in ["", "1", "1 7 0 0 -", "2 7 1 0 -", "1 7 1 0 -\\nshop", "1 7 1 2 -", "1 7 1 0 3", "1 x 1 0 -"] {
            try database.cluster.query("SELECT pg_notify('freshet', E'\(text)')", in: database.name)
        }
        try database.cluster.query("SELECT pg_notify('other', '1 7 1 0 -')", in: database.name)
        try database.cluster.query("SELECT pg_notify('freshet', E'1 7 5 0 -\\nshop \(FeedSupport.cursor(4))')", in: database.name)
        guard case .received(let message) = try inbox.next() else { throw Unexpected(what: "no message") }
        try #expect(message.number == 5 && message.heads == [HeadMessage.Head(Namespace("shop"), FeedSupport.cursor(4))])
    }

    @Test("A write at one server reaches a poll at the other, with and without notifications", arguments: [true, false])
    func servers(_ listens: Bool) async throws {
        // Given two servers
        let stores = [try store(), try store()]
        let servers = try stores.map { try TestServer(sharing: $0.shared(listens: listens, logger: Self.quiet)) }
        if listens {
            for server in servers { while server.server.core?.follower?.isConnected == false { await Task.yield() } }
        }
        // When they write in turn, and a client polls the other one each time
        for number in 1...20 {
            let (writer, reader) = (servers[number % 2], servers[1 - number % 2])
            let start = try #require(try await reader.request("GET", "/v1/shop").cursor)
            async let poll = reader.request("GET", "/v1/shop/changes?since=\(start)&wait=60")
            try await reader.waitUntil(waiting: 1, in: "shop")
            let receipt = try await writer.put("/v1/shop/records/fruits/apple", "\(number)")
            // Then
            #expect(try await poll.message(ChangePage.self).cursor == receipt.cursor)
        }
        // Its own heartbeat may be late once.
        for server in servers { while server.server.core?.follower?.isConnected != listens { await Task.yield() } }
        for server in servers { await server.server.stop() }
    }
}
#endif
