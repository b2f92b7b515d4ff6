package import FreshetPlatform

extension RateDecision {
    /// The value of `Retry-After`: whole seconds, at least 1.
    package var retryAfter: Int64 { max(1, (wait + 999) / 1_000) }

    /// The value of `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers): `"requests";q=200;w=1`.
    package func policyField(_ name: String) -> String {
        "\"\(name)\";q=\(rate.count);w=\(max(1, rate.period / 1_000))"
    }

    /// The value of `RateLimit`: `"requests";r=0;t=1`. `t` is when the next units are available.
    package func limitField(_ name: String) -> String { "\"\(name)\";r=\(remaining);t=\(isAllowed ? 0 : retryAfter)" }
}
