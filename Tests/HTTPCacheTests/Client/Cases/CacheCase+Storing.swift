import FreshetHTTPCache
import HTTPTypes

/// The responses that a cache may store: RFC 9111 §3.
extension CacheCase {
    static let storing = refusals + keeping

    private static let refusals: [CacheCase] = cases {
        asked("no-store", "Cache-Control: no-store")
        asked("no-store beats max-age", "Cache-Control: max-age=60, no-store")
        asked("no-store in other case", "Cache-Control: max-age=60, No-Store")
        asked("no-store with an argument", "Cache-Control: max-age=60, no-store=x")
        asked("no-store on another line", "Cache-Control: max-age=60", "Cache-Control: no-store")
        asked("no-store on a folded line", "Cache-Control: max-age=60,\r\n no-store")
        asked("no-store on a folded line after a tab", "Cache-Control: max-age=60\r\n\t,\r\n\tno-store")
        asked("no-store behind a name and a space", "Cache-Control : no-store", "Last-Modified: @-1000")
        asked("no-store before a line like a status line", "Cache-Control: no-store", "HTTP/1.1 200: x", "Expires: @60")
        asked("no-store behind a quotation without end", "Cache-Control: max-age=60, x=\"y, no-store")
        asked("no-store on the line after a quotation without end", "Cache-Control: max-age=60, x=\"y", "Cache-Control: no-store, z=\"")
        asked("must-understand with a status that means nothing", status: 599, "Cache-Control: max-age=60, must-understand")
        asked("Vary: * is never the same", "Cache-Control: max-age=60", "Vary: *")
        asked("Vary by more names than are compared", "Cache-Control: max-age=60", "Vary: X-0" + (1...64).map { ",X-\($0)" }.joined())
        asked("Vary: * among others", "Cache-Control: max-age=60", "Vary: Accept, *")
        asked("Vary: * on another line", "Cache-Control: max-age=60", "Vary: Accept", "Vary: *")
        asked("a part is not kept", status: 206, "Cache-Control: max-age=60", "Content-Range: bytes 0-4/10")
        CacheCase(
            "a request's no-store", .get(.network, "a", with: ["Cache-Control: no-store"], origin: .ok("a", "Cache-Control: max-age=60")),
            .get(.network, "b", origin: .ok("b")))
        CacheCase(
            "an answer to POST is not kept",
            .ask(.post, .network, "a", origin: .ok("a", "Cache-Control: max-age=60")).body("x").storage(.refused(.method)),
            .get(.network, "b", origin: .ok("b")))
        CacheCase(
            "an answer to OPTIONS is not kept", .ask(.options, .network, "a", origin: .ok("a", "Cache-Control: max-age=60")),
            .get(.network, "b", origin: .ok("b")))
        CacheCase(
            "an answer to HEAD is not kept", .ask(.head, .network, "", origin: .ok("a", "Cache-Control: max-age=60")),
            .get(.network, "b", origin: .ok("b")))
        CacheCase(
            "a request for a part passes, both ways",
            .get(.network, "a", origin: .ok("a", "Cache-Control: max-age=60")),
            .get(
                .network, "b", with: ["Range: bytes=0-0"],
                origin: .status(206, "b", "Content-Range: bytes 0-0/9", "Cache-Control: max-age=60")
            )
            .sent("range: bytes=0-0").storage(.refused(.partial)),
            .get(.cache, "a"))
        CacheCase(
            "the answer to a GET with content is for its caller alone",
            .get(.network, "a", origin: .ok("a", "Cache-Control: max-age=60")).body("1").sentBody("1").storage(.refused(.requestContent)),
            .get(.network, "b", origin: .ok("b", "Cache-Control: max-age=60")).body("2").sentBody("2"),
            .get(.network, "c", origin: .ok("c", "Cache-Control: max-age=60")).storage(.stored),
            .get(.network, "d", origin: .ok("d", "Cache-Control: no-store")).body("3"),
            .get(.cache, "c"))
        CacheCase(
            "content that was cut is an error, and not kept",
            .failing(origin: .ok("0123456789", "Cache-Control: max-age=60").ending(.truncated)) {
                if case .connectionLost(_) = $0 { true } else { false }
            },
            .get(.network, "b", origin: .ok("b")))
        CacheCase(
            "content beyond the policy's bound is given out and not kept",
            .get(
                .network, String(repeating: "x", count: 1_001),
                origin: .ok(String(repeating: "x", count: 1_001), "Cache-Control: max-age=60")
            )
            .storage(.refused(.tooLarge)),
            .get(.network, "b", origin: .ok("b")))
        CacheCase(
            "content beyond the client's bound is an error",
            .failing(origin: .ok(String(repeating: "x", count: 2_001), "Cache-Control: max-age=60")) { $0 == .tooLarge(limit: 2_000) },
            .get(.network, "b", origin: .ok("b")))
        CacheCase(
            "an answer that may not be kept removes what it outdates",
            .get(.network, "a", origin: .ok("a", "Cache-Control: max-age=1")), .wait(1),
            .get(.network, "b", origin: .ok("b", "Cache-Control: no-store")),
            .get(.none, "", with: ["Cache-Control: only-if-cached, max-stale"]).status(504))
        CacheCase(
            "an origin's failure removes nothing",
            .get(.network, "a", origin: .ok("a", "Cache-Control: max-age=1")), .wait(1),
            .get(.network, "b", origin: .status(503, "b")),
            .get(.cache, "a", with: ["Cache-Control: only-if-cached, max-stale"]))
        for status in [407, 408, 421, 425, 429] {
            CacheCase(
                "\(status) removes nothing",
                .get(.network, "a", origin: .ok("a", "Cache-Control: max-age=1")), .wait(1),
                .get(.network, "b", origin: .status(status, "b")).status(status),
                .get(.cache, "a").mode(.cacheOnly))
        }
        for line in ["private", "public", "max-age=0", "max-age=x"] {
            CacheCase(
                "a failure with \(line) is stale at once and not kept",
                .get(.network, "a", origin: .ok("a", "Cache-Control: max-age=1")), .wait(1),
                .get(.network, "b", origin: .status(500, "b", "Cache-Control: \(line)")).storage(.refused(.noLifetime)),
                .get(.cache, "a").mode(.cacheElseLoad))
        }
        CacheCase(
            "what an interim response says is not meant for the final one",
            .get(.network, "a", origin: .ok("a").after("HTTP/1.1 103 Early Hints\r\nCache-Control: max-age=60\r\nX-Early: 1\r\n\r\n"))
                .hasNot("x-early"),
            .get(.network, "b", origin: .ok("b")))
        CacheCase(
            "what a trailer says is not meant for the header",
            .get(.network, "abc", origin: .ok("abc").ending(.chunked(trailers: ["Cache-Control: max-age=60", "X-Late: 1"]))).hasNot(
                "x-late"),
            .get(.network, "b", origin: .ok("b")))
        CacheCase(
            "a trailer that looks like a status line is no header",
            .get(
                .network, "abc",
                origin: .ok("abc", "Cache-Control: no-store")
                    .ending(.chunked(trailers: ["HTTP/1.1 200 OK: 1", "Cache-Control: max-age=60"]))
            )
            .has("cache-control: no-store"),
            .get(.network, "b", origin: .ok("b")))
        CacheCase(
            "a record that was damaged is none",
            .get(.network, "a", origin: .ok("a", "Cache-Control: max-age=60")), .damageStore, .get(.network, "b", origin: .ok("b")))
        CacheCase(
            "another query is another resource",
            .get(.network, "a", at: "?a=1", origin: .ok("a", "Cache-Control: max-age=60")),
            .get(.network, "b", at: "?a=2", origin: .ok("b", "Cache-Control: max-age=60")), .get(.cache, "a", at: "?a=1"),
            .get(.cache, "b", at: "?a=2"))
        CacheCase(
            "another host is another resource",
            .get(.network, "a", origin: .ok("a", "Cache-Control: max-age=60")),
            .get(.network, "b", origin: .ok("b", "Cache-Control: max-age=60")).host("localhost"), .get(.cache, "a"),
            .get(.cache, "b").host("LOCALHOST"))
        CacheCase(
            "a path in other case is another resource",
            .get(.network, "a", at: "/a", origin: .ok("a", "Cache-Control: max-age=60")), .get(.network, "b", at: "/A", origin: .ok("b")))
    }

    private static let keeping: [CacheCase] = cases {
        reused("private", after: 59, "Cache-Control: max-age=60, private")
        reused("private with names", after: 59, "Cache-Control: max-age=60, private=\"Set-Cookie\"", "Set-Cookie: a=1")
        reused("public", after: 59, "Cache-Control: max-age=60, public")
        reused("proxy-revalidate is for shared caches", after: 59, "Cache-Control: max-age=60, proxy-revalidate")
        reused("no-transform", after: 59, "Cache-Control: max-age=60, no-transform")
        reused("must-understand in place of no-store", after: 59, "Cache-Control: max-age=60, must-understand, no-store")
        reused("a cookie is kept in a private cache", after: 59, "Cache-Control: max-age=60", "Set-Cookie: a=1")
        reused("an attachment is kept", after: 59, "Cache-Control: max-age=60", "Content-Disposition: attachment")
        reused("a CDN's directives are for the CDN", after: 59, "Cache-Control: max-age=60", "CDN-Cache-Control: no-store")
        reused("chunked content", after: 59, answer: .ok("first", "Cache-Control: max-age=60").ending(.chunked(trailers: [])))
        reused("an empty Vary", after: 59, "Cache-Control: max-age=60", "Vary:")
        reused("must-revalidate while fresh", after: 59, "Cache-Control: max-age=60, must-revalidate")
        reused("immutable while fresh", after: 59, "Cache-Control: max-age=60, immutable")
        CacheCase(
            "an authorised answer is kept in a private cache",
            .get(.network, "a", with: ["Authorization: Bearer 1"], origin: .ok("a", "Cache-Control: max-age=60")),
            .get(.cache, "a", with: ["Authorization: Bearer 1"]))
        CacheCase(
            "fields of the connection are not kept",
            .get(
                .network, "a",
                origin: .ok(
                    "a", "Cache-Control: max-age=60", "Connection: X-Hop, keep-alive", "X-Hop: 1", "Keep-Alive: timeout=5",
                    "Proxy-Authenticate: x", "X-End: 2")),
            .get(.cache, "a").has("x-end: 2").hasNot("x-hop", "connection", "keep-alive", "proxy-authenticate"))
        CacheCase(
            "fields of one name keep their order",
            .get(.network, "a", origin: .ok("a", "Cache-Control: max-age=60", "X-A: 1", "X-A: 2", "Content-Type: text/plain")),
            .get(.cache, "a").has("x-a: 1, 2", "content-type: text/plain"))
        CacheCase(
            "a removed URL is asked for again",
            .get(.network, "a", origin: .ok("a", "Cache-Control: max-age=60")), .removeURL, .get(.network, "b", origin: .ok("b")))
        CacheCase(
            "a cleared cache is empty",
            .get(.network, "a", at: "/1", origin: .ok("a", "Cache-Control: max-age=60")),
            .get(.network, "b", at: "/2", origin: .ok("b", "Cache-Control: max-age=60")), .removeAll,
            .get(.network, "c", at: "/1", origin: .ok("c")), .get(.network, "d", at: "/2", origin: .ok("d")))
    }
}
