import FreshetTransport
import FreshetWire
import HTTPTypes
import Testing

@testable import FreshetClient

@Suite struct ReplyDecoderTests {
    private let key = Sample.key("notes/1")
    private let poll = RequestDescription.Kind.changes(since: .after(Sample.cursor(5)), filter: .all, wait: 25, limit: 10)

    private func reply(
        _ status: Int, _ body: String = "", _ fields: HTTPFields = [.freshetCursor: "e1-7", .contentType: "application/json"]
    ) -> Result<HTTPReply, TransportError> {
        .success(HTTPReply(status: status, fields: fields, body: Array(body.utf8)))
    }

    private func decode(
        _ kind: RequestDescription.Kind, _ status: Int, _ body: String = "",
        _ fields: HTTPFields = [.freshetCursor: "e1-7", .contentType: "application/json"]
    ) -> Reply {
        ReplyDecoder.decode(reply(status, body, fields), for: kind).reply
    }

    /// The status of an answer that is taken for another's than the server's.
    private func intercepted(_ reply: Reply) -> Int? {
        guard case .failure(.intercepted(let answer)) = reply, !answer.text.isEmpty else { return nil }
        return answer.status
    }

    /// One request of each kind.
    private var kinds: [RequestDescription.Kind] {
        get throws {
            let client = try ClientIdentifier("d")
            let batch = WriteBatch(client: client, writes: [Write(number: 1, key: key, operation: .delete)])
            return [
                poll, .record(key, known: nil), .record(key, known: Sample.cursor(5), client: client), .writes(batch),
                .clientStatus(client),
                .reads(ReadsRequest(items: [ReadsRequest.Item(key: key)])),
            ]
        }
    }

    private func isGarbage(_ reply: Reply) -> Bool { if case .garbage(let text) = reply { !text.isEmpty } else { false } }

    @Test func whatTheProtocolSaysIsRead() throws {
        let page = ChangePage(changes: [], cursor: Sample.cursor(7), upToDate: true)
        #expect(decode(poll, 200, String(decoding: page.json, as: UTF8.self)) == .page(page))
        #expect(decode(poll, 204) == .noChange(Sample.cursor(7)))
        #expect(decode(.record(key, known: nil), 304) == .notModified(Sample.cursor(7)))
        let none = String(decoding: Problem(.notFound, "none").json, as: UTF8.self)
        let ofProblem: HTTPFields = [.freshetCursor: "e1-7", .contentType: Problem.contentType]
        #expect(decode(.record(key, known: nil), 404, none, ofProblem) == .missing(Sample.cursor(7)))
        let fields: HTTPFields = [.freshetCursor: "e1-7", .eTag: "\"e1-6\"", .contentType: "image/png"]
        guard case .record(let record, Sample.cursor(7)) = decode(.record(key, known: nil), 200, "png", fields) else {
            Issue.record("no record")
            return
        }
        #expect(record.revision == Sample.revision(6) && record.content == Content(bytes: Array("png".utf8), type: "image/png"))
    }

    @Test("a record whose response ended with its connection is not taken for the whole")
    func unstatedEnd() {
        let fields: HTTPFields = [.freshetCursor: "e1-7", .eTag: "\"e1-6\"", .contentType: "image/png"]
        let cut = HTTPReply(status: 200, fields: fields, body: Array("pn".utf8), statesEnd: false)
        guard case .failure(.interrupted(let text)) = ReplyDecoder.decode(.success(cut), for: .record(key, known: nil)).reply else {
            Issue.record("it was taken")
            return
        }
        #expect(text.contains("length"))
    }

    @Test("a record whose media type no server stores is refused")
    func mediaType() {
        var fields: HTTPFields = [.freshetCursor: "e1-7", .eTag: "\"e1-6\""]
        // Given the longest media type
        let longest = "image/" + String(repeating: "x", count: 249)
        fields[.contentType] = longest
        guard case .record(let record, _) = decode(.record(key, known: nil), 200, "png", fields) else {
            Issue.record("no record")
            return
        }
        #expect(record.content?.type == longest)
        // When it is longer, also as a parameter of JSON, or no visible ASCII
        for type in [longest + "x", "application/json; a=" + String(repeating: "x", count: 255), "image/\u{E9}", ""] {
            fields[.contentType] = type
            // Then
            #expect(isGarbage(decode(.record(key, known: nil), 200, "1", fields)), "\(type.count)")
        }
    }

    @Test(arguments: [Since.start, .now]) func nothingIsNothingWhereverItIsAskedFrom(_ since: Since) {
        let kind = RequestDescription.Kind.changes(since: since, filter: .all, wait: 0, limit: 10)
        #expect(decode(kind, 204) == .noChange(Sample.cursor(7)))
    }

    @Test("a request for the last write gets it, or its response is refused")
    func lastWriteIsRequired() throws {
        let client = try ClientIdentifier("d")
        let kinds: [RequestDescription.Kind] = [
            .changes(since: .after(Sample.cursor(5)), filter: .all, wait: 0, limit: 10, client: client),
            .record(key, known: Sample.cursor(5), client: client), .record(key, known: nil, client: client),
        ]
        for (kind, status) in zip(kinds, [204, 304, 404]) {
            let body = status == 404 ? String(decoding: Problem(.notFound, "none").json, as: UTF8.self) : ""
            var fields: HTTPFields = [.freshetCursor: "e1-7", .contentType: Problem.contentType]
            #expect(isGarbage(decode(kind, status, body, fields)))
            fields[.freshetLastWrite] = "12"
            #expect(ReplyDecoder.decode(reply(status, body, fields), for: kind).lastWrite == 12)
            for wrong in ["", "-1", "x", "9007199254740992"] {
                fields[.freshetLastWrite] = wrong
                #expect(isGarbage(decode(kind, status, body, fields)))
            }
        }
        #expect(ReplyDecoder.decode(reply(204), for: poll).lastWrite == nil)
    }

    @Test(
        "A response that a cache may have kept is as old as that",
        arguments: [
            (nil, nil, 0), ("no-store", nil, 0), ("public, max-age=1", nil, 1_000), ("public, max-age=1", "0", 1_000), (nil, "3", 4_000),
            (nil, "86401", 86_402_000), (nil, "2147483647", 2_147_483_648_000),
            (nil, "120, 3", 121_000), (nil, "3 ,120", 121_000),
        ] as [(String?, String?, Int64)])
    func age(control: String?, stated: String?, age: Int64) {
        var fields: HTTPFields = [.freshetCursor: "e1-7"]
        fields[.cacheControl] = control
        fields[.age] = stated
        #expect(ReplyDecoder.decode(reply(204, "", fields), for: poll).age == age)
    }

    @Test(
        "A response whose Age is too large or cannot be read is as old as can be",
        arguments: [
            "2147483648", "9223372036854775807", "99999999999999999999", "-1", "+3", "x", "1.5", "1 2", "", "3,", "3, x",
        ])
    func unreadableAge(stated: String) {
        let fields: HTTPFields = [.freshetCursor: "e1-7", .age: stated]
        #expect(ReplyDecoder.decode(reply(204, "", fields), for: poll).age == 2_147_483_649_000)
    }

    @Test("Of several Age fields the largest counts", arguments: [["3", "120"], ["120", "3"]])
    func severalAges(stated: [String]) {
        var fields: HTTPFields = [.freshetCursor: "e1-7"]
        for value in stated { fields.append(HTTPField(name: .age, value: value)) }
        #expect(ReplyDecoder.decode(reply(204, "", fields), for: poll).age == 121_000)
    }

    @Test func aLastNumberCountsInAHistory() throws {
        let kind = RequestDescription.Kind.clientStatus(try ClientIdentifier("d"))
        #expect(
            decode(kind, 200, #"{"client":"d","last":3}"#)
                == .client(ClientStatus(client: try ClientIdentifier("d"), last: 3), Sample.cursor(7)))
        #expect(intercepted(decode(kind, 200, #"{"client":"d","last":3}"#, [:])) == 200)
        #expect(isGarbage(decode(kind, 200, #"{"client":"d","last":-3}"#)))
    }

    @Test func whatItDoesNotSayIsGarbageWithAReason() {
        #expect(isGarbage(decode(poll, 200, "<html>")))
        #expect(isGarbage(decode(poll, 200, "{}")))
        #expect(isGarbage(decode(poll, 204, "", [.freshetCursor: "nonsense"])))
        #expect(isGarbage(decode(.record(key, known: nil), 200, "1", [.freshetCursor: "e1-7"])))
        #expect(
            isGarbage(
                decode(.record(key, known: nil), 200, "{", [.freshetCursor: "e1-7", .eTag: "\"e1-6\"", .contentType: "application/json"])))
        #expect(isGarbage(ReplyDecoder.decode(.failure(.malformedResponse("x")), for: poll).reply))
    }

    @Test func anAnswerBeyondTheLimitSaysSo() {
        guard case .tooLarge(let text) = ReplyDecoder.decode(.failure(.tooLarge(limit: 1_024)), for: poll).reply else {
            Issue.record("it is taken for something else")
            return
        }
        #expect(text.contains("1024") && text.contains("raise the limit"))
    }

    @Test func errorsKeepTheirProblemPositionAndRetryAfter() {
        let problem = Problem(.cursorExpired, "too old")
        let fields: HTTPFields = [.contentType: Problem.contentType, .freshetCursor: "e1-7", .retryAfter: "3"]
        #expect(
            decode(poll, 410, String(decoding: problem.json, as: UTF8.self), fields)
                == .problem(problem, cursor: Sample.cursor(7), retryAfter: 3_000))
    }

    @Test("a proxy's answer decides nothing, with any status", arguments: Array(200...599))
    func foreignAnswer(_ status: Int) throws {
        // Given pages, JSON and problem documents that are not the server's, one with the code of one of its problems
        let bodies: [(type: String?, text: String)] = [
            (nil, ""), ("text/html", "<html>Sign in</html>"), ("application/json", #"{"message":"Forbidden"}"#),
            (Problem.contentType, #"{"type":"about:blank","status":\#(status),"detail":"no"}"#),
            (Problem.contentType, #"{"type":"too-large","status":\#(status)}"#), (Problem.contentType, "<html>"),
            ("text/html", String(decoding: Problem(.tooLarge, "", status: status).json, as: UTF8.self)),
        ]
        for kind in try kinds {
            for body in bodies {
                var fields: HTTPFields = [.retryAfter: "3"]
                fields[.contentType] = body.type
                // When it comes in the place of an answer
                let reply = decode(kind, status, body.text, fields)
                // Then it counts as none, but for the refusal of a token
                if status == 401 {
                    guard case .problem(let problem, cursor: nil, retryAfter: 3_000) = reply else { Issue.record("\(reply)"); continue }
                    #expect(problem.code == .unauthorized)
                } else {
                    #expect(intercepted(reply) == status, "\(kind): \(reply)")
                    if case .failure(let failure) = reply { #expect(failure.retryAfter == 3_000) }
                }
            }
        }
    }

    @Test func aProblemOfTheServerWhoseStatusWasChangedIsNotTheServersAnswer() {
        let document = String(decoding: Problem(.overloaded, "busy").json, as: UTF8.self)
        #expect(intercepted(decode(poll, 413, document, [.contentType: Problem.contentType])) == 413)
        #expect(intercepted(decode(poll, 503, document, [.contentType: Problem.contentType])) == nil)
    }

    @Test func aSuccessOfAnotherTypeOrAnEncodedOneIsNotTheServersAnswer() {
        let page = String(decoding: ChangePage(changes: [], cursor: Sample.cursor(7), upToDate: true).json, as: UTF8.self)
        #expect(intercepted(decode(poll, 200, page, [.freshetCursor: "e1-7", .contentType: "text/html"])) == 200)
        #expect(intercepted(decode(poll, 200, page, [.freshetCursor: "e1-7"])) == 200)
        #expect(intercepted(decode(poll, 200, page, [.contentType: "application/json"])) == 200)
        #expect(intercepted(decode(poll, 200, page, [.freshetCursor: "e1-7", .contentType: "application/json; charset=utf-8"])) == nil)
        let fields: HTTPFields = [.freshetCursor: "e1-7", .eTag: "\"e1-6\"", .contentType: "image/png", .contentEncoding: "gzip"]
        #expect(intercepted(decode(.record(key, known: nil), 200, "png", fields)) == 200)
    }

    @Test func aRedirectSaysWhereItLeads() {
        guard case .failure(.intercepted(let answer)) = decode(poll, 302, "", [.location: "https://login.example/"]) else {
            Issue.record("it is taken for something else")
            return
        }
        #expect(answer.status == 302 && answer.text.contains("https://login.example/"))
    }

    @Test func whatNeverCameTellsWhetherTheRequestMayHaveArrived() {
        for error: TransportError in [.couldNotConnect("x"), .couldNotResolve("x"), .tls("x"), .invalidRequest("x")] {
            guard case .failure(.unreachable) = ReplyDecoder.decode(.failure(error), for: poll).reply else {
                Issue.record("\(error)")
                continue
            }
        }
        for error: TransportError in [.timedOut(), .connectionLost("x"), .aborted, .failed(code: 1, "x")] {
            guard case .failure(.interrupted) = ReplyDecoder.decode(.failure(error), for: poll).reply else {
                Issue.record("\(error)")
                continue
            }
        }
    }
}
