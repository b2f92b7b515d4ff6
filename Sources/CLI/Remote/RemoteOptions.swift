import ArgumentParser
import FreshetWire

/// Which server and namespace a command speaks to.
struct RemoteOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The server. (default: $FRESHET_SERVER or \(defaultServer))", valueName: "url"))
    var server: String?

    @Option(help: ArgumentHelp("The namespace. (default: $FRESHET_NAMESPACE or \(defaultNamespace))", valueName: "name"))
    var namespace: String?

    @Option(help: ArgumentHelp("What to send as the bearer token. (default: $FRESHET_TOKEN or none)", valueName: "token"))
    var token: String?

    static let defaultServer = "http://127.0.0.1:8180"
    static let defaultNamespace = "default"

    /// What the options, else the environment, else the defaults say.
    func remote(environment: Environment = .current) throws -> Remote {
        let server = server ?? environment["FRESHET_SERVER"] ?? Self.defaultServer
        guard server.hasPrefix("http://") || server.hasPrefix("https://") else {
            throw CommandFailure(.usage, "'\(server)' is no server's URL: it takes http://HOST:PORT or https://HOST:PORT")
        }
        let name = namespace ?? environment["FRESHET_NAMESPACE"] ?? Self.defaultNamespace
        do {
            return try Remote(server: server, namespace: Namespace(name), token: token ?? environment["FRESHET_TOKEN"])
        } catch let error as WireError {
            throw CommandFailure(.usage, error.description)
        }
    }
}

/// Whether a person or a program reads the output.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Print JSON, for a program to read.")
    var json = false
}
