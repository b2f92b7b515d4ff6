import ArgumentParser
import FreshetWire
import HTTPTypes

struct Status: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print how a server's namespace stands.",
        discussion: """
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
        let status = try await remote.ask(.get, remote.namespace.path, as: NamespaceStatus.self)
        guard !output.json else { return StandardStream.output.printJSON(status.json) }
        let lines = [
            ("server", remote.server), ("namespace", status.namespace.name), ("epoch", status.cursor.epoch.token),
            ("head", "revision \(status.cursor.revision)"), ("records", grouped(status.records)), ("bytes", grouped(status.bytes)),
            ("tombstones", grouped(status.tombstones)), ("invalidations", grouped(status.invalidations)),
            ("clients", grouped(status.clients)), ("outcomes", "\(grouped(status.outcomes)) in \(grouped(status.outcomeBytes)) bytes"),
            ("waiting", "\(grouped(status.waiting)) clients"),
        ]
        for (name, value) in lines {
            StandardStream.output.printLine(name + String(repeating: " ", count: 15 - name.count) + StandardStream.output.visible(value))
        }
    }
}
