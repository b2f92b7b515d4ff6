import FreshetHTTPCache
import HTTPTypes

/// The responses that requests of other methods invalidate: RFC 9111 §4.4.
extension CacheCase {
    private static func kept(_ path: String = "") -> CacheStep {
        .get(.network, "a", at: path, origin: .ok("a", "Cache-Control: max-age=60"))
    }

    static let invalidation: [CacheCase] = cases {
        for text in ["POST", "PUT", "DELETE", "PATCH", "PURGE"] {
            let method = HTTPRequest.Method(text) ?? .post
            CacheCase(
                "\(text) outdates", kept(), .ask(method, .network, "x", origin: .ok("x")).body("y").sentBody("y").sentLine("\(text) "),
                .get(.network, "b", origin: .ok("b")))
            CacheCase(
                "\(text) that fails does not outdate", kept(), .ask(method, .network, "x", origin: .status(400, "x")).body("y"),
                .ask(method, .network, "x", origin: .status(500, "x")).body("y"), .get(.cache, "a"))
        }
        for method in [HTTPRequest.Method.options, .trace] {
            CacheCase("\(method) does not outdate", kept(), .ask(method, .network, "x", origin: .ok("x")), .get(.cache, "a"))
        }
        CacheCase(
            "201 outdates what Location names", kept("/1"), .ask(.post, .network, origin: .status(201, "x", "Location: {}/1")).body("y"),
            .get(.network, "b", at: "/1", origin: .ok("b")))
        CacheCase(
            "Content-Location is outdated too", kept("/1"),
            .ask(.put, .network, at: "/2", origin: .ok("x", "Content-Location: 1")).body("y"),
            .get(.network, "b", at: "/1", origin: .ok("b")))
        CacheCase(
            "Location of another origin is not outdated", kept("/1"),
            .ask(.post, .network, origin: .status(201, "x", "Location: http://localhost:1{}/1")).body("y"), .get(.cache, "a", at: "/1"))
        CacheCase(
            "Location of a GET outdates nothing", kept("/1"),
            .get(.network, "b", at: "/2", origin: .ok("b", "Location: 1", "Content-Location: 1")),
            .get(.cache, "a", at: "/1"))
        CacheCase(
            "a redirect after POST outdates, and what it leads to is fetched", kept(),
            .ask(.post, .network, "b", origin: .status(303, "", "Location: {}"), .ok("b", "Cache-Control: max-age=60")).body("y")
                .sentLine("GET ").redirects(303), .get(.cache, "b"))
        CacheCase(
            "a reset outdates nothing", kept(),
            CacheStep.failing(origin: .reset) { if case .connectionLost(_) = $0 { true } else { false } }.method(.post), .get(.cache, "a"))
    }

    static let redirects: [CacheCase] = cases {
        CacheCase(
            "a redirect and its goal are kept each for itself",
            .get(
                .network, "b", origin: .status(301, "", "Location: {}/to", "Cache-Control: max-age=60"),
                .ok("b", "Cache-Control: max-age=60")
            )
            .redirects(301), .get(.cache, "b").redirects(301), .get(.cache, "b", at: "/to").redirects())
        CacheCase(
            "a goal that is stale is confirmed behind a redirect that is kept",
            .get(.network, "b", origin: .status(308, "", "Location: {}/to", "Cache-Control: max-age=600"), .ok("b", "ETag: \"1\"")),
            .get(.validated, "b", origin: .notModified()).sent("if-none-match: \"1\"").redirects(308))
        CacheCase(
            "a temporary redirect is asked for again",
            .get(.network, "b", origin: .status(302, "", "Location: {}/to"), .ok("b", "Cache-Control: max-age=60")).redirects(302),
            .get(.cache, "b", origin: .status(307, "", "Location: {}/to")).redirects(307))
        CacheCase(
            "a temporary redirect with a lifetime is kept",
            .get(
                .network, "b", origin: .status(302, "", "Location: {}/to", "Cache-Control: max-age=60"),
                .ok("b", "Cache-Control: max-age=60")),
            .get(.cache, "b").redirects(302))
        CacheCase("a redirect without Location is given out", .get(.network, "x", origin: .status(302, "x")).status(302).redirects())
        CacheCase(
            "several redirects",
            .get(
                .network, "d", origin: .status(301, "", "Location: {}/1"), .status(302, "", "Location: 2"),
                .status(307, "", "Location: ?3"), .ok("d")
            )
            .redirects(301, 302, 307).sentLine("GET "))
        CacheCase(
            "redirects in a circle end",
            .failing(
                origin: .status(302, "", "Location: {}"), .status(302, "", "Location: {}"), .status(302, "", "Location: {}"),
                .status(302, "", "Location: {}")
            ) {
                if case .tooManyRedirects(limit: 3, _) = $0 { true } else { false }
            })
        CacheCase(
            "redirects in a circle that is kept end",
            .failing(origin: .status(301, "", "Location: {}", "Cache-Control: max-age=60")) {
                if case .tooManyRedirects(limit: 3, _) = $0 { true } else { false }
            })
        CacheCase(
            "a redirect to no HTTP URL is an error",
            .failing(origin: .status(302, "", "Location: ftp://a/")) {
                if case .invalidRedirect(_, "ftp://a/") = $0 { true } else { false }
            })
        CacheCase(
            "301 and 302 turn a POST into a GET",
            .ask(.post, .network, "b", origin: .status(301, "", "Location: {}/1"), .ok("b")).body("y").sentLine("GET ").sentBody(""),
            .ask(.post, .network, "b", origin: .status(302, "", "Location: {}/1"), .ok("b")).body("y").sentLine("GET ").sentBody(""))
        CacheCase(
            "307 and 308 keep method and content",
            .ask(.post, .network, "b", origin: .status(307, "", "Location: {}/1"), .ok("b")).body("y").sentLine("POST ").sentBody("y"),
            .ask(.put, .network, "b", origin: .status(308, "", "Location: {}/1"), .ok("b")).body("y").sentLine("PUT ").sentBody("y"))
        CacheCase(
            "302 keeps a PUT",
            .ask(.put, .network, "b", origin: .status(302, "", "Location: {}/1"), .ok("b")).body("y").sentLine("PUT ").sentBody("y"))
        CacheCase(
            "303 turns a DELETE into a GET, and leaves a HEAD",
            .ask(.delete, .network, "b", origin: .status(303, "", "Location: {}/1"), .ok("b")).sentLine("GET "),
            .ask(.head, .network, "", origin: .status(303, "", "Location: {}/1"), .ok("b")).sentLine("HEAD "))
        CacheCase(
            "credentials stay with their origin",
            .get(
                .network, "b", with: ["Authorization: 1", "Cookie: a", "X-A: 1"],
                origin: .status(302, "", "Location: //localhost:{port}{}/1"), .ok("b")
            )
            .sent("x-a: 1").notSent("authorization", "cookie"))
        CacheCase(
            "credentials go along within an origin",
            .get(.network, "b", with: ["Authorization: 1"], origin: .status(302, "", "Location: {}/1"), .ok("b")).sent("authorization: 1"))
        CacheCase(
            "a mode holds for each redirect",
            .get(
                .network, "b", origin: .status(302, "", "Location: {}/to", "Cache-Control: max-age=1"), .ok("b", "Cache-Control: max-age=1")
            ), .wait(10),
            .get(.cache, "b").mode(.cacheOnly).redirects(302))
    }
}
