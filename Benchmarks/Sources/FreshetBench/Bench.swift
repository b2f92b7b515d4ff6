import ArgumentParser

/// Measures Freshet beside its peers, on loopback, and writes down what was measured. `scripts/bench` runs it.
@main
struct Bench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "freshet-bench", abstract: "Measures Freshet beside its peers.", subcommands: [Compare.self, Document.self])
}
