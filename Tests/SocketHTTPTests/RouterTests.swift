import HTTPTypes
import Testing

@testable import FreshetSocketHTTP

@Suite("Router")
struct RouterTests {
    private static let router: Router = {
        var router = Router()
        for pattern in ["/", "/v1", "/v1/{ns}", "/v1/{ns}/records/{collection}/{id}", "/v1/{ns}/changes", "/v1/admin/status", "/files/"] {
            router.on(.get, pattern) { _, _ in }
        }
        router.on(.put, "/v1/{space}/records/{set}/{key}") { _, _ in }
        return router
    }()

    private static func match(_ method: String, _ target: String) throws -> String {
        var parser = RequestParser(limits: ParserLimits(Limits()))
        let bytes = Array("\(method) \(target) HTTP/1.1\r\nHost: x\r\n\r\n".utf8)
        var position = 0
        guard case .request(let request) = parser.consume(bytes.span, from: &position) else { return "refused" }
        switch router.match(request.head) {
        case .route(let parameters):
            return parameters.route.parameterNames.map { "\($0)=\(parameters.text($0, in: request.head) ?? "nothing")" }
                .joined(separator: " ")
        case .options(let allow): return "options \(allow)"
        case .failure(let failure, let allow): return "\(failure.status.code) \(allow ?? "")"
        }
    }

    @Test(
        "A path finds its route",
        arguments: [
            ("GET", "/", ""),
            ("GET", "/v1", ""),
            ("GET", "/v1/a", "ns=a"),
            ("GET", "/v1/a/changes?x", "ns=a"),
            ("GET", "/v1/a/records/b/c", "ns=a collection=b id=c"),
            ("GET", "/v1/a/records/b/c%2Fd", "ns=a collection=b id=c/d"),
            ("GET", "/v1/a/records/b/%7Bid%7D", "ns=a collection=b id={id}"),
            ("GET", "/v1/a/records/b/..", "ns=a collection=b id=.."),
            ("PUT", "/v1/a/records/b/c", "space=a set=b key=c"),
            ("HEAD", "/v1/a", "ns=a"),
            ("GET", "/v1/admin/status", ""),
            ("GET", "/v1/admin/changes", "ns=admin"),
            ("GET", "/v1/admin", "ns=admin"),
            ("GET", "/files/", ""),
            ("GET", "/files", "404 "),
            ("GET", "/v1/", "404 "),
            ("GET", "/v1//changes", "404 "),
            ("GET", "/v1/a/records/b/", "404 "),
            ("GET", "/v1/a/records/b/c/d", "404 "),
            ("GET", "/v2", "404 "),
            ("POST", "/v1/a/records/b/c", "405 GET, HEAD, OPTIONS, PUT"),
            ("DELETE", "/v1", "405 GET, HEAD, OPTIONS"),
            ("OPTIONS", "/v1/a/records/b/c", "options GET, HEAD, OPTIONS, PUT"),
            ("OPTIONS", "*", "options DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT"),
            ("OPTIONS", "/v2", "404 "),
            ("BREW", "/v1", "501 "),
            ("TRACE", "/v1", "405 GET, HEAD, OPTIONS"),
            ("TRACE", "/v2", "404 "),
            ("QUERY", "/v1", "405 GET, HEAD, OPTIONS"),
        ])
    func match(method: String, target: String, expected: String) throws {
        #expect(try RouterTests.match(method, target) == expected)
    }

    @Test("A second route of the same place replaces the first")
    func replace() throws {
        var router = Router()
        router.on(.get, "/a/{first}") { _, _ in }
        router.on(.get, "/a/{second}") { _, _ in }
        var parser = RequestParser(limits: ParserLimits(Limits()))
        let bytes = Array("GET /a/b HTTP/1.1\r\nHost: x\r\n\r\n".utf8)
        var position = 0
        guard case .request(let request) = parser.consume(bytes.span, from: &position),
            case .route(let parameters) = router.match(request.head)
        else {
            Issue.record("no route")
            return
        }
        #expect(parameters.text("second", in: request.head) == "b")
        #expect(parameters.text("first", in: request.head) == nil)
    }
}
