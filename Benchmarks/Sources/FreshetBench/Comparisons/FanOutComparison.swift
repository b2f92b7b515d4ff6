import Figures

/// One change delivered to many waiting clients: `fanout.c` loads each server in turn. Long polls have different fields, as
/// those of real clients: `fanout.c` replaces `{S}` with the client's number.
struct FanOutComparison {
    private enum Server: String { case floor, nchan, freshet, redis, nchanStream, freshetStream }

    let environment: BenchmarkEnvironment

    private static let body = "{\"n\":{I},\"pad\":\"\(String(repeating: "0123456789", count: 10))\"}"
    private static let fields =
        #"Host: localhost\nUser-Agent: device-{S}\nAuthorization: Bearer abcdefghijklmnopqrstuvwxyz{S}\n"#
        + #"Accept: application/json\nAccept-Encoding: gzip\n\n"#
    private static let head = #" HTTP/1.1\nHost: localhost\nContent-Type: application/json\nContent-Length: {L}\n\n{B}"#

    func longPoll() throws { try measure("fanout", ours: .freshet, peers: [("floor", .floor), ("nchan", .nchan)]) }

    func stream() throws { try measure("sse", ours: .freshetStream, peers: [("redis", .redis), ("nchan", .nchanStream)]) }

    private func measure(_ name: String, ours: Server, peers: [(name: String, server: Server)]) throws {
        for waiting in environment.isQuick ? [1_000] : [1_000, 9_000] {
            var reports: [Server: [LoadReport.FanOut]] = [:]
            for _ in 0..<environment.rounds {
                for server in peers.map(\.server) + [ours] { reports[server, default: []].append(try load(server, waiting)) }
            }
            for (what, value) in [
                ("cpu-us", \LoadReport.FanOut.cost), ("p99-ms", \.p99), ("last-ms", \.last), ("memory-kib", \.memory),
            ] as [(String, KeyPath<LoadReport.FanOut, Double>)] {
                for peer in peers {
                    // The floor keeps no state for waiting clients, so there is nothing to compare.
                    guard what != "memory-kib" || peer.server != .floor else { continue }
                    environment.report(
                        Figure(
                            "\(name)-\(waiting)-\(what)-vs-\(peer.name)", ours: (reports[ours] ?? []).map { $0[keyPath: value] },
                            peer: (reports[peer.server] ?? []).map { $0[keyPath: value] }))
                }
            }
        }
    }

    private func load(_ kind: Server, _ waiting: Int) throws -> LoadReport.FanOut {
        let fanOut = try environment.load("fanout")
        let server = try start(kind)
        defer { server.stop() }
        // Enough deliveries to even out the kernel's clock of processor time, whose ticks are 10 ms, and other load on
        // the machine.
        let changes = environment.isQuick ? 20 : waiting > 1_000 ? 40 : 300
        let text = try environment.output(
            of: [fanOut, "--port", "\(server.port)", "--pid", "\(server.identifier)", "-n", "\(waiting)", "-m", "\(changes)"]
                + (try arguments(kind, server.port)))
        guard let report = LoadReport.FanOut(text), report.lost == 0 else { throw BenchError.noFigure("fanout, \(kind)", text) }
        return report
    }

    private func start(_ kind: Server) throws -> RunningServer {
        switch kind {
        case .floor: try environment.floor()
        case .nchan, .nchanStream: try environment.nginx()
        case .redis: try environment.redis(isDurable: false)
        case .freshet, .freshetStream: try environment.freshFreshet()
        }
    }

    private func arguments(_ kind: Server, _ port: UInt16) throws -> [String] {
        let publish = ["--body", Self.body, "--pub"]
        let push = ["--mode", "push", "--marker"]
        switch kind {
        case .floor:
            return ["--mode", "cursor", "--sub", #"GET /s?since={C} HTTP/1.1\n"# + Self.fields] + publish + ["POST /p" + Self.head]
        case .nchan:
            return ["--mode", "nchan", "--sub", #"GET /poll HTTP/1.1\n"# + Self.fields] + publish + ["POST /publish" + Self.head]
        // The end of our value is the end of its event.
        case .nchanStream:
            return push + ["6789\"}", "--sub", #"GET /stream HTTP/1.1\nHost: localhost\nAccept: text/event-stream\n\n"#] + publish
                + ["POST /publish" + Self.head]
        case .redis:
            return push + [
                "rec:1", "--body", "x", "--hello", #"PING\n"#, "--sub", #"HELLO 3\nCLIENT TRACKING ON BCAST PREFIX rec:\n"#, "--pub",
                #"SET rec:1 v{I}\n"#,
            ]
        case .freshet:
            return ["--mode", "cursor", "--cursor-header", "Freshet-Cursor", "--cursor-init", try position(port)] + publish
                + ["PUT /v1/fan/records/c/1" + Self.head, "--sub", #"GET /v1/fan/changes?since={C}&wait=60 HTTP/1.1\n"# + Self.fields]
        case .freshetStream:
            return push + ["6789\"}", "--sub"]
                + ["GET /v1/fan/changes?since=\(try position(port))" + #" HTTP/1.1\nHost: localhost\nAccept: text/event-stream\n\n"#]
                + publish
                + ["PUT /v1/fan/records/c/1" + Self.head]
        }
    }

    /// Makes the namespace, and returns its position.
    private func position(_ port: UInt16) throws -> String {
        var connection = try Connection(port: port)
        try connection.ask(HTTPRequest.put("/v1/fan/records/c/0", "1"))
        guard let cursor = connection.field("Freshet-Cursor") else { throw LoadError.noCursor }
        return cursor
    }
}
