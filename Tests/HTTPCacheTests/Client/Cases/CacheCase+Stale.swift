import FreshetHTTPCache
import HTTPTypes

/// Stale answers that are granted: RFC 5861.
extension CacheCase {
    static let stale = whileRevalidating + ifError

    private static func kept(_ control: String) -> CacheStep {
        .get(.network, "a", origin: .ok("a", "Cache-Control: max-age=60\(control)", "ETag: \"1\""))
    }

    private static let whileRevalidating: [CacheCase] = cases {
        CacheCase(
            "stale-while-revalidate gives at once and confirms", kept(", stale-while-revalidate=30"), .wait(70),
            .get(.cache, "a", origin: .notModified()).stale().age(70).sent("if-none-match: \"1\""), .get(.cache, "a").stale(false).age(0))
        CacheCase(
            "stale-while-revalidate gives at once and fetches", kept(", stale-while-revalidate=30"), .wait(89),
            .get(.cache, "a", origin: .ok("b", "Cache-Control: max-age=60")).stale(), .get(.cache, "b").stale(false))
        CacheCase(
            "stale-while-revalidate without a validator",
            .get(.network, "a", origin: .ok("a", "Cache-Control: max-age=60, stale-while-revalidate=30")), .wait(60),
            .get(.cache, "a", origin: .ok("b", "Cache-Control: max-age=60")).stale(), .get(.cache, "b"))
        CacheCase(
            "stale-while-revalidate is over", kept(", stale-while-revalidate=30"), .wait(90), .get(.validated, "a", origin: .notModified()))
        CacheCase(
            "stale-while-revalidate of a fresh response", kept(", stale-while-revalidate=30"), .wait(59), .get(.cache, "a").stale(false))
        CacheCase(
            "stale-while-revalidate and must-revalidate", kept(", stale-while-revalidate=30, must-revalidate"), .wait(60),
            .get(.validated, "a", origin: .notModified()))
        CacheCase(
            "stale-while-revalidate and no-cache", kept(", stale-while-revalidate=30, no-cache"),
            .get(.validated, "a", origin: .notModified()))
        CacheCase(
            "stale-while-revalidate that is no number", kept(", stale-while-revalidate=x"), .wait(60),
            .get(.validated, "a", origin: .notModified()))
        CacheCase(
            "stale-while-revalidate and a request's max-age", kept(", stale-while-revalidate=30"), .wait(60),
            .get(.validated, "a", with: ["Cache-Control: max-age=100"], origin: .notModified()))
        CacheCase(
            "stale-while-revalidate whose request fails", kept(", stale-while-revalidate=30"), .wait(60),
            .get(.cache, "a", origin: .reset).stale(),
            .get(.cache, "a", origin: .status(500, "x")).stale(), .get(.cache, "a", origin: .notModified()).stale(),
            .get(.cache, "a").stale(false))
    }

    private static let ifError: [CacheCase] = cases {
        for status in [500, 502, 503, 504] {
            CacheCase(
                "stale-if-error and \(status)", kept(", stale-if-error=30"), .wait(90),
                .get(.cache, "a", origin: .status(status, "b")).stale().status(200).age(90))
        }
        CacheCase(
            "stale-if-error and a reset", kept(", stale-if-error=30"), .wait(60), .get(.cache, "a", origin: .reset).stale())
        CacheCase(
            "stale-if-error and content that was cut", kept(", stale-if-error=30"), .wait(60),
            .get(.cache, "a", origin: .ok("0123456789").ending(.truncated)).stale())
        CacheCase(
            "stale-if-error is over", kept(", stale-if-error=30"), .wait(91), .get(.network, "b", origin: .status(503, "b")).status(503))
        CacheCase(
            "stale-if-error is about no other status", kept(", stale-if-error=30"), .wait(60),
            .get(.network, "b", origin: .status(501, "b")).status(501))
        CacheCase(
            "stale-if-error does not cover a 404", kept(", stale-if-error=30"), .wait(60),
            .get(.network, "b", origin: .status(404, "b")).status(404))
        CacheCase(
            "stale-if-error and must-revalidate", kept(", stale-if-error=30, must-revalidate"), .wait(60),
            .get(.network, "b", origin: .status(503, "b")).status(503))
        CacheCase(
            "stale-if-error and no-cache", kept(", stale-if-error=30, no-cache"), .get(.network, "b", origin: .status(503, "b")).status(503)
        )
        CacheCase(
            "stale-if-error of the request", kept(""), .wait(90),
            .get(.cache, "a", with: ["Cache-Control: stale-if-error=30"], origin: .status(503, "b")).stale())
        CacheCase(
            "stale-if-error of the request is stricter", kept(", stale-if-error=30"), .wait(90),
            .get(.network, "b", with: ["Cache-Control: stale-if-error=10"], origin: .status(503, "b")).status(503))
        CacheCase(
            "stale-if-error and a request that insists", kept(", stale-if-error=30"), .wait(60),
            .get(.network, "b", with: ["Cache-Control: no-cache"], origin: .status(503, "b")).status(503))
        CacheCase(
            "stale-if-error and a range", kept(", stale-if-error=30"), .wait(60),
            .get(.network, "b", with: ["Range: bytes=0-0"], origin: .status(503, "b")).status(503),
            .failing(with: ["If-Match: \"2\""], origin: .reset) { if case .connectionLost(_) = $0 { true } else { false } })
        CacheCase(
            "stale-if-error and a reload", kept(", stale-if-error=30"),
            .get(.network, "b", origin: .status(503, "b")).mode(.reload).status(503),
            CacheStep.failing(origin: .reset) { if case .connectionLost(_) = $0 { true } else { false } }.mode(.reload),
            .get(.cache, "a"))
        CacheCase(
            "stale-if-error of a response that is fresh but too old for the request", kept(", stale-if-error=30"), .wait(30),
            .get(.cache, "a", with: ["Cache-Control: max-age=10"], origin: .status(503, "b")).stale())
        CacheCase(
            "stale-if-error of a HEAD", kept(", stale-if-error=30"), .wait(60),
            .ask(.head, .cache, "", origin: .status(503, "b")).stale().status(200))
        CacheCase(
            "a failure without a grant is the answer", kept(""), .wait(60), .get(.network, "b", origin: .status(503, "b")).status(503),
            .get(.validated, "a", origin: .notModified()))
        CacheCase(
            "a reset without a grant is an error", kept(""), .wait(60),
            .failing(origin: .reset) { if case .connectionLost(_) = $0 { true } else { false } },
            .get(.validated, "a", origin: .notModified()))
        CacheCase(
            "a reset of an unstored URL is an error", .failing(origin: .reset) { if case .connectionLost(_) = $0 { true } else { false } })
    }
}
