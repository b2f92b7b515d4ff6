import ArgumentParser

@main
struct Freshet: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Keeps caches fresh.")
}
