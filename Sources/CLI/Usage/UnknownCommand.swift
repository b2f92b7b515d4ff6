import ArgumentParser

/// A word in the place of a command that is not a command. The argument parser reports it as an unexpected argument, or
/// reports an option that follows it, and suggests nothing.
struct UnknownCommand: Hashable, Sendable {
    /// The longest word that is compared.
    private static let mostCharacters = 32

    /// The commands that precede the word, for example `freshet cache`.
    let parents: String
    let word: String
    /// The most similar commands, as they are written after `parents`.
    let suggestions: [String]

    /// Finds an unknown command in the program's arguments.
    /// - Parameter root: the command that takes the arguments.
    init?(_ arguments: some Sequence<String>, root: any ParsableCommand.Type) {
        var command = root
        var parents = root._commandName
        for (index, word) in arguments.enumerated() {
            let subcommands = command.configuration.subcommands
            if word.hasPrefix("-") || subcommands.isEmpty { return nil }
            if index == 0, word == "help" { continue }
            guard let next = subcommands.first(where: { Self.names(of: $0).contains(word) }) else {
                self.parents = parents
                self.word = word
                suggestions = Self.suggestions(for: word, among: subcommands.flatMap(Self.names))
                return
            }
            command = next
            parents += " \(next._commandName)"
        }
        return nil
    }

    /// The problem, and how to fix it.
    var failure: CommandFailure {
        let names = suggestions.map { "'\(parents) \($0)'" }
        let question = names.isEmpty ? "" : " Did you mean \(names.joined(separator: " or "))?"
        let help = parents.split(separator: " ").dropFirst().map { " \($0)" }.joined()
        return CommandFailure(.usage, "'\(word.prefix(100))' is no command of '\(parents)'.\(question) `freshet help\(help)` lists them")
    }

    private static func names(of command: any ParsableCommand.Type) -> [String] {
        [command._commandName] + command.configuration.aliases
    }

    /// The nearest names, if a third of the word's characters or fewer differ; else the names that begin with the word.
    static func suggestions(for word: String, among names: [String]) -> [String] {
        let word = word.lowercased()
        guard (2...mostCharacters).contains(word.count) else { return [] }
        let distances = names.map { (name: $0, distance: EditDistance.between(word, $0)) }
        let most = max(1, word.count / 3)
        if let least = distances.map(\.distance).min(), least <= most {
            return distances.filter { $0.distance == least }.map(\.name)
        }
        return names.filter { $0.hasPrefix(word) }
    }
}
