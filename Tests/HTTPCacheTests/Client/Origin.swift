import FreshetCache
import FreshetHTTPCache
import FreshetPlatform
import FreshetTestSupport
import Synchronization

/// One answer of the origin's, byte by byte as it is sent.
struct OriginAnswer: Sendable {
    enum Ending: Sendable {
        case complete
        /// Half of the content, then the connection closes.
        case truncated
        /// No answer at all: the connection is reset.
        case reset
        /// In chunks, with these lines after them.
        case chunked(trailers: [String])
    }

    var status: Int
    var body: String
    var lines: [String]
    var ending = Ending.complete
    /// Heads of interim responses that come before.
    var interim: [String] = []
    /// Seconds that pass between the request's arrival and the answer.
    var delay = 0
    /// Whether a `Date` of the moment is added; otherwise the lines have one or there is none.
    var isDated = true

    static func ok(_ body: String, _ lines: String...) -> OriginAnswer { OriginAnswer(status: 200, body: body, lines: lines) }
    static func status(_ status: Int, _ body: String = "", _ lines: String...) -> OriginAnswer {
        OriginAnswer(status: status, body: body, lines: lines)
    }
    static func notModified(_ lines: String...) -> OriginAnswer { OriginAnswer(status: 304, body: "", lines: lines) }
    static var reset: OriginAnswer { OriginAnswer(status: 0, body: "", lines: [], ending: .reset) }

    var isReset: Bool { if case .reset = ending { true } else { false } }

    func ending(_ ending: Ending) -> OriginAnswer { with { $0.ending = ending } }
    func undated() -> OriginAnswer { with { $0.isDated = false } }
    func late(_ seconds: Int) -> OriginAnswer { with { $0.delay = seconds } }
    func after(_ interim: String...) -> OriginAnswer { with { $0.interim = interim } }
    func lines(_ lines: [String]) -> OriginAnswer { with { $0.lines = lines } }

    private func with(_ change: (inout OriginAnswer) -> Void) -> OriginAnswer {
        var copy = self
        change(&copy)
        return copy
    }
}

/// A request that the origin received.
struct Asked: Sendable {
    let line: String
    let fields: [String: String]
    let body: String
}

/// An origin on loopback that serves all cases at once: the first segment of a path names the case, whose answers it gives in turn.
final class Origin: Sendable {
    /// The moment at which every case begins: 2024-05-01T00:00:00Z, a Wednesday.
    static let start: Int64 = 1_714_521_600

    private struct Script {
        var answers: [OriginAnswer] = []
        var asked: [Asked] = []
        let time: ManualCacheClock
    }

    static let shared = Origin()
    private let scripts = Mutex<[String: Script]>([:])
    private let server = Mutex<ScriptedServer?>(nil)

    private init() {
        let server = ScriptedServer { [weak self] connection in
            var isFirst = true
            while let (head, body) = connection.request() {
                guard let self, self.answer(head, body, connection, isFirst: isFirst) else { return }
                isFirst = false
            }
        }
        self.server.withLock { $0 = server }
    }

    var port: UInt16 { server.withLock { $0?.port ?? 0 } }

    func open(_ name: String, time: ManualCacheClock) { scripts.withLock { $0[name] = Script(time: time) } }

    func expect(_ name: String, _ answers: [OriginAnswer]) { scripts.withLock { $0[name]?.answers = answers } }

    /// The requests since the last call.
    func takeAsked(_ name: String) -> [Asked] {
        scripts.withLock { scripts in
            defer { scripts[name]?.asked = [] }
            return scripts[name]?.asked ?? []
        }
    }

    func close(_ name: String) { scripts.withLock { $0[name] = nil } }

    /// A text in which `@60` stands for the date of 60 seconds after the start.
    static func withDates(_ line: String) -> String {
        guard let mark = line.lastIndex(of: "@"), let seconds = Int64(line[line.index(after: mark)...]) else { return line }
        return line[..<mark] + HTTPDate(seconds: start + seconds).description
    }

    /// - Returns: whether the connection goes on.
    private func answer(_ head: String, _ body: [UInt8], _ connection: ScriptedConnection, isFirst: Bool) -> Bool {
        let lines = head.split(separator: "\r\n")
        let line = String(lines.first ?? "")
        let name = String(line.split(separator: " ").dropFirst().first?.split(separator: "/").first?.prefix { $0 != "?" } ?? "")
        var fields: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { continue }
            let value = parts[1].drop { $0 == " " }
            fields[parts[0].lowercased(), default: ""] += (fields[parts[0].lowercased()] == nil ? "" : ", ") + value
        }
        let asked = Asked(line: line, fields: fields, body: String(decoding: body, as: UTF8.self))
        // libcurl sends a request again whose connection had served before and broke without an answer: the first time is not counted.
        if !isFirst, scripts.withLock({ $0[name]?.answers.first?.isReset }) == true {
            connection.reset()
            return false
        }
        let (answer, time): (OriginAnswer?, ManualCacheClock?) = scripts.withLock { scripts in
            scripts[name]?.asked.append(asked)
            guard let script = scripts[name], !script.answers.isEmpty else { return (nil, nil) }
            return (scripts[name]?.answers.removeFirst(), script.time)
        }
        guard let answer, let time else {
            connection.respond("the origin was not to be asked", status: "599 Unexpected")
            return true
        }
        // `{}` stands for the case's own path, `{port}` for the origin's.
        let placed = answer.lines.map { line in
            line.split(separator: "{}", omittingEmptySubsequences: false).joined(separator: "/\(name)")
                .split(separator: "{port}", omittingEmptySubsequences: false).joined(separator: "\(port)")
        }
        return send(answer.lines(placed), at: time, toHead: line.hasPrefix("HEAD "), connection)
    }

    private func send(_ answer: OriginAnswer, at time: ManualCacheClock, toHead: Bool, _ connection: ScriptedConnection) -> Bool {
        time.advance(by: .seconds(answer.delay))
        if case .reset = answer.ending {
            connection.reset()
            return false
        }
        // Scalars up to U+00FF are sent as one byte each, which need not be UTF-8.
        var text = answer.interim.joined() + "HTTP/1.1 \(answer.status) Text\r\n"
        for line in answer.lines { text += Self.withDates(line) + "\r\n" }
        if answer.isDated { text += "Date: \(HTTPDate(seconds: time.clock.wall() / 1_000))\r\n" }
        let hasContent = answer.status != 304 && answer.status != 204
        let isSent = hasContent && !toHead
        switch answer.ending {
        case .chunked(let trailers):
            text += "Transfer-Encoding: chunked\r\n\r\n"
            for byte in answer.body.utf8 { text += "1\r\n\(Character(Unicode.Scalar(byte)))\r\n" }
            text += "0\r\n" + trailers.map { $0 + "\r\n" }.joined() + "\r\n"
        case .truncated: text += "Content-Length: \(answer.body.utf8.count)\r\n\r\n\(answer.body.prefix(answer.body.count / 2))"
        case .complete, .reset:
            let isMeasured = !answer.lines.contains { $0.lowercased().hasPrefix("content-length:") }
            if hasContent, isMeasured { text += "Content-Length: \(answer.body.utf8.count)\r\n" }
            text += "\r\n" + (isSent ? answer.body : "")
        }
        guard connection.send(text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }) else { return false }
        if case .truncated = answer.ending { return false }
        return true
    }
}
