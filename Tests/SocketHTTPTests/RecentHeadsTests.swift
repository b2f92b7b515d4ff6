import Testing

@testable import SocketHTTP

@Suite("Heads that come again")
struct RecentHeadsTests {
    private final class Handler: RepeatHandler {
        func handle(_ crowd: Crowd) {}
    }

    private static func bytes(_ target: String, _ lines: String = "") -> [UInt8] {
        Array("GET \(target) HTTP/1.1\r\nHost: x\r\n\(lines)\r\n".utf8)
    }

    private static func head(_ bytes: [UInt8]) throws -> RequestHead {
        var parser = RequestParser(limits: ParserLimits(Limits()))
        var position = 0
        var outcome = parser.consume(bytes.span, from: &position)
        if case .incomplete = outcome { outcome = parser.consume(bytes.span, from: &position) }
        guard case .request(let parsed) = outcome else { throw RequestFailure(.malformed, "no request") }
        return parsed.head
    }

    private static func found(_ heads: RecentHeads, _ input: [UInt8]) -> [UInt8]? {
        input.withUnsafeBytes { heads.find(atStartOf: $0) }.map { heads.entries[$0].bytes }
    }

    @Test("A head is found at the start of the input, with any bytes behind it, and only whole and unchanged")
    func found() throws {
        // Given
        let poll = RecentHeadsTests.bytes("/changes?since=e-1")
        var heads = RecentHeads()
        heads.keep(try RecentHeadsTests.head(poll), Handler())
        // Then
        #expect(RecentHeadsTests.found(heads, poll) == poll)
        #expect(RecentHeadsTests.found(heads, poll + Array("GET ".utf8)) == poll)
        #expect(RecentHeadsTests.found(heads, poll.dropLast()) == nil)
        #expect(RecentHeadsTests.found(heads, []) == nil)
        #expect(RecentHeadsTests.found(heads, Array("\r\n".utf8) + poll) == nil)
        for place in poll.indices {
            var other = poll
            other[place] ^= 0x20
            #expect(RecentHeadsTests.found(heads, other) == nil, "byte \(place)")
        }
    }

    @Test("The four latest are kept")
    func latest() throws {
        // Given
        var heads = RecentHeads()
        let polls = (1...5).map { RecentHeadsTests.bytes("/changes?since=e-\($0)") }
        // When
        for poll in polls { heads.keep(try RecentHeadsTests.head(poll), Handler()) }
        // Then
        #expect(RecentHeadsTests.found(heads, polls[0]) == nil)
        for poll in polls.dropFirst() { #expect(RecentHeadsTests.found(heads, poll) == poll) }
    }

    @Test("A known head keeps its place and its crowd")
    func known() throws {
        // Given
        var heads = RecentHeads()
        let polls = (1...2).map { RecentHeadsTests.bytes("/changes?since=e-\($0)") }
        for poll in polls { heads.keep(try RecentHeadsTests.head(poll), Handler()) }
        let crowd = CrowdTable.Number(slot: 3, generation: 1)
        heads.gather(1, in: crowd)
        // When
        heads.keep(try RecentHeadsTests.head(polls[0]), Handler())
        // Then
        #expect(heads.entries.map(\.bytes) == [polls[1], polls[0]])
        #expect(heads.entries.map(\.crowd) == [nil, crowd])
    }

    @Test("No head with a body and no long head is kept")
    func notKept() throws {
        var heads = RecentHeads()
        // Given
        let withBody = RecentHeadsTests.bytes("/b", "Content-Length: 1\r\n")
        let long = RecentHeadsTests.bytes("/c", "Cookie: \(String(repeating: "c", count: 2_048))\r\n")
        // When
        heads.keep(try RecentHeadsTests.head(withBody + [0x78]), Handler())
        heads.keep(try RecentHeadsTests.head(long), Handler())
        // Then
        for head in [withBody, long] { #expect(RecentHeadsTests.found(heads, head) == nil) }
    }

    @Test(
        "What an answer has to respect is known with the head",
        arguments: [("HEAD", "1.1", ""), ("GET", "1.0", ""), ("GET", "1.1", "close")])
    func traits(method: String, version: String, connection: String) throws {
        // Given
        let field = connection.isEmpty ? "" : "Connection: \(connection)\r\n"
        let head = try RecentHeadsTests.head(Array("\(method) / HTTP/\(version)\r\nHost: x\r\n\(field)\r\n".utf8))
        // When
        var heads = RecentHeads()
        heads.keep(head, Handler())
        // Then
        #expect(heads.entries[0].isSafe)
        #expect(heads.entries[0].traits.contains(.headOnly) == (method == "HEAD"))
        #expect(heads.entries[0].traits.contains(.isHTTP10) == (version == "1.0"))
        #expect(heads.entries[0].traits.contains(.closes) == (version == "1.0" || connection == "close"))
    }
}
