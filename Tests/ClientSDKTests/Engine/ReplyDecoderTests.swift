import HTTPTypes
import Testing

@testable import FreshetClient

@Suite struct ReplyDecoderTests {
    private let key = Sample.key("notes/1")
    private let poll = RequestDescription.Kind.changes(since: .after(Sample.cursor(5)), filter: .all, wait: 25, limit: 10)

    private func reply(_ status: Int, _ body: String = "", _ fields: HTTPFields = [.freshetCursor: "e1-7"]) -> Result<
        HTTPReply, TransportError
    > {
        .success(HTTPReply(status: status, fields: fields, body: Array(body.utf8)))
    }

    private func decode(
        _ kind: RequestDescription.Kind, _ status: Int, _ body: String = "", _ fields: HTTPFields = [.freshetCursor: "e1-7"]
    ) -> Reply {
        ReplyDecoder.decode(reply(status, body, fields), for: kind).reply
    }

    private func isGarbage(_ reply: Reply) -> Bool { if case .garbage(let text) = reply { !text.isEmpty } else { false } }

    @Test func whatTheProtocolSaysIsRead() throws {
        let page = ChangePage(changes: [], cursor: Sample.cursor(7), upToDate: true)
        #expect(decode(poll, 200, String(decoding: page.json, as: UTF8.self)) == .page(page))
        #expect(decode(poll, 204) == .quiet(Sample.cursor(7)))
        #expect(decode(.record(key, known: nil), 304) == .notModified(Sample.cursor(7)))
        #expect(decode(.record(key, known: nil), 404) == .missing(Sample.cursor(7)))
        let fields: HTTPFields = [.freshetCursor: "e1-7", .eTag: "\"e1-6\"", .contentType: "image/png"]
        guard case .record(let record, Sample.cursor(7)) = decode(.record(key, known: nil), 200, "png", fields) else {
            Issue.record("no record")
            return
        }
        #expect(record.revision == Sample.revision(6) && record.content == Content(bytes: Array("png".utf8), type: "image/png"))
    }

    @Test(arguments: [Since.start, .now]) func nothingIsNothingWhereverItIsAskedFrom(_ since: Since) {
        let kind = RequestDescription.Kind.changes(since: since, filter: .all, wait: 0, limit: 10)
        #expect(decode(kind, 204) == .quiet(Sample.cursor(7)))
    }

    @Test("a request for the last write gets it, or its response is refused")
    func lastWriteIsRequired() throws {
        let client = try ClientIdentifier("d")
        let kinds: [RequestDescription.Kind] = [
            .changes(since: .after(Sample.cursor(5)), filter: .all, wait: 0, limit: 10, client: client),
            .record(key, known: Sample.cursor(5), client: client), .record(key, known: nil, client: client),
        ]
        for (kind, status) in zip(kinds, [204, 304, 404]) {
            let stated = ReplyDecoder.decode(reply(status, "", [.freshetCursor: "e1-7", .freshetLastWrite: "12"]), for: kind)
            #expect(stated.lastWrite == 12)
            #expect(isGarbage(decode(kind, status)))
            for wrong in ["", "-1", "x", "9007199254740992"] {
                #expect(isGarbage(decode(kind, status, "", [.freshetCursor: "e1-7", .freshetLastWrite: wrong])))
            }
        }
        #expect(ReplyDecoder.decode(reply(204), for: poll).lastWrite == nil)
    }

    @Test func aLastNumberCountsInAHistory() throws {
        let kind = RequestDescription.Kind.clientStatus(try ClientIdentifier("d"))
        #expect(
            decode(kind, 200, #"{"client":"d","last":3}"#)
                == .client(ClientStatus(client: try ClientIdentifier("d"), last: 3), Sample.cursor(7)))
        #expect(isGarbage(decode(kind, 200, #"{"client":"d","last":3}"#, [:])))
    }

    @Test func whatItDoesNotSayIsGarbageWithAReason() {
        #expect(isGarbage(decode(poll, 200, "<html>")))
        #expect(isGarbage(decode(poll, 200, "{}")))
        #expect(isGarbage(decode(poll, 204, "", [:])))
        #expect(isGarbage(decode(poll, 204, "", [.freshetCursor: "nonsense"])))
        #expect(isGarbage(decode(poll, 302)))
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
        // A 404 without a position is not about a record, but about a wrong URL.
        guard case .problem(let other, cursor: nil, retryAfter: nil) = decode(.record(key, known: nil), 404, "no", [:]) else {
            Issue.record("no problem")
            return
        }
        #expect(other.status == 404 && other.code == .notFound)
        guard case .problem(let gateway, cursor: nil, retryAfter: nil) = decode(poll, 502, "<html>", [.retryAfter: "soon"]) else {
            Issue.record("no problem")
            return
        }
        #expect(gateway.status == 502)
    }

    @Test func whatNeverCameTellsWhetherTheRequestMayHaveArrived() {
        for error: TransportError in [.couldNotConnect("x"), .couldNotResolve("x"), .tls("x"), .invalidRequest("x")] {
            guard case .failure(.unreachable) = ReplyDecoder.decode(.failure(error), for: poll).reply else {
                Issue.record("\(error)")
                continue
            }
        }
        for error: TransportError in [.timedOut, .connectionLost("x"), .aborted, .failed(code: 1, "x")] {
            guard case .failure(.interrupted) = ReplyDecoder.decode(.failure(error), for: poll).reply else {
                Issue.record("\(error)")
                continue
            }
        }
    }
}
