import FreshetHTTPCache
import HTTPTypes

/// The directives of requests: RFC 9111 §5.2.1.
extension CacheCase {
    private static func withStored(
        _ name: String, after seconds: Int, _ request: String, _ step: CacheStep, more: String = "", lines: [String] = ["ETag: \"1\""]
    ) -> CacheCase {
        var step = step
        step.lines = [request]
        let stored = OriginAnswer.ok("a").lines(["Cache-Control: max-age=60" + more] + lines)
        return CacheCase(name, .get(.network, "a", origin: stored), .wait(seconds), step)
    }

    private static var hit: CacheStep { .get(.cache, "a") }
    private static var confirmed: CacheStep { .get(.validated, "a", origin: .notModified()) }
    private static var nothing: CacheStep { .get(.none, "").status(504) }

    static let requests: [CacheCase] = cases {
        withStored("a request's max-age of zero", after: 1, "Cache-Control: max-age=0", confirmed)
        withStored("a request's max-age that is old enough", after: 10, "Cache-Control: max-age=10", hit)
        withStored("a request's max-age that is exceeded", after: 11, "Cache-Control: max-age=10", confirmed)
        withStored(
            "a request's max-age counts Age too", after: 5, "Cache-Control: max-age=10", confirmed, lines: ["ETag: \"1\"", "Age: 6"])
        withStored("a request's max-age that is no number", after: 1, "Cache-Control: max-age=x", confirmed)
        withStored("a request's max-age does not make stale fresh", after: 60, "Cache-Control: max-age=100", confirmed)
        withStored("a reload of an immutable response", after: 59, "Cache-Control: max-age=0", hit, more: ", immutable")
        withStored("a reload of a stale immutable response", after: 60, "Cache-Control: max-age=0", confirmed, more: ", immutable")
        withStored("a hard reload of an immutable response", after: 1, "Cache-Control: no-cache", confirmed, more: ", immutable")
        withStored("a request's no-cache", after: 1, "Cache-Control: no-cache", confirmed)
        withStored(
            "a request's no-cache without a validator", after: 1, "Cache-Control: no-cache", .get(.network, "b", origin: .ok("b")),
            lines: [])
        withStored("a request's Pragma", after: 1, "Pragma: no-cache", confirmed)
        withStored("a request's Pragma in other case", after: 1, "PRAGMA: No-Cache", confirmed)
        withStored("another Pragma", after: 1, "Pragma: x", hit)
        CacheCase(
            "Pragma is not heeded beside Cache-Control", .get(.network, "a", origin: .ok("a", "Cache-Control: max-age=60")),
            .get(.cache, "a", with: ["Pragma: no-cache", "Cache-Control: max-age=60"]))
        withStored("a request's no-store is served from a stored response", after: 1, "Cache-Control: no-store", hit)
        withStored("min-fresh that is met", after: 30, "Cache-Control: min-fresh=30", hit)
        withStored("min-fresh that is not met", after: 31, "Cache-Control: min-fresh=30", confirmed)
        withStored("min-fresh that is no number", after: 1, "Cache-Control: min-fresh=x", confirmed)
        withStored("min-fresh counts Age too", after: 25, "Cache-Control: min-fresh=30", confirmed, lines: ["ETag: \"1\"", "Age: 6"])
        withStored("max-stale without a number", after: 6_000, "Cache-Control: max-stale", hit.stale())
        withStored("max-stale that suffices", after: 70, "Cache-Control: max-stale=10", hit.stale().age(70))
        withStored("max-stale that does not suffice", after: 71, "Cache-Control: max-stale=10", confirmed)
        withStored("max-stale that is no number", after: 61, "Cache-Control: max-stale=x", confirmed)
        withStored("max-stale of a fresh response", after: 1, "Cache-Control: max-stale=10", hit.stale(false))
        withStored("max-stale and must-revalidate", after: 61, "Cache-Control: max-stale", confirmed, more: ", must-revalidate")
        withStored("max-stale and no-cache", after: 1, "Cache-Control: max-stale", confirmed, more: ", no-cache")
        withStored("max-stale and max-age of the request", after: 70, "Cache-Control: max-stale, max-age=65", confirmed)
        withStored("only-if-cached of a fresh response", after: 1, "Cache-Control: only-if-cached", hit)
        withStored("only-if-cached of a stale response", after: 60, "Cache-Control: only-if-cached", nothing)
        withStored("only-if-cached with max-stale of a stale response", after: 60, "Cache-Control: only-if-cached, max-stale", hit.stale())
        withStored("only-if-cached and no-cache", after: 1, "Cache-Control: only-if-cached, no-cache", nothing)
        withStored(
            "only-if-cached asks nobody in the background", after: 60, "Cache-Control: only-if-cached", hit.stale(),
            more: ", stale-while-revalidate=60")
        CacheCase("only-if-cached of nothing", .get(.none, "", with: ["Cache-Control: only-if-cached"]).status(504))
        CacheCase("only-if-cached of a part", .get(.none, "", with: ["Cache-Control: only-if-cached", "Range: bytes=0-1"]).status(504))
        withStored("a request's unknown directive", after: 1, "Cache-Control: x=1", hit)
        CacheCase(
            "a request without a stored response sends no conditions", .get(.network, "a", origin: .ok("a")),
            .get(.network, "b", origin: .ok("b")).notSent("if-none-match", "if-modified-since", "cache-control"))
        CacheCase(
            "a HEAD with content is an error",
            CacheStep.failing { if case .invalidRequest(_) = $0 { true } else { false } }.method(.head).body("x"))
        CacheCase(
            "a Host other than the URL's is an error",
            .failing(with: ["Host: example.org"]) { if case .invalidRequest(_) = $0 { true } else { false } })
        CacheCase(
            "a request's directives go to the origin too",
            .get(.network, "a", with: ["Cache-Control: no-cache"], origin: .ok("a")).sent("cache-control: no-cache"))
    }
}

/// The four overrides.
extension CacheCase {
    private static var stored: CacheStep { .get(.network, "a", origin: .ok("a", "Cache-Control: max-age=60", "ETag: \"1\"")) }

    static let modes: [CacheCase] = cases {
        CacheCase("cacheElseLoad gives a fresh response", stored, .get(.cache, "a").mode(.cacheElseLoad).stale(false))
        CacheCase("cacheElseLoad gives a stale response", stored, .wait(600), .get(.cache, "a").mode(.cacheElseLoad).stale().age(600))
        CacheCase(
            "cacheElseLoad gives a response with no-cache", .get(.network, "a", origin: .ok("a", "Cache-Control: no-cache")),
            .get(.cache, "a").mode(.cacheElseLoad))
        CacheCase(
            "cacheElseLoad asks where nothing is, and keeps it",
            .get(.network, "a", origin: .ok("a", "Cache-Control: max-age=60")).mode(.cacheElseLoad),
            .get(.cache, "a"))
        CacheCase(
            "cacheElseLoad asks where another variant is",
            .get(.network, "a", with: ["Accept-Language: de"], origin: .ok("a", "Cache-Control: max-age=60", "Vary: Accept-Language")),
            .get(.network, "b", with: ["Accept-Language: en"], origin: .ok("b")).mode(.cacheElseLoad))
        CacheCase(
            "cacheElseLoad and only-if-cached", .get(.none, "", with: ["Cache-Control: only-if-cached"]).mode(.cacheElseLoad).status(504))
        CacheCase("cacheOnly gives a stale response", stored, .wait(600), .get(.cache, "a").mode(.cacheOnly).stale())
        CacheCase(
            "cacheOnly of nothing is an error", CacheStep.failing { if case .notCached(_) = $0 { true } else { false } }.mode(.cacheOnly))
        CacheCase(
            "cacheOnly of a method that is not kept",
            CacheStep.failing { if case .notCached(_) = $0 { true } else { false } }.method(.post).mode(.cacheOnly),
            stored)
        CacheCase(
            "reload asks without conditions and stores the response", stored,
            .get(.network, "b", origin: .ok("b", "Cache-Control: max-age=60")).mode(.reload).notSent("if-none-match"), .get(.cache, "b"))
        CacheCase(
            "reload that fails leaves the stored response", stored,
            .get(.network, "b", origin: .status(500, "b")).mode(.reload), .get(.cache, "a"))
    }
}
