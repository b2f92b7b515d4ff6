import FreshetTransport
import Testing

/// Where a secret may go, decided by the URL as libcurl reads it.
struct RequestTargetTests {
    @Test(arguments: [
        "http://127.0.0.1", "http://127.0.0.1:8180/v1", "http://127.255.0.9", "http://127.1", "http://0x7f000001", "http://[::1]:8180",
        "http://[0:0:0:0:0:0:0:1]", "http://localhost", "http://LOCALHOST:80", "HTTP://a.LocalHost", "http://%6cocalhost",
        "http://user:pass@localhost", "http://evil.com@127.0.0.1", "http://localhost#@evil.com",
    ])
    func whatStaysOnThisMachineIsProtected(url: String) throws {
        #expect(try #require(RequestTarget(url)).isProtected)
    }

    @Test(arguments: [
        "https://example.org", "HTTPS://10.0.0.1:8443", "https://localhost.evil.com", "https://127.0.0.1@evil.com",
    ])
    func whatIsEncryptedIsProtected(url: String) throws {
        #expect(try #require(RequestTarget(url)).isProtected)
    }

    @Test(arguments: [
        "http://localhost.evil.com", "http://127.0.0.1.evil.com", "http://localhost@evil.com", "http://localhost:80@evil.com",
        "http://127.0.0.1%2eevil.com", "http://evil.com?@localhost", "http://evil.com#@localhost", "http://evil.com/@localhost",
        // Names that end with a dot are asked of the system, so they may be anything; this one is no address either.
        "http://localhost.", "http://127.0.0.1.", "http://evillocalhost", "http://10.127.0.1", "http://128.0.0.1", "http://0.0.0.0",
        "http://[::2]", "http://[::ffff:10.0.0.1]", "http://[::ffff:127.0.0.1]", "http://[::127.0.0.1]", "http://192.168.1.7:8180",
    ])
    func theRestIsNot(url: String) throws {
        #expect(try !#require(RequestTarget(url)).isProtected)
    }

    @Test(arguments: [
        ("http://ann:secret@example.org", "example.org", true), ("http://ann@example.org", "example.org", true),
        ("http://:secret@example.org", "example.org", true), ("http://example.org/@", "example.org", false),
        ("https://[::1]:7/", "[::1]", false), ("http://2130706433", "127.0.0.1", false),
    ])
    func theHostIsTheOneThatLibcurlConnectsTo(url: String, host: String, hasUser: Bool) throws {
        let target = try #require(RequestTarget(url))
        #expect(target.host == host && target.hasUser == hasUser)
    }

    @Test(arguments: [
        "", "ftp://localhost", "http://", "http://a@b@localhost", "http://a b", "http://127.0.0.1:80:80", "file:///etc/passwd",
    ])
    func whatLibcurlDoesNotSendHasNoTarget(url: String) {
        #expect(RequestTarget(url) == nil)
    }
}
