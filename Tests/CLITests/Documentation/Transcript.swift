import Foundation

/// The examples of a page: its `console` blocks, in which each line after `$ ` is a command and the lines below it are
/// its output.
struct Transcript {
    struct Example {
        /// The example's place, for example `docs/protocol.md:42`.
        let place: String
        let command: String
        let output: String
    }

    let examples: [Example]

    init(page: String) throws {
        var examples: [Example] = []
        var isInside = false
        var command: (place: String, text: String)?
        var output: [String] = []
        func finish() {
            if let command { examples.append(Example(place: command.place, command: command.text, output: output.joined(separator: "\n"))) }
            command = nil
            output = []
        }
        for (index, line) in try Project.text(of: page).components(separatedBy: "\n").enumerated() {
            if line.hasPrefix("```") {
                finish()
                isInside = line == "```console"
            } else if isInside, line.hasPrefix("$ ") {
                finish()
                command = ("\(page):\(index + 1)", String(line.dropFirst(2)))
            } else if isInside, line.hasPrefix("> "), output.isEmpty {
                command?.text += "\n" + line.dropFirst(2)
            } else if isInside {
                output.append(line)
            }
        }
        self.examples = examples
    }

    /// Replaces epochs and times, which differ from run to run; the rest must be the same.
    static func comparable(_ output: String) -> String {
        output
            .replacing(/[0-9a-v]{13}-(?<revision>[0-9]+)/) { "EPOCH-\($0.output.revision)" }
            .replacing(/"epoch":"[0-9a-v]{13}"/, with: #""epoch":"EPOCH""#)
            .replacing(/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z/, with: "TIME")
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
