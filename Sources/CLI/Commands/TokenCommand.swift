import ArgumentParser
import FreshetServer
import FreshetTransport
import FreshetTrust

/// `freshet token …`: the tokens of identity providers.
struct TokenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token", abstract: "Show what a key or token states, and why a server refuses it.",
        discussion: """
            EXAMPLES
              freshet token inspect till.token --config freshet.json
            """,
        subcommands: [TokenInspect.self])
}

struct TokenInspect: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect", abstract: "Show what a key or token states, and verify it by a server's configuration.",
        discussion: """
            Nothing is sent to a server: the keys of the token's issuer come from the file or URL that the configuration names.
            The exit status is 0 if the token is valid and allows something, and 77 with the reason if not. Whether a token was
            revoked, and the rights of a key, only the server knows: 'freshet status' and 'freshet rights' ask it.

            EXAMPLES
              freshet token inspect till.token
              freshet token inspect till.token --config /etc/freshet/freshet.json
              freshet token inspect - --config freshet.json < till.token
            """)

    @Argument(help: "A file with the token; - is standard input.", completion: .file()) var file = "-"
    @Option(
        help: ArgumentHelp("The configuration of the server that the token is for; without it nothing is verified.", valueName: "file"),
        completion: .file(extensions: ["json"]))
    var config: String?

    func run() async throws {
        try CommandFailure.checkCryptography()
        let token = Array(try BearerToken(file: file).text.utf8)
        guard !AccessKey.isKey(token) else { return try Self.show(key: token) }
        let report: TokenReport
        do throws(TokenRefusal) { report = TokenReport(contents: try TokenContents(token)) } catch {
            throw CommandFailure(.noPermission, error.description)
        }
        Self.show(report.lines)
        guard let config else { return Self.show([("valid", "not verified: name the server's file with --config")]) }
        let file = try ConfigurationFile(path: config)
        let configuration = try file.configuration()
        var keys: KeySet?
        do {
            let verifier = configuration.verifier
            let unverified = try verifier.read(token)
            let found = try await Self.keys(file.keys(of: configuration.issuers[unverified.issuer]))
            keys = found
            let verified = try verifier.verify(unverified, by: found, at: ServerEnvironment.system.wallMilliseconds())
            Self.show(TokenReport.lines(of: verified))
            guard !verified.rights.grants.isEmpty else { throw CommandFailure(.noPermission, TokenReport.noRights) }
        } catch let refusal as TokenRefusal {
            Self.show([("valid", "no")])
            throw CommandFailure(.noPermission, report.reason(refusal, configuration, keys))
        }
    }

    private static func show(key: [UInt8]) throws(CommandFailure) {
        do throws(AccessKeyError) {
            let key = try AccessKey(key)
            show([
                ("key", key.id.text), ("check", "right"), ("rights", "those that the server has for it: freshet status"),
            ])
        } catch { throw CommandFailure(.noPermission, error.description) }
    }

    private static func show(_ lines: [(name: String, value: String)]) {
        for (name, value) in lines {
            StandardStream.output.printLine(
                name + String(repeating: " ", count: max(1, 12 - name.count)) + StandardStream.output.visible(value))
        }
    }

    /// The keys of a source; those of a URL are fetched.
    private static func keys(_ source: AccessPolicy.KeySource) async throws(CommandFailure) -> KeySet {
        let url: String
        switch source {
        case .fixed(let keys): return keys
        case .url(let text): url = text
        }
        let fetcher: KeySetFetcher
        do throws(TransportError) { fetcher = try KeySetFetcher() } catch { throw CommandFailure(.software, error.description) }
        let result = await withCheckedContinuation { continuation in fetcher.fetch(url) { continuation.resume(returning: $0) } }
        switch result {
        case .failure(let failure): throw CommandFailure(.unavailable, "\(url): \(failure.description)")
        case .success(let document):
            do throws(TrustError) { return try KeySet(jwks: document.bytes, allowsSecrets: false) } catch {
                throw CommandFailure(.data, "\(url): \(error.description)")
            }
        }
    }
}
