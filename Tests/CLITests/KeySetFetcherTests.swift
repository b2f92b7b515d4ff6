import FreshetServer
import FreshetTestSupport
import Testing

@testable import freshet

/// Fetches of key sets over HTTP.
@Suite(.timeLimit(.minutes(5)))
struct KeySetFetcherTests {
    private func fetch(_ url: String, timeout: Duration = .seconds(10)) async throws -> Result<KeyDocument, KeyFetchFailure> {
        let fetcher = try KeySetFetcher(timeout: timeout)
        return await withCheckedContinuation { continuation in fetcher.fetch(url) { continuation.resume(returning: $0) } }
    }

    private func reason(_ result: Result<KeyDocument, KeyFetchFailure>) -> String {
        guard case .failure(let failure) = result else { return "" }
        return failure.description
    }

    @Test func aDocumentComesWithItsAge() async throws {
        let server = ScriptedServer { connection in
            guard connection.request() != nil else { return }
            connection.respond(#"{"keys":[]}"#, fields: "Cache-Control: public, Max-Age=\"900\"\r\n")
        }
        let document = try await fetch(server.url + "/jwks").get()
        #expect(document.bytes == Array(#"{"keys":[]}"#.utf8) && document.maximumAge == 900_000)
    }

    @Test func aRedirectIsNotFollowed() async throws {
        let server = ScriptedServer { connection in
            while connection.request() != nil { connection.respond("", status: "302 Found", fields: "Location: /other\r\n") }
        }
        let redirected = try await fetch(server.url + "/jwks")
        #expect(reason(redirected).contains("302") && server.connections == 1)
    }

    @Test(arguments: [true, false]) func tenMebibytesAreNotRead(_ states: Bool) async throws {
        let server = ScriptedServer { connection in
            guard connection.request() != nil else { return }
            let length = states ? "Content-Length: 10485760" : "Connection: close"
            connection.send("HTTP/1.1 200 OK\r\n\(length)\r\n\r\n")
            let piece = [UInt8](repeating: 0x20, count: 1 << 16)
            for _ in 0..<160 { guard connection.send(piece) else { return } }
        }
        #expect(reason(try await fetch(server.url + "/jwks")).contains("more than the 262144 bytes"))
    }

    @Test func aServerThatAnswersNothingOrIsNotThereFails() async throws {
        let slow = ScriptedServer { $0.waitUntilClosed() }
        #expect(reason(try await fetch(slow.url, timeout: .milliseconds(50))).contains("in time"))
        #expect(reason(try await fetch("http://127.0.0.1:1/")).contains("no connection"))
        let broken = ScriptedServer { connection in
            guard connection.request() != nil else { return }
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")
        }
        #expect(reason(try await fetch(broken.url)).contains("before the response was complete"))
    }

    @Test(
        arguments: [
            (nil, nil), ("", nil), ("max-age=60", 60_000), ("private, max-age = 60", 60_000), ("max-age", nil), ("max-age=x", nil),
            ("max-age=-5", 0), ("max-age=9223372036854775807", 31_536_000_000), ("max-age=60, no-store", 0), ("s-maxage=5", nil),
        ] as [(String?, Int64?)])
    func theAgeOfADocument(field: String?, age: Int64?) {
        #expect(KeySetFetcher.maximumAge(field) == age)
    }
}
