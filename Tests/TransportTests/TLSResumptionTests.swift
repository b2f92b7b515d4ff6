import FreshetPlatform
import FreshetTestSupport
import FreshetTransport
import HTTPTypes
import Subprocess
import Testing

/// TLS sessions of the transport: a new connection to a known host takes no whole handshake.
@Suite(
    .timeLimit(.minutes(5)),
    .enabled(if: TestAuthority.isAvailable, "the program openssl, which is the server, is not in the PATH"))
struct TLSResumptionTests {
    @Test func aSecondConnectionResumesTheSessionOfTheFirst() async throws {
        // Given a server that closes each connection after a page, which says whether its session was resumed
        let authority = try await TestAuthority()
        let identity = try await authority.issue("server")
        let options = ["s_server", "-accept", "127.0.0.1:0", "-cert", identity.chain, "-key", identity.key, "-www"]
        let ending = try await run(
            .name("openssl"), arguments: Arguments(options), input: .none, output: .sequence, error: .discarded
        ) { execution -> [String] in
            var pages: [String] = []
            for try await line in execution.standardOutput.strings() {
                guard let port = line.split(separator: ":").last.flatMap({ Int($0) }), line.hasPrefix("ACCEPT") else { continue }
                // When one transport sends three requests, and another one a fourth
                let (first, second) = (try transport(authority), try transport(authority))
                for transport in [first, first, first, second] { pages.append(try await page(of: port, transport)) }
                try execution.send(signal: .kill)
            }
            return pages
        }
        // Then each transport's first session is new, and the others are resumed
        let states = ending.closureResult.map { $0.contains("Reused, TLSv1.3") ? "resumed" : $0.contains("New, TLSv1.3") ? "new" : $0 }
        #expect(states == ["new", "resumed", "resumed", "new"])
    }

    private func transport(_ authority: TestAuthority) throws -> CurlTransport {
        var configuration = CurlTransport.Configuration()
        configuration.tls.authority = try AbsolutePath(authority.certificate)
        return try CurlTransport(configuration)
    }

    private func page(of port: Int, _ transport: CurlTransport) async throws -> String {
        let reply = try await within {
            await withCheckedContinuation { continuation in
                transport.send(HTTPRequestDescription(method: .get, url: "https://127.0.0.1:\(port)/")) {
                    continuation.resume(returning: $0)
                }
            }
        }
        return String(decoding: try reply.get().body, as: UTF8.self)
    }
}
