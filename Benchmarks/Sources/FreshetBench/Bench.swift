import ArgumentParser

/// Loads a server that runs already, on loopback, and prints one figure a line: `name value unit`.
@main
struct Bench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "freshet-bench", abstract: "Measures a Freshet server on loopback.",
        subcommands: [Throughput.self, Waiters.self, Latency.self, Kit.self])
}
