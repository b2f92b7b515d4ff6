import Foundation
import FreshetTestSupport
import FreshetTrust
import FreshetWire
import Testing

@testable import FreshetServer

/// Compares what a reader of some ranges receives with what a reader of everything receives, after random operations.
@Suite("Feeds of restricted readers") struct RestrictedFeedTests {
    /// A record, and a text that its id and its values have and that nothing else has.
    private struct Name: Sendable {
        let key: RecordKey
        let mark: String
    }

    private static let collections = ["alpha", "beta", "gamma"]
    private static let prefixes = ["x", "xy", "y", "y/x"]
    private static let names: [Name] = collections.flatMap { collection in
        prefixes.flatMap { prefix in (0..<2).map { _ in (collection, prefix) } }
    }
    .enumerated().compactMap { number, name in
        let mark = "~\(number + 10)~"
        return (try? RecordKey(collection: name.0, id: name.1 + mark)).map { Name(key: $0, mark: mark) }
    }

    private static let everything = #"[{"ns":"shop","in":["*"],"may":["read"]}]"#

    // MARK: The rule

    /// Random ranges of the first two collections, so that something is always outside.
    private static func ranges(_ random: inout SeededGenerator) -> [KeyRange] {
        (0..<Int.random(in: 1...4, using: &random)).map { _ in
            let key = names[Int.random(in: 0..<names.count * 2 / 3, using: &random)].key
            return switch Int.random(in: 0..<10, using: &random) {
            case 0: .collection(key.collection, prefix: "")
            case 1...5: .collection(key.collection, prefix: prefixes[Int.random(in: 0..<prefixes.count, using: &random)])
            default: .key(key)
            }
        }
    }

    private static func covers(_ wide: KeyRange, _ narrow: KeyRange) -> Bool {
        switch (wide, narrow) {
        case (.everything, _): true
        case (_, .everything): false
        case (.key(let key), .key(let other)): key == other
        case (.key, .collection): false
        case (.collection(let collection, let prefix), .key(let key)): key.collection == collection && key.id.hasPrefix(prefix)
        case (.collection(let collection, let prefix), .collection(let other, let longer)):
            other == collection && longer.hasPrefix(prefix)
        }
    }

    /// A change as a reader of the ranges may see it: the parts that its scope and each of them share. Two ranges have no records in
    /// common, or one is within the other.
    private static func cut(_ change: Change, to ranges: [KeyRange]) -> [Change] {
        let scope = change.scope
        let common = Set(ranges.compactMap { covers($0, scope) ? scope : covers(scope, $0) ? $0 : nil })
        let widest = common.filter { range in !common.contains { $0 != range && covers($0, range) } }
        guard case .invalidate = change.effect else { return widest.isEmpty ? [] : [change] }
        return widest.map { Change(revision: change.revision, effect: .invalidate($0), modified: change.modified, author: change.author) }
    }

    /// The changes in the order of the feed, by which the ranges of one sweep have no order, without the invalidations that a later one
    /// covers: the store forgets those, and memory does not.
    private static func settled(_ changes: [Change]) -> [Change] {
        changes.filter { change in
            guard case .invalidate(let scope) = change.effect else { return true }
            return !changes.contains { later in
                guard later.revision > change.revision, case .invalidate(let wider) = later.effect else { return false }
                return covers(wider, scope)
            }
        }
        .sorted { ($0.revision, $0.scope.rangeText) < ($1.revision, $1.scope.rangeText) }
    }

    // MARK: Operations

    private static func path(_ key: RecordKey) -> String {
        "/v1/shop/records/\(key.collection)/" + key.id.split(separator: "/").joined(separator: "%2F")
    }

    private static func expect(_ statuses: [Int], _ reply: Reply) throws {
        if !statuses.contains(reply.status) { throw Unexpected(what: "status \(reply.status): \(reply.text)") }
    }

    private static func put(_ name: Name, _ text: String, _ connection: RawConnection, _ operate: (String, String)) throws {
        let body = Array("\"\(name.mark) \(text)\"".utf8)
        try expect([200, 201], try connection.request("PUT", path(name.key), TestServer.json + [operate], body: body))
    }

    private static func invalidate(_ body: String, _ connection: RawConnection, _ operate: (String, String)) throws {
        try expect([200], try connection.request("POST", "/v1/shop/invalidations", TestServer.json + [operate], body: Array(body.utf8)))
    }

    /// Writes, deletes or sweeps.
    private static func change(
        _ step: Int, _ connection: RawConnection, _ operate: (String, String), _ random: inout SeededGenerator
    ) throws {
        let name = names[Int.random(in: 0..<names.count, using: &random)]
        let prefix = prefixes[Int.random(in: 0..<prefixes.count, using: &random)]
        switch Int.random(in: 0..<24, using: &random) {
        case 0: try invalidate(#"{"all":true}"#, connection, operate)
        case 1...2: try invalidate(#"{"collection":"\#(name.key.collection)"}"#, connection, operate)
        case 3...5: try invalidate(#"{"collection":"\#(name.key.collection)","prefix":"\#(prefix)"}"#, connection, operate)
        case 6: try invalidate(#"{"keys":["\#(name.key)"]}"#, connection, operate)
        case 7...11:
            try expect([200, 404], try connection.request("DELETE", path(name.key), [operate]))
        default: try put(name, "step \(step)", connection, operate)
        }
    }

    // MARK: Readers

    private struct Received: Sendable {
        var changes: [Change] = []
        /// Everything that the server has sent, the heads included.
        var text = ""

        func marks(of names: [Name]) -> [String] { names.map(\.mark).filter { text.contains($0) } }
    }

    private static func target(_ since: String, _ limit: Int) -> String { "/v1/shop/changes?since=\(since)&wait=0&limit=\(limit)" }

    /// Follows the feed to its end, page by page.
    private static func poll(_ connection: RawConnection, _ reader: (String, String), since: String, limit: Int) throws -> Received {
        var (received, since) = (Received(), since)
        while true {
            let reply = try connection.request("GET", target(since, limit), [reader])
            received.text += reply.fields.map { "\($0.name): \($0.value)\n" }.joined() + reply.text
            try expect([200, 204], reply)
            guard reply.status == 200 else { return received }
            let page = try reply.message(ChangePage.self)
            received.changes += page.changes
            since = page.cursor.description
            if page.upToDate { return received }
        }
    }

    /// Follows the feed by a stream, to the change with this revision.
    private static func stream(
        port: Int, _ reader: (String, String), since: String, limit: Int, to last: Revision
    ) throws -> Received {
        let connection = try RawConnection(port: port)
        try connection.sendRequest("GET", target(since, limit), [reader, ("Accept", "text/event-stream")])
        var received = Received(text: String(decoding: try connection.read(through: "\r\n\r\n"), as: UTF8.self))
        var rest: [UInt8] = []
        while received.changes.last?.revision != last {
            let chunk = try connection.readChunk()
            received.text += String(decoding: chunk, as: UTF8.self)
            rest += chunk
            let events = String(decoding: rest, as: UTF8.self).components(separatedBy: "\n\n")
            rest = Array((events.last ?? "").utf8)
            for event in events.dropLast() {
                let data = event.split(separator: "\n").filter { $0.hasPrefix("data: ") }.map { $0.dropFirst(6) }.joined(separator: "\n")
                if !data.isEmpty { received.changes += try ChangePage(json: Array(data.utf8)).changes }
            }
        }
        return received
    }

    /// A position that a reader gets without opening the feed.
    private static func position(_ connection: RawConnection, _ reader: (String, String)) throws -> String {
        let body = Array(#"{"keys":[{"key":"alpha/x"}]}"#.utf8)
        let reply = try connection.request("POST", "/v1/shop/reads", TestServer.json + [reader], body: body)
        guard let cursor = reply.cursor else { throw Unexpected(what: reply.text) }
        return cursor.description
    }

    @Test(
        "A restricted reader receives the changes of an unrestricted one, cut to its ranges, and no other name",
        arguments: StoreKind.allCases, 0..<8 as Range<UInt64>)
    func restricted(kind: StoreKind, seed: UInt64) async throws {
        // Given a reader of random ranges and one of everything
        let fixture = try StoreFixture(kind, seed: seed + 1)
        var random = SeededGenerator(seed: seed)
        let ranges = Self.ranges(&random)
        let inside = Self.names.filter { name in ranges.contains { Self.covers($0, .key(name.key)) } }
        let outside = Self.names.filter { name in !ranges.contains { Self.covers($0, .key(name.key)) } }
        var configuration = RecordServerConfiguration()
        configuration.requiresKeys = true
        let server = AccessServer(test: try TestServer(sharing: SharedStore(fixture.store), configuration))
        // When changes are made
        let results: [Comparison]
        do {
            let grants = #"[{"ns":"shop","in":[\#(ranges.map { "\"\($0.rangeText)\"" }.joined(separator: ","))],"may":["read"]}]"#
            let readers = [try server.key(grants).field, try server.key(Self.everything).field]
            let operate = try server.key(TokenServer.everything).field
            let (port, generator) = (server.test.port, random)
            let (first, last) = (try #require(inside.first), try #require(outside.last))
            results = try await server.test.thread { connection in
                let run = Run(
                    readers: readers, operate: operate, inside: first, outside: last, opensFeed: seed.isMultiple(of: 2), port: port)
                return try Self.follow(run, connection, generator)
            }
        } catch {
            await server.test.server.stop()
            throw error
        }
        await server.test.server.stop()
        // Then each way to follow the feed shows the restricted reader its part of what it shows the other
        #expect(results.count == 4)
        for result in results {
            let (part, whole) = (result.restricted, result.unrestricted)
            let place: Comment = "\(ranges.map(\.rangeText)) \(result.way)"
            #expect(Self.settled(part.changes) == Self.settled(whole.changes.flatMap { Self.cut($0, to: ranges) }), place)
            #expect(part.changes.last?.revision == result.last && whole.changes.last?.revision == result.last, place)
            #expect(part.marks(of: outside).isEmpty && !part.text.contains("gamma"), place)
            // And the names that it must not show are there
            #expect(!whole.marks(of: outside).isEmpty && whole.text.contains("gamma"), place)
        }
    }

    /// What both readers have received in one way.
    private struct Comparison: Sendable {
        let way: String
        let restricted: Received
        let unrestricted: Received
        /// The revision of the last change.
        let last: Revision
    }

    private struct Run {
        /// The restricted one and the unrestricted one.
        let readers: [(String, String)]
        let operate: (String, String)
        let inside: Name
        let outside: Name
        /// Whether the feed is in memory from the first change on.
        let opensFeed: Bool
        let port: Int
    }

    /// Makes a hundred changes, and two more, of which the last is within the ranges; then both readers follow.
    private static func follow(_ run: Run, _ connection: RawConnection, _ generator: SeededGenerator) throws -> [Comparison] {
        var random = generator
        let operate = run.operate
        try put(run.inside, "first", connection, operate)
        if run.opensFeed { for reader in run.readers { try expect([200], try connection.request("GET", target("now", 1), [reader])) } }
        for step in 0..<50 { try change(step, connection, operate, &random) }
        let middle = try run.readers.map { try position(connection, $0) }
        for step in 50..<100 { try change(step, connection, operate, &random) }
        try put(run.outside, "last", connection, operate)
        try put(run.inside, "last", connection, operate)
        let status = try connection.request("GET", "/v1/shop", [operate]).message(NamespaceStatus.self)
        let last = status.cursor.revision
        var found: [Comparison] = []
        for (name, start) in [("0", ["0", "0"]), ("the middle", middle)] {
            let limit = Int.random(in: 1...7, using: &random)
            let polled = try zip(run.readers, start).map { try poll(connection, $0, since: $1, limit: limit) }
            found.append(Comparison(way: "from \(name) by polls of \(limit)", restricted: polled[0], unrestricted: polled[1], last: last))
            let pushed = try zip(run.readers, start).map { try stream(port: run.port, $0, since: $1, limit: limit, to: last) }
            found.append(Comparison(way: "from \(name) by a stream", restricted: pushed[0], unrestricted: pushed[1], last: last))
        }
        return found
    }
}
