import FreshetHTTPCache
import HTTPTypes

/// Several variants of one resource: RFC 9111 §4.1.
extension CacheCase {
    private static func variant(_ body: String, _ vary: String = "Accept-Language", _ more: String...) -> OriginAnswer {
        OriginAnswer.ok(body).lines(["Cache-Control: max-age=60", "Vary: \(vary)"] + more)
    }
    private static let german = ["Accept-Language: de"]
    private static let english = ["Accept-Language: en"]

    static let vary: [CacheCase] = cases {
        CacheCase("Vary and the same value", .get(.network, "a", with: german, origin: variant("a")), .get(.cache, "a", with: german))
        CacheCase(
            "Vary and another value", .get(.network, "a", with: german, origin: variant("a")),
            .get(.network, "b", with: english, origin: .ok("b")))
        CacheCase(
            "both variants are kept", .get(.network, "a", with: german, origin: variant("a")),
            .get(.network, "b", with: english, origin: variant("b")),
            .get(.cache, "a", with: german), .get(.cache, "b", with: english))
        CacheCase(
            "Vary and a field that is missing", .get(.network, "a", with: german, origin: variant("a")),
            .get(.network, "b", origin: .ok("b")))
        CacheCase(
            "Vary and a field that was missing", .get(.network, "a", origin: variant("a")),
            .get(.network, "b", with: german, origin: .ok("b")))
        CacheCase("Vary and a field that was missing and is", .get(.network, "a", origin: variant("a")), .get(.cache, "a"))
        CacheCase(
            "Vary and a field that is empty", .get(.network, "a", origin: variant("a", "X-A")),
            .get(.network, "b", with: ["X-A:"], origin: .ok("b")))
        CacheCase(
            "Vary in other case", .get(.network, "a", with: german, origin: variant("a", "ACCEPT-language")),
            .get(.cache, "a", with: german))
        CacheCase(
            "Vary by two, both the same", .get(.network, "a", with: german + ["X-A: 1"], origin: variant("a", "X-A, Accept-Language")),
            .get(.cache, "a", with: ["X-A: 1"] + german))
        CacheCase(
            "Vary by two, one another", .get(.network, "a", with: german + ["X-A: 1"], origin: variant("a", "Accept-Language, X-A")),
            .get(.network, "b", with: german + ["X-A: 2"], origin: .ok("b")))
        CacheCase(
            "Vary by two lines", .get(.network, "a", with: german + ["X-A: 1"], origin: variant("a", "Accept-Language", "Vary: X-A")),
            .get(.network, "b", with: german + ["X-A: 2"], origin: .ok("b")))
        CacheCase(
            "Vary by two, one missing", .get(.network, "a", with: german, origin: variant("a", "Accept-Language, X-A")),
            .get(.cache, "a", with: german),
            .get(.network, "b", with: german + ["X-A: 1"], origin: .ok("b")))
        CacheCase(
            "lines of the request add up", .get(.network, "a", with: ["X-A: 1", "X-A: 2"], origin: variant("a", "X-A")),
            .get(.cache, "a", with: ["X-A: 1, 2"]))
        CacheCase(
            "the order of values counts", .get(.network, "a", with: ["X-A: 1, 2"], origin: variant("a", "X-A")),
            .get(.network, "b", with: ["X-A: 2, 1"], origin: .ok("b")))
        CacheCase(
            "space around a value does not count", .get(.network, "a", with: ["X-A: 1"], origin: variant("a", "X-A")),
            .get(.cache, "a", with: ["X-A:   1  "]))
        CacheCase(
            "what Vary does not name does not count", .get(.network, "a", with: german, origin: variant("a", "X-A")),
            .get(.cache, "a", with: english))
        CacheCase("Vary by what the client adds", .get(.network, "a", origin: variant("a", "User-Agent, Accept")), .get(.cache, "a"))
        CacheCase(
            "Vary by the client's own name", .get(.network, "a", origin: variant("a", "User-Agent")),
            .get(.network, "b", with: ["User-Agent: other"], origin: .ok("b")).sent("user-agent: other"))
        CacheCase(
            "Vary by the credentials", .get(.network, "a", with: ["Authorization: 1"], origin: variant("a", "Authorization")),
            .get(.network, "b", with: ["Authorization: 2"], origin: variant("b", "Authorization")),
            .get(.cache, "a", with: ["Authorization: 1"]))
        CacheCase(
            "each variant is confirmed by its own tag",
            .get(.network, "a", with: german, origin: variant("a", "Accept-Language", "ETag: \"de\"")),
            .get(.network, "b", with: english, origin: variant("b", "Accept-Language", "ETag: \"en\"")), .wait(60),
            .get(.validated, "a", with: german, origin: .notModified()).sent("if-none-match: \"de\""), .get(.cache, "a", with: german),
            .get(.validated, "b", with: english, origin: .notModified()).sent("if-none-match: \"en\""))
        CacheCase(
            "answers of one resource may vary by different fields", .get(.network, "a", with: german, origin: variant("a")),
            .get(.network, "b", with: english + ["X-A: 1"], origin: variant("b", "X-A")), .get(.cache, "a", with: german),
            .get(.cache, "b", with: ["X-A: 1"]))
        CacheCase(
            "an answer that does not vary takes the place of all", .get(.network, "a", with: german, origin: variant("a")),
            .get(.network, "b", with: english, origin: .ok("b", "Cache-Control: max-age=60")), .get(.cache, "b", with: german))
        CacheCase(
            "an answer that varies takes the place of one that did not",
            .get(.network, "a", with: german, origin: .ok("a", "Cache-Control: max-age=1")),
            .wait(1), .get(.network, "b", with: german, origin: variant("b")), .get(.network, "c", with: english, origin: .ok("c")))
        CacheCase(
            "a confirmation's new Vary selects from then on",
            .get(.network, "a", with: german, origin: .ok("a", "ETag: \"1\"", "Cache-Control: max-age=60")), .wait(60),
            .get(.validated, "a", with: german, origin: .notModified("Vary: Accept-Language")).has("vary: Accept-Language"),
            .get(.cache, "a", with: german), .get(.network, "b", with: english, origin: .ok("b")))
        CacheCase(
            "a confirmation's new Vary takes the place of the old",
            .get(.network, "a", with: german + ["X-A: 1"], origin: variant("a", "X-A", "ETag: \"1\"")), .wait(60),
            .get(.validated, "a", with: german + ["X-A: 1"], origin: .notModified("Vary: Accept-Language")),
            .get(.cache, "a", with: german + ["X-A: 2"]), .get(.network, "b", with: english + ["X-A: 1"], origin: .ok("b")))
        CacheCase(
            "a confirmation with Vary: * is the last",
            .get(.network, "a", with: german, origin: .ok("a", "ETag: \"1\"", "Cache-Control: max-age=60")), .wait(60),
            .get(.validated, "a", with: german, origin: .notModified("Vary: *")).storage(.refused(.variesByEverything)),
            .get(.network, "b", with: german, origin: .ok("b")).notSent("if-none-match"))
        CacheCase(
            "a request of another method outdates all variants", .get(.network, "a", with: german, origin: variant("a")),
            .get(.network, "b", with: english, origin: variant("b")), .ask(.put, .network, origin: .status(204)).body("x"),
            .get(.network, "c", with: german, origin: .ok("c")), .get(.network, "d", with: english, origin: .ok("d")))
        CacheCase(
            "the oldest of many variants leaves",
            steps: (0...16).map { .get(.network, "\($0)", with: ["X-A: \($0)"], origin: variant("\($0)", "X-A")) }
                + (1...16).map { .get(.cache, "\($0)", with: ["X-A: \($0)"]) }
                + [.get(.network, "new", with: ["X-A: 0"], origin: variant("new", "X-A"))])
    }
}
