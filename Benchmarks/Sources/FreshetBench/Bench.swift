import ArgumentParser

/// Compares Freshet with its peers, on loopback, and records the figures. `scripts/bench` runs it.
@main
struct Bench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "freshet-bench", abstract: "Measures Freshet beside its peers.", subcommands: [Compare.self, Document.self])
}
