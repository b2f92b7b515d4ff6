import FreshetHTTPCache
import HTTPTypes
import Testing

@Suite struct HTTPURLTests {
    @Test(arguments: [
        ("http://example.org", "http://example.org/"), ("HTTP://Example.ORG:80/A?b#c", "http://example.org/A?b"),
        ("https://example.org:443/%7Ea", "https://example.org/%7Ea"), ("https://example.org:8443?x=/", "https://example.org:8443/?x=/"),
        ("http://[::1]:8080/a/../b", "http://[::1]:8080/a/../b"), ("http://a:/b", "http://a/b"), ("http://a:0080/", "http://a/"),
        ("http://a#", "http://a/"), ("http://[::1]", "http://[::1]/"),
    ])
    func aURLHasOneSpelling(_ text: String, _ canonical: String) {
        #expect(HTTPURL(text)?.description == canonical)
    }

    @Test(arguments: [
        "", "/path", "ftp://a/", "http:", "http:/a", "http://", "http:///a", "http://a b/", "http://user@a/", "http://a:x/",
        "http://a:99999/",
        "http://ä/", "http://a/\u{0}", "mailto:a@b", "//a/b", "http://a\\b/",
    ])
    func whatIsNoHTTPURLIsNone(_ text: String) {
        #expect(HTTPURL(text) == nil)
    }

    @Test func aRequestHasAURLToo() {
        let request = HTTPRequest(method: .get, scheme: "https", authority: "A.example:443", path: "/x?y")
        #expect(HTTPURL(request)?.description == "https://a.example/x?y")
        #expect(HTTPURL(HTTPRequest(method: .get, scheme: nil, authority: "a", path: "/")) == nil)
        #expect(HTTPURL(HTTPRequest(method: .get, scheme: "http", authority: "a/b", path: "/")) == nil)
    }

    @Test(
        arguments: [
            ("x", "http://h/a/b/x"), ("./x", "http://h/a/b/x"), ("../x", "http://h/a/x"), ("../../../x", "http://h/x"),
            ("/x", "http://h/x"),
            ("//o/x", "http://o/x"), ("https://o", "https://o/"), ("?z", "http://h/a/b/c?z"), ("#f", "http://h/a/b/c?q"),
            ("", "http://h/a/b/c?q"),
            ("..", "http://h/a/"), (".", "http://h/a/b/"), ("x/./y/../z?a/../b", "http://h/a/b/x/z?a/../b"),
            ("é x", "http://h/a/b/%C3%A9%20x"),
            ("x:y", nil), ("ftp://o/", nil), ("./x:y", "http://h/a/b/x:y"), ("HTTP://O:80/..", "http://o/"),
        ] as [(String, String?)])
    func aReferenceIsResolved(_ reference: String, _ result: String?) throws {
        let base = try #require(HTTPURL("http://h/a/b/c?q"))
        #expect(base.resolving(reference)?.description == result)
    }
}
