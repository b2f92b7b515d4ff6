import ArgumentParser
import FreshetClient
import FreshetPlatform
import FreshetTransport
import FreshetWire

/// Which server and namespace a command speaks to.
struct RemoteOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The server. (default: $FRESHET_SERVER or \(defaultServer))", valueName: "url"))
    var server: String?

    @Option(help: ArgumentHelp("The namespace. (default: $FRESHET_NAMESPACE or \(defaultNamespace))", valueName: "name"))
    var namespace: String?

    @Option(
        help: ArgumentHelp(
            "The bearer token. Other users of this machine see it among the arguments: prefer --token-file. (default: $FRESHET_TOKEN or none)",
            valueName: "token"))
    var token: String?

    @Option(
        help: ArgumentHelp(
            "A file with the bearer token; - is standard input. It is read again when the server refuses the token. (default: $FRESHET_TOKEN_FILE or none)",
            valueName: "path"),
        completion: .file())
    var tokenFile: String?

    @Flag(
        help: """
            Send the token over http:// to another machine, where everyone on the network path can read it. \
            (default: $FRESHET_ALLOW_INSECURE_TOKEN, 0 or 1)
            """)
    var allowInsecureToken = false

    @Option(
        help: ArgumentHelp(
            "A file with the certificates that sign the server's, in place of the system's. (default: $FRESHET_CA or none)",
            valueName: "path"),
        completion: .file())
    var ca: String?

    @Option(
        help: ArgumentHelp(
            "A file with this client's certificate, followed by those that signed it. (default: $FRESHET_CLIENT_CERTIFICATE or none)",
            valueName: "path"),
        completion: .file())
    var clientCertificate: String?

    @Option(
        help: ArgumentHelp(
            "A file with the private key of --client-certificate, without a passphrase. (default: $FRESHET_CLIENT_KEY)", valueName: "path"),
        completion: .file())
    var clientKey: String?

    @Option(
        help: ArgumentHelp(
            "The admin socket of a server on this machine, in place of --server: as the operator, without a token.", valueName: "path"),
        completion: .file())
    var adminSocket: String?

    static let defaultServer = "http://127.0.0.1:\(Serve.defaultPort)"
    static let defaultNamespace = "default"

    func validate() throws {
        guard token == nil || tokenFile == nil else { throw ValidationError("one of these: --token, --token-file") }
        guard adminSocket == nil || !namesServer else {
            throw ValidationError(
                "--admin-socket goes without --server, --ca, --client-certificate, --client-key, --token and --token-file")
        }
    }

    /// Whether an option says which server is meant, or as whom.
    private var namesServer: Bool {
        server != nil || ca != nil || clientCertificate != nil || clientKey != nil || token != nil || tokenFile != nil
    }

    /// As ``remote(environment:)``, for commands of operators: by the admin socket of `$FRESHET_ADMIN_SOCKET`, unless an option
    /// names a server or a token.
    func operatorRemote(environment: Environment = .current) throws -> Remote {
        var options = self
        if options.adminSocket == nil, !namesServer, let path = environment.value(of: "FRESHET_ADMIN_SOCKET") {
            options.adminSocket = path
        }
        return try options.remote(environment: environment)
    }

    /// Resolves the server and namespace: from the options, else the environment, else the defaults. An empty variable counts as unset.
    func remote(environment: Environment = .current) throws -> Remote {
        let name = namespace ?? environment.value(of: "FRESHET_NAMESPACE") ?? Self.defaultNamespace
        if let adminSocket {
            do { return try Remote(adminSocket: adminSocket, namespace: Namespace(name)) } catch let error as WireError {
                throw CommandFailure(.usage, error.description)
            }
        }
        let server = server ?? environment.value(of: "FRESHET_SERVER") ?? Self.defaultServer
        let shown = RequestTarget.hidingUser(of: server)
        guard server.hasPrefix("http://") || server.hasPrefix("https://"), let target = RequestTarget(server) else {
            throw CommandFailure(
                .usage, "'\(shown)' is no server's URL: it takes http://HOST:PORT or https://HOST:PORT")
        }
        if let mark = server.first(where: { $0 == "?" || $0 == "#" }) {
            throw CommandFailure(
                .usage, "'\(shown)' is no server's URL: leave out the '\(mark)' and what follows")
        }
        if let root = RequestTarget.root(of: server) {
            throw CommandFailure(
                .usage,
                "'\(shown)' names a path of the protocol: leave out '/v1' and what follows, and give '\(RequestTarget.hidingUser(of: root))'"
            )
        }
        let isInsecureAllowed = try isInsecureTokenAllowed(environment)
        // Before the file is read, which may take a token out of a pipe.
        if !target.isProtected, !isInsecureAllowed {
            if target.hasUser { throw Self.insecure("the password in the URL", target) }
            if try isTokenGiven(environment) { throw Self.insecure("the token", target) }
        }
        let ofTLS = [("--ca", ca), ("--client-certificate", clientCertificate), ("--client-key", clientKey)]
        if let option = ofTLS.first(where: { $0.1 != nil })?.0, !server.hasPrefix("https://") {
            throw CommandFailure(
                .usage, "\(option) is for https://, and '\(shown)' is not encrypted: give https://, or leave out \(option)")
        }
        var tls = TLSTrust()
        if let path = ca ?? environment.value(of: "FRESHET_CA") { tls.authority = try AbsolutePath(argument: path) }
        tls.identity = try identity(environment)
        do {
            return try Remote(
                server: server, namespace: Namespace(name), token: try bearerToken(environment), allowsInsecureToken: isInsecureAllowed,
                tls: tls)
        } catch let error as WireError {
            throw CommandFailure(.usage, error.description)
        }
    }

    private func identity(_ environment: Environment) throws(CommandFailure) -> TLSTrust.Identity? {
        let certificate = clientCertificate ?? environment.value(of: "FRESHET_CLIENT_CERTIFICATE")
        // The variable's key is that of the variable's certificate.
        let key = clientKey ?? (clientCertificate == nil ? environment.value(of: "FRESHET_CLIENT_KEY") : nil)
        switch (certificate, key) {
        case (nil, nil): return nil
        case (let certificate?, let key?):
            return TLSTrust.Identity(certificate: try AbsolutePath(argument: certificate), key: try AbsolutePath(argument: key))
        case (_?, nil): throw CommandFailure(.usage, "--client-certificate takes the file of its private key beside it: add --client-key")
        case (nil, _?): throw CommandFailure(.usage, "--client-key takes the file of its certificate beside it: add --client-certificate")
        }
    }

    private static func insecure(_ secret: String, _ target: RequestTarget) -> CommandFailure {
        CommandFailure(
            .usage,
            "\(secret) would go unencrypted to \(target.host): use https://, or add --allow-insecure-token if that network is trusted")
    }

    private func isInsecureTokenAllowed(_ environment: Environment) throws(CommandFailure) -> Bool {
        if allowInsecureToken { return true }
        switch environment["FRESHET_ALLOW_INSECURE_TOKEN"] {
        case nil, "", "0": return false
        case "1": return true
        case let text?: throw CommandFailure(.usage, "FRESHET_ALLOW_INSECURE_TOKEN takes 0 or 1, not '\(text)'")
        }
    }
}

// MARK: The token

extension RemoteOptions {
    private enum TokenSource {
        case text(String, origin: String)
        case file(String)
    }

    private func isTokenGiven(_ environment: Environment) throws(CommandFailure) -> Bool { try tokenSource(environment) != nil }

    private func bearerToken(_ environment: Environment) throws(CommandFailure) -> BearerToken? {
        switch try tokenSource(environment) {
        case nil: nil
        case .text(let text, let origin): try BearerToken(text, from: origin)
        case .file(let path): try BearerToken(file: path)
        }
    }

    /// An option, else a variable. An empty variable counts as none.
    private func tokenSource(_ environment: Environment) throws(CommandFailure) -> TokenSource? {
        if let token { return .text(token, origin: "--token") }
        if let tokenFile { return .file(tokenFile) }
        let text = environment["FRESHET_TOKEN"] ?? ""
        let path = environment["FRESHET_TOKEN_FILE"] ?? ""
        guard text.isEmpty || path.isEmpty else {
            throw CommandFailure(.usage, "FRESHET_TOKEN and FRESHET_TOKEN_FILE are both set: unset one, or give --token-file")
        }
        if !path.isEmpty { return .file(path) }
        return text.isEmpty ? nil : .text(text, origin: "FRESHET_TOKEN")
    }
}

/// Whether a person or a program reads the output.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Print JSON, for a program to read.")
    var json = false
}
