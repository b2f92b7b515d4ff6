import FreshetWire

/// A response as it was received.
struct Reply: Sendable {
    var status: Int
    /// Names in lower case.
    var fields: [(name: String, value: String)]
    var body: [UInt8]

    subscript(name: String) -> String? { fields.first { $0.name == name.lowercased() }?.value }

    var text: String { String(decoding: body, as: UTF8.self) }

    var cursor: Cursor? { self["Freshet-Cursor"].flatMap { try? Cursor($0) } }

    /// Whether an error has the position that it should have. Over a store that does not answer at once it may have none.
    var statesPosition: Bool { cursor != nil || StoreWatch.current != nil }

    /// The body as a message of the wire.
    func message<Message: WireMessage>(_ type: Message.Type = Message.self) throws -> Message { try Message(json: body) }

    /// The problem, after a check of the fields that all problems share; `nil` if the body is none.
    var problem: Problem? {
        guard self["Content-Type"] == "application/problem+json", self["Cache-Control"] == "no-store" else { return nil }
        guard let problem = try? Problem(json: body), problem.status == status, !problem.detail.isEmpty else { return nil }
        return problem
    }
}

extension RawConnection {
    /// One request and its reply; the connection can be used again.
    func request(
        _ method: String, _ target: String, _ fields: [(String, String)] = [], body: [UInt8]? = nil
    ) throws -> Reply {
        try sendRequest(method, target, fields, body: body)
        return try readReply(isHead: method == "HEAD")
    }

    func sendRequest(_ method: String, _ target: String, _ fields: [(String, String)] = [], body: [UInt8]? = nil) throws {
        var text = "\(method) \(target) HTTP/1.1\r\nHost: localhost\r\n"
        for (name, value) in fields { text += "\(name): \(value)\r\n" }
        if let body { text += "Content-Length: \(body.count)\r\n" }
        try send(Array((text + "\r\n").utf8) + (body ?? []))
    }

    func readReply(isHead: Bool = false) throws -> Reply {
        var reply = try readHead()
        if !isHead, let length = reply["Content-Length"].flatMap({ Int($0) }) { reply.body = try read(count: length) }
        return reply
    }

    func readHead() throws -> Reply {
        let lines = String(decoding: try read(through: "\r\n\r\n"), as: UTF8.self).split(separator: "\r\n")
        let status = lines.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        let fields = lines.dropFirst().compactMap { line -> (String, String)? in
            guard let colon = line.firstIndex(of: ":") else { return nil }
            return (line[..<colon].lowercased(), String(line[line.index(after: colon)...].drop { $0 == " " }))
        }
        return Reply(status: status, fields: fields.map { (name: $0.0, value: $0.1) }, body: [])
    }

    /// The next piece of a chunked body.
    func readChunk() throws -> [UInt8] {
        let size = String(decoding: try read(through: "\r\n").dropLast(2), as: UTF8.self)
        let count = Int(size, radix: 16) ?? 0
        let bytes = try read(count: count)
        _ = try read(count: 2)
        return bytes
    }

    /// The next event of a stream, and empty at its end. Comments that keep a silent stream alive are passed over: one
    /// comes whenever 15 s have passed on the server's clock, which a test may have set forward.
    func readEvent() throws -> [UInt8] {
        while true {
            let chunk = try readChunk()
            if !chunk.starts(with: ": ".utf8) { return chunk }
        }
    }
}
