import FreshetHTTPCache
import HTTPTypes

/// Validation, and the effects of a 304: RFC 9111 §4.3.
extension CacheCase {
    static let validation = conditions + confirmations + heads

    private static let conditions: [CacheCase] = cases {
        CacheCase(
            "an entity tag is sent", .get(.network, "a", origin: .ok("a", "ETag: \"1\"")),
            .get(.validated, "a", origin: .notModified("ETag: \"1\"")).sent("if-none-match: \"1\"").notSent("if-modified-since").status(200)
        )
        CacheCase(
            "a weak entity tag is sent as it is", .get(.network, "a", origin: .ok("a", "ETag: W/\"1\"")),
            .get(.validated, "a", origin: .notModified("ETag: W/\"1\"")).sent("if-none-match: W/\"1\""))
        CacheCase(
            "an entity tag without quotes is sent as it is", .get(.network, "a", origin: .ok("a", "ETag: 1")),
            .get(.validated, "a", origin: .notModified("ETag: 1")).sent("if-none-match: 1"))
        CacheCase(
            "a date of modification is sent", .get(.network, "a", origin: .ok("a", "Last-Modified: @-100", "Cache-Control: max-age=0")),
            .get(.validated, "a", origin: .notModified()).sent("if-modified-since: @-100").notSent("if-none-match"))
        CacheCase(
            "a date of modification is sent in its own format",
            .get(.network, "a", origin: .ok("a", "Last-Modified: Tuesday, 30-Apr-24 00:00:00 GMT", "Cache-Control: max-age=0")),
            .get(.validated, "a", origin: .notModified()).sent("if-modified-since: Tuesday, 30-Apr-24 00:00:00 GMT"))
        CacheCase(
            "both are sent where both are there", .get(.network, "a", origin: .ok("a", "ETag: \"1\"", "Last-Modified: @0")),
            .get(.validated, "a", origin: .notModified()).sent("if-none-match: \"1\"", "if-modified-since: @0"))
        CacheCase(
            "a new version takes the place of the old", .get(.network, "a", origin: .ok("a", "ETag: \"1\"")),
            .get(.network, "b", origin: .ok("b", "ETag: \"2\"")).sent("if-none-match: \"1\"").storage(.stored),
            .get(.validated, "b", origin: .notModified()).sent("if-none-match: \"2\""))
        CacheCase(
            "a version that is gone takes the place of the old", .get(.network, "a", origin: .ok("a", "ETag: \"1\"")),
            .get(.network, "b", origin: .status(410, "b", "Cache-Control: max-age=60")), .get(.cache, "b").status(410))
        validated("no-cache", "Cache-Control: max-age=60, no-cache", "ETag: \"1\"")
        validated("no-cache in other case", "Cache-Control: max-age=60, No-Cache", "ETag: \"1\"")
        validated("no-cache with names counts for all", "Cache-Control: max-age=60, no-cache=\"Set-Cookie\"", "ETag: \"1\"")
        asked("no-cache without a validator", "Cache-Control: max-age=60, no-cache")
        validated("must-revalidate once stale", after: 60, "Cache-Control: max-age=60, must-revalidate", "ETag: \"1\"")
        validated("immutable once stale", after: 60, "Cache-Control: max-age=60, immutable", "ETag: \"1\"")
        validated("an error is validated too", after: 60, status: 404, "Cache-Control: max-age=60", "ETag: \"1\"")
        CacheCase(
            "the caller's own conditions go to the origin",
            .get(.network, "a", origin: .ok("a", "ETag: \"1\"", "Cache-Control: max-age=60")),
            .get(.network, "", with: ["If-None-Match: \"0\""], origin: .notModified()).status(304).sent("if-none-match: \"0\""),
            .get(.network, "", with: ["If-Modified-Since: @0"], origin: .notModified()).status(304).sent("if-modified-since: @0"),
            .get(.cache, "a"))
        CacheCase(
            "a whole answer to the caller's own conditions is kept",
            .get(.network, "a", with: ["If-None-Match: \"0\""], origin: .ok("a", "Cache-Control: max-age=60")).storage(.stored),
            .get(.cache, "a"))
        CacheCase(
            "a confirmation that nobody asked for is given out as it is",
            .get(.network, "", origin: .notModified("Cache-Control: max-age=60")).status(304).storage(.refused(.partial)),
            .get(.network, "b", origin: .ok("b")))
    }

    private static let confirmations: [CacheCase] = cases {
        CacheCase(
            "a confirmation makes fresh again", .get(.network, "a", origin: .ok("a", "ETag: \"1\"", "Cache-Control: max-age=60")),
            .wait(60),
            .get(.validated, "a", origin: .notModified()).storage(.freshened).age(0), .wait(59), .get(.cache, "a").age(59), .wait(1),
            .get(.validated, "a", origin: .notModified()))
        CacheCase(
            "a confirmation changes the lifetime", .get(.network, "a", origin: .ok("a", "ETag: \"1\"", "Cache-Control: max-age=1")),
            .wait(1),
            .get(.validated, "a", origin: .notModified("Cache-Control: max-age=100")).has("cache-control: max-age=100"), .wait(99),
            .get(.cache, "a"))
        CacheCase(
            "a confirmation changes Expires", .get(.network, "a", origin: .ok("a", "ETag: \"1\"", "Expires: @1")), .wait(1),
            .get(.validated, "a", origin: .notModified("Expires: @100")), .wait(98), .get(.cache, "a").has("expires: @100"), .wait(1),
            .get(.validated, "a", origin: .notModified()))
        CacheCase(
            "a confirmation's fields take the place of the old",
            .get(.network, "a", origin: .ok("a", "ETag: \"1\"", "X-A: 1", "X-A: 2", "X-B: 3")),
            .get(.validated, "a", origin: .notModified("X-A: 4", "X-C: 5", "X-C: 6", "Cache-Control: max-age=60"))
                .has("x-a: 4", "x-b: 3", "x-c: 5, 6"),
            .get(.cache, "a").has("x-a: 4", "x-b: 3", "x-c: 5, 6", "etag: \"1\""))
        CacheCase(
            "a confirmation says nothing about the content",
            .get(.network, "abc", origin: .ok("abc", "ETag: \"1\"", "Content-Encoding: identity")),
            .get(.validated, "abc", origin: .notModified("Content-Length: 77", "Content-Encoding: gzip", "Content-Range: bytes 0-1/2"))
                .has("content-length: 3", "content-encoding: identity").hasNot("content-range"))
        CacheCase(
            "a confirmation's fields of the connection are not kept", .get(.network, "a", origin: .ok("a", "ETag: \"1\"")),
            .get(.validated, "a", origin: .notModified("Connection: X-Hop", "X-Hop: 1")).hasNot("x-hop", "connection"))
        CacheCase(
            "an old Age goes with a confirmation",
            .get(.network, "a", origin: .ok("a", "ETag: \"1\"", "Cache-Control: max-age=60", "Age: 60")),
            .get(.validated, "a", origin: .notModified()).age(0), .wait(59), .get(.cache, "a").age(59))
        CacheCase(
            "a confirmation's Age counts", .get(.network, "a", origin: .ok("a", "ETag: \"1\"", "Cache-Control: max-age=60")), .wait(60),
            .get(.validated, "a", origin: .notModified("Age: 50")).age(50), .wait(10), .get(.validated, "a", origin: .notModified()))
        CacheCase(
            "a confirmation without a date is of its arrival",
            .get(.network, "a", origin: .ok("a", "ETag: \"1\"", "Cache-Control: max-age=60")), .wait(1_000),
            .get(.validated, "a", origin: .notModified().undated()).has("date: @1000"), .wait(59), .get(.cache, "a").age(59))
        CacheCase(
            "a confirmation of another version is asked again without conditions", .get(.network, "a", origin: .ok("a", "ETag: \"1\"")),
            .get(.network, "b", origin: .notModified("ETag: \"2\""), .ok("b", "ETag: \"2\"")).notSent("if-none-match"))
        CacheCase(
            "a confirmation with another date of modification is asked again without conditions",
            .get(.network, "a", origin: .ok("a", "Last-Modified: @-10", "Cache-Control: max-age=0")),
            .get(.network, "b", origin: .notModified("Last-Modified: @-5"), .ok("b", "Last-Modified: @-5", "Cache-Control: max-age=0"))
                .notSent("if-modified-since"),
            .get(.validated, "b", origin: .notModified("Last-Modified: @-5")).storage(.freshened))
        CacheCase(
            "an entity tag's bytes are sent as they came", .get(.network, "a", origin: .ok("a", "ETag: \"\u{E9}\"")),
            .get(.validated, "a", origin: .notModified("ETag: \"\u{E9}\"")).sent("if-none-match: \"\u{E9}\""))
        CacheCase(
            "entity tags that differ in a byte that is no UTF-8 name two versions",
            .get(.network, "a", origin: .ok("a", "ETag: \"\u{E9}\"")),
            .get(.network, "b", origin: .notModified("ETag: \"\u{E8}\""), .ok("b")).notSent("if-none-match"))
        CacheCase(
            "a strong tag confirms a weak one and changes no field",
            .get(.network, "a", origin: .ok("a", "ETag: W/\"1\"", "Cache-Control: max-age=60")), .wait(60),
            .get(.validated, "a", origin: .notModified("ETag: \"1\"", "X-A: 1")).storage(.untouched).has("etag: W/\"1\"").hasNot("x-a"),
            .get(.validated, "a", origin: .notModified("ETag: W/\"1\"")).storage(.freshened), .get(.cache, "a"))
        CacheCase(
            "a weak mark makes no other version", .get(.network, "a", origin: .ok("a", "ETag: \"1\"")),
            .get(.validated, "a", origin: .notModified("ETag: W/\"1\"")))
        CacheCase(
            "a confirmation with no-store is the last", .get(.network, "a", origin: .ok("a", "ETag: \"1\"", "Cache-Control: max-age=1")),
            .wait(1),
            .get(.validated, "a", origin: .notModified("Cache-Control: no-store")).storage(.refused(.noStore)),
            .get(.network, "b", origin: .ok("b")).notSent("if-none-match"))
        CacheCase(
            "an error in place of a confirmation leaves the stored response", .get(.network, "a", origin: .ok("a", "ETag: \"1\"")),
            .get(.network, "b", origin: .status(500, "b")).status(500),
            .get(.validated, "a", origin: .notModified()).sent("if-none-match: \"1\""))
    }

    private static let heads: [CacheCase] = cases {
        CacheCase(
            "HEAD is served from what GET brought", .get(.network, "a", origin: .ok("a", "Cache-Control: max-age=60", "X-A: 1")), .wait(5),
            .ask(.head, .cache, "").has("x-a: 1").age(5))
        CacheCase(
            "HEAD confirms what GET brought", .get(.network, "a", origin: .ok("a", "ETag: \"1\"", "Cache-Control: max-age=60")), .wait(60),
            .ask(.head, .validated, "", origin: .notModified()).sent("if-none-match: \"1\""), .get(.cache, "a"))
        CacheCase(
            "HEAD of the same version freshens",
            .get(.network, "a", origin: .ok("a", "Last-Modified: @-10", "Cache-Control: max-age=60")), .wait(60),
            .ask(.head, .network, "", origin: .ok("a", "Last-Modified: @-10", "Cache-Control: max-age=60", "X-A: 1")).storage(.freshened),
            .wait(59),
            .get(.cache, "a").has("x-a: 1"))
        CacheCase(
            "HEAD with no-store changes nothing", .get(.network, "a", origin: .ok("a", "ETag: \"1\"", "Cache-Control: max-age=60")),
            .wait(60),
            .ask(.head, .network, "", origin: .ok("a", "ETag: \"1\"", "Cache-Control: no-store, max-age=60", "X-A: 1"))
                .storage(.refused(.noStore)),
            .get(.validated, "a", origin: .notModified()).sent("if-none-match: \"1\"").hasNot("x-a"))
        CacheCase(
            "HEAD of another version removes", .get(.network, "a", origin: .ok("a", "ETag: \"1\"", "Cache-Control: max-age=60")), .wait(60),
            .ask(.head, .network, "", origin: .ok("a", "ETag: \"2\"")), .get(.network, "b", origin: .ok("b")).notSent("if-none-match"))
        CacheCase(
            "HEAD of another length removes", .get(.network, "a", origin: .ok("a", "Cache-Control: max-age=60")), .wait(60),
            .ask(.head, .network, "", origin: .ok("abc")), .get(.network, "b", origin: .ok("b")))
    }
}
