import ArgumentParser
import FreshetWire
import HTTPTypes

struct Status: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print how a server's namespace stands.",
        discussion: """
            EXAMPLE
              freshet status --json
            """)

    @OptionGroup var output: OutputOptions
    @OptionGroup var options: RemoteOptions

    func run() async throws {
        let remote = try options.remote()
        let status = try await remote.ask(.get, remote.namespace.path, as: NamespaceStatus.self)
        guard !output.json else { return StandardStream.output.write(status.json + [UInt8(ascii: "\n")]) }
        let lines = [
            ("server", remote.server), ("namespace", status.namespace.name), ("epoch", status.cursor.epoch.token),
            ("head", "revision \(status.cursor.revision)"), ("records", grouped(status.records)), ("bytes", grouped(status.bytes)),
            ("waiting", "\(grouped(status.waiting)) clients"),
        ]
        for (name, value) in lines {
            StandardStream.output.printLine(name + String(repeating: " ", count: 11 - name.count) + value)
        }
    }
}
