import Figures
import Foundation

/// One change delivered to many waiting clients, each with a separate credential, beside a server that takes the same
/// requests and checks nothing.
struct TokenComparison {
    private enum Credentials: CaseIterable {
        /// Keys with equal rights.
        case keys
        /// Keys of 100 different rights, all of which include the changes.
        case classes
        /// JSON Web Tokens with equal rights.
        case tokens

        var name: String {
            switch self {
            case .keys: "keys"
            case .classes: "classes"
            case .tokens: "jwt"
            }
        }
    }

    let environment: BenchmarkEnvironment

    private static let namespace = "tokens"
    /// The issuer and the secret of the tokens, as `tokens.py` has them.
    private static let issuer = "https://id.example.org"
    private static let secret = "a secret of at least thirty-two bytes, of no server's"

    func measure() throws {
        for waiting in environment.isQuick ? [1_000] : [1_000, 9_000] {
            for kind in Credentials.allCases {
                var (ours, open): ([Double], [Double]) = ([], [])
                for round in 0..<environment.rounds {
                    let data = "tokens-\(waiting)-\(kind.name)-\(round)"
                    let operatorKey = try makeOperatorKey(data)
                    let server = try environment.freshet(data, options: try options(kind))
                    defer { server.stop() }
                    let credentials = try makeCredentials(kind, waiting, server, operatorKey)
                    ours.append(try load(server, credentials, operatorKey))
                    let peer = try environment.freshFreshet("open")
                    defer { peer.stop() }
                    open.append(try load(peer, credentials, operatorKey))
                }
                environment.report(Figure("tokens-\(waiting)-\(kind.name)-cpu-us-vs-open", ours: ours, peer: open))
            }
        }
    }

    /// Microseconds of the server's processor time for each delivery and the poll that follows it.
    private func load(_ server: RunningServer, _ credentials: [String], _ operatorKey: String) throws -> Double {
        var clients = try LoadClients(
            port: server.port, namespace: Self.namespace, waiting: credentials.count,
            fields: { "User-Agent: device-\($0)\r\n\(Self.field(credentials[$0]))" }, publisherFields: Self.field(operatorKey))
        defer { clients.leave() }
        let before = server.figures.processorTime
        let report = try clients.run(port: server.port, seconds: environment.seconds(6), interval: .zero)
        guard report.missed == 0, clients.disordered == 0 else {
            throw BenchError.noFigure("tokens", "\(report.missed) changes were missed")
        }
        return (server.figures.processorTime - before) * 1e6 / Double(max(1, report.latencies.count))
    }

    private static func field(_ credential: String) -> String { "Authorization: Bearer \(credential)\r\n" }

    // MARK: Credentials

    /// Makes the folder of a server, and its first key.
    private func makeOperatorKey(_ data: String) throws -> String {
        let text = try environment.output(
            of: [environment.program, "key", "create", "--data", "\(environment.folder)/\(data)", "--name", "operator", "--admin"])
        return try key(in: text)
    }

    private func key(in text: String) throws -> String {
        let words = text.split { !($0.isLetter || $0.isNumber || $0 == "_") }
        guard let key = words.first(where: { $0.hasPrefix("fk_") }) else { throw BenchError.noFigure("a key", text) }
        return String(key)
    }

    private func makeCredentials(_ kind: Credentials, _ count: Int, _ server: RunningServer, _ operatorKey: String) throws -> [String] {
        if case .tokens = kind { return try tokens(count) }
        var connection = try Connection(port: server.port)
        return try (0..<count).map { number in
            let others = kind == .classes ? ",\"other-\(number % 100)\"" : ""
            let grant = #"{"ns":"\#(Self.namespace)","in":["w"\#(others)],"may":["read"]}"#
            let body = #"{"name":"device-\#(number)","allow":[\#(grant)]}"#
            return try key(in: connection.ask(HTTPRequest.post("/admin/keys", Array(body.utf8), fields: Self.field(operatorKey))))
        }
    }

    private func options(_ kind: Credentials) throws -> [String] {
        guard case .tokens = kind else { return ["--port", "0", "--require-keys"] }
        _ = try environment.file("issuer.secret", Self.secret)
        let configuration = """
            {"listen": [{"address": "127.0.0.1:0"}],
             "issuers": [{"issuer": "\(Self.issuer)", "audience": "freshet", "longest": "24h",
                          "keys": {"secret": "\(environment.folder)/issuer.secret", "algorithms": ["HS256"]}}],
             "roles": {"device": [{"ns": "\(Self.namespace)", "in": ["w"], "may": ["read"]}]}}
            """
        return ["--config", try environment.file("tokens.json", configuration)]
    }

    /// Tokens of about 700 bytes, by the program that the attacks use too.
    private func tokens(_ count: Int) throws -> [String] {
        let program = URL(filePath: #filePath).appending(path: "../../../../Attacks/tokens.py").standardizedFileURL.path()
        let text = try environment.output(of: ["python3", program, "\(count)", "330"])
        let tokens = text.split(separator: "\n").map(String.init)
        guard tokens.count == count else { throw BenchError.noFigure("tokens", text) }
        return tokens
    }
}
