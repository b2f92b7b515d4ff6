import Testing

@testable import FreshetSocketHTTP

@Suite("Framing over a socket")
struct FramingTests {
    /// Small limits, so that the cases at their edges are small.
    private static let limits = Limits(headerBytes: 512, targetBytes: 128, bodyBytes: 256)
    private static let shared = Result { try TestServer(limits: limits) }

    @Test("Each message gets its statuses, and the connection stays or closes", arguments: FramingCase.all)
    func whole(example: FramingCase) async throws {
        let port = try FramingTests.shared.get().port
        try await blocking { try FramingTests.run(example, [example.bytes], port) }
    }

    @Test("The same, byte by byte", arguments: FramingCase.all)
    func byteByByte(example: FramingCase) async throws {
        let port = try FramingTests.shared.get().port
        try await blocking { try FramingTests.run(example, example.bytes.map { [$0] }, port) }
    }

    @Test("The same, split at every boundary", arguments: FramingCase.all.filter(\.isInteresting))
    func split(example: FramingCase) async throws {
        let port = try FramingTests.shared.get().port
        try await blocking {
            for boundary in 1..<example.bytes.count {
                try FramingTests.run(example, [Array(example.bytes[..<boundary]), Array(example.bytes[boundary...])], port)
            }
        }
    }

    @Test("There are at least 120 cases, each with a different name")
    func table() {
        #expect(FramingCase.all.count >= 120)
        #expect(Set(FramingCase.all.map(\.name)).count == FramingCase.all.count)
    }

    /// Sends the pieces and checks the answers; then checks that the connection serves one more request, or is closed.
    private static func run(_ example: FramingCase, _ pieces: [[UInt8]], _ port: Int) throws {
        let client = try RawClient(port: port)
        for piece in pieces { client.send(piece) }
        for (index, status) in example.statuses.enumerated() {
            var reply = try client.reply(toHead: example.isHead)
            // Whether the server asks for the body depends on when the body comes.
            if reply.status == 100, status != 100 { reply = try client.reply() }
            #expect(reply.status == status, "answer \(index + 1)")
            #expect(reply["Date"] != nil || status == 100)
            let isLast = index == example.statuses.count - 1
            if isLast, let text = example.text { #expect(reply.text == text) }
            if isLast, status >= 400, example.end == .closed { #expect(reply["Connection"] == "close") }
        }
        switch example.end {
        case .closed:
            #expect(try client.isAtEnd(), "the connection should be closed")
        case .closedOrReset:
            do { #expect(try client.isAtEnd(), "the connection should be closed") } catch RawClient.Failure.reset {}
        case .open:
            client.send("GET /ok HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(try client.reply().status == 200, "the connection should be open")
        }
    }
}
