import FoundationEssentials
import FreshetPlatform
import FreshetSimulator

/// The directory of a search: `corpus` has the entries, `found` the violations; each file is a scenario.
final class SearchDirectory {
    private let corpus: String
    private let found: String
    /// The names of the entries that are on disk, by their numbers in the search.
    private var names: [Int: String] = [:]
    /// The names of all entries' files on disk, as of the last load or save.
    private var files: Set<String> = []

    private static var suffix: String { ".scenario" }

    /// Creates the directory if it does not exist.
    init(_ path: String) throws(CommandFailure) {
        let path = try AbsolutePath(argument: path).text
        (corpus, found) = (path + "/corpus", path + "/found")
        for folder in [corpus, found] {
            do { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) } catch {
                throw CommandFailure(.cannotCreate, "cannot make \(folder): \(systemReason(of: error))")
            }
        }
    }

    /// The entries that earlier searches have left, in the order of their names.
    func load() throws(CommandFailure) -> [Scenario] {
        let found: [String]
        do { found = try FileManager.default.contentsOfDirectory(atPath: corpus) } catch {
            throw CommandFailure(.noInput, "cannot read \(corpus): \(systemReason(of: error))")
        }
        files = Set(found.filter { $0.hasSuffix(Self.suffix) })
        var scenarios: [Scenario] = []
        for name in files.sorted() {
            let path = "\(corpus)/\(name)"
            let scenario = try Scenario(file: path)
            // A search writes none without devices.
            guard !scenario.devices.isEmpty else {
                throw CommandFailure(.data, "\(path) has no devices, as if its write had been cut off: remove it")
            }
            scenarios.append(scenario)
        }
        return scenarios
    }

    /// Writes the entries that are new, and removes those that have left the corpus. Another search may have removed one
    /// already.
    func save(_ entries: [Int: Scenario]) throws(CommandFailure) {
        var kept: Set<String> = []
        for number in entries.keys.sorted() {
            guard let scenario = entries[number] else { continue }
            let name = names[number] ?? scenario.name + Self.suffix
            names[number] = name
            kept.insert(name)
            if files.insert(name).inserted { try write(scenario.text, to: "\(corpus)/\(name)") }
        }
        for name in files.subtracting(kept) where FileManager.default.fileExists(atPath: "\(corpus)/\(name)") {
            do { try FileManager.default.removeItem(atPath: "\(corpus)/\(name)") } catch {
                throw CommandFailure(.inputOutput, "cannot remove \(corpus)/\(name): \(systemReason(of: error))")
            }
        }
        files = kept
        names = names.filter { entries[$0.key] != nil }
    }

    /// Writes a violation and returns the file's path.
    func add(_ finding: GuidedSearch.Finding) throws(CommandFailure) -> String {
        let path = "\(found)/\(finding.violation.rule.fileName)-\(finding.scenario.name)\(Self.suffix)"
        let lines = [
            "# Rule: \(finding.violation.rule)",
            // A line break would end the comment.
            "# Violation: \(TerminalText.inLine(finding.violation.text, isTerminal: false))",
            "# Found: \(finding.origin.words)",
        ]
        try write(lines.map { $0 + "\n" }.joined() + finding.scenario.text, to: path)
        return path
    }

    private func write(_ text: String, to path: String) throws(CommandFailure) {
        do { try Data(text.utf8).write(to: URL(filePath: path), options: .atomic) } catch {
            throw CommandFailure(.cannotCreate, "cannot write \(path): \(systemReason(of: error))")
        }
    }
}

extension Rule {
    /// The rule's number, or its name if it has none.
    fileprivate var fileName: String { String(description.prefix { $0 != " " }) }
}

extension Scenario {
    /// Sixteen digits derived from the scenario's text.
    fileprivate var name: String {
        let digits = String(digest, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
