import ArgumentParser
import FreshetWire
import HTTPTypes

struct Status: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print how a server's namespace stands, and what the key or token may do there.",
        discussion: """
            With a key or token it prints its rights too. One that may not inspect the namespace gets only these.

            EXAMPLES
              freshet status --json
              freshet status --ready && echo it can commit
            """)

    @Flag(help: "Say nothing; succeed only if the server can commit.")
    var ready = false

    @OptionGroup var output: OutputOptions
    @OptionGroup var options: RemoteOptions

    func run() async throws {
        // Where there is an admin socket, only that one has the endpoint.
        if ready { return _ = try await options.operatorRemote().reply(.get, "/readyz") }
        let remote = try options.remote()
        let rights = remote.isAuthenticated ? try await remote.ask(.get, remote.namespace.rightsPath, as: AccessRights.self) : nil
        var status: NamespaceStatus?
        if rights?.inspect.isEmpty != true { status = try await remote.ask(.get, remote.namespace.path, as: NamespaceStatus.self) }
        guard !output.json else { return printJSON(status, rights) }
        var lines = [("server", remote.server), ("namespace", remote.namespace.name)]
        if let status { lines += Self.lines(status) }
        if let rights {
            lines += [("principal", rights.principal ?? "none"), ("expires", rights.expires?.description ?? "never")]
            lines += rights.verbs.isEmpty ? [("rights", "none")] : rights.verbs.map { ("may \($0.verb)", $0.ranges.joined(separator: " ")) }
        }
        for (name, value) in lines {
            StandardStream.output.printLine(name + String(repeating: " ", count: 16 - name.count) + StandardStream.output.visible(value))
        }
    }

    private static func lines(_ status: NamespaceStatus) -> [(String, String)] {
        [
            ("epoch", status.cursor.epoch.token), ("head", "revision \(status.cursor.revision)"), ("records", grouped(status.records)),
            ("bytes", grouped(status.bytes)), ("tombstones", grouped(status.tombstones)), ("invalidations", grouped(status.invalidations)),
            ("clients", grouped(status.clients)), ("outcomes", "\(grouped(status.outcomes)) in \(grouped(status.outcomeBytes)) bytes"),
            ("waiting", "\(grouped(status.waiting)) clients"),
        ]
    }

    /// The members of the status, and `rights` with a key or token.
    private func printJSON(_ status: NamespaceStatus?, _ rights: AccessRights?) {
        var bytes = status?.json ?? Array("{}".utf8)
        if let rights {
            bytes.removeLast()
            bytes += Array((status == nil ? #""rights":"# : #","rights":"#).utf8) + rights.json + [UInt8(ascii: "}")]
        }
        StandardStream.output.printJSON(bytes)
    }
}
