import FoundationEssentials

/// An article of a DocC catalogue with the Swift that it shows.
public struct Article: Sendable {
    /// The file's name without its ending.
    public let name: String
    /// The whole text.
    public let text: String
    /// The blocks of Swift in it, without their imports.
    public let examples: [String]

    /// All articles of a catalogue, except for its first page, which is named after it.
    public static func all(in catalogue: String) throws -> [Article] {
        let root = #filePath.components(separatedBy: "/Tests/")[0]
        let folder = "\(root)/\(catalogue)"
        let title = catalogue.split(separator: "/").last.map { $0.split(separator: ".")[0] } ?? ""
        return try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
            .filter { $0.hasSuffix(".md") && !$0.hasPrefix("\(title).") }
            .map { file in
                let page = try String(contentsOfFile: "\(folder)/\(file)", encoding: .utf8)
                let blocks = page.components(separatedBy: "```swift\n").dropFirst().map { $0.components(separatedBy: "```")[0] }
                return Article(name: String(file.dropLast(3)), text: page, examples: blocks.map(withoutImports))
            }
    }

    /// The lines between the marks in a test's source, as the article shows them.
    public static func compiled(in source: String) throws -> String? {
        excerpt(
            of: try String(contentsOfFile: source, encoding: .utf8), from: "    // article begins\n", to: "    // article ends"
        ).map(unindented)
    }

    /// The lines between each pair of marks in a test's source, in order, as the article shows them: without the
    /// indentation of the mark.
    public static func allCompiled(in source: String) throws -> [String] {
        var blocks: [String] = []
        var open: (indentation: Int, lines: [Substring])?
        for line in try String(contentsOfFile: source, encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false) {
            let text = line.drop { $0 == " " }
            if text == "// article begins" {
                open = (line.count - text.count, [])
            } else if text == "// article ends", let block = open {
                blocks.append(block.lines.map { $0.dropFirst(block.indentation) + "\n" }.joined())
                open = nil
            } else {
                open?.lines.append(line)
            }
        }
        return blocks
    }

    /// The names of the articles whose Swift is not exactly the marked lines of their suite, which is
    /// `Tests/<suites>/Articles/<name>Tests.swift`; without a suite, or without marked lines, an article is one of them.
    public static func unproven(in catalogue: String, suites: String) throws -> [String] {
        let folder = #filePath.components(separatedBy: "/TestSupport/")[0] + "/\(suites)/Articles"
        return try all(in: catalogue).filter { article in
            let source = "\(folder)/\(article.name)Tests.swift"
            guard FileManager.default.fileExists(atPath: source) else { return true }
            let compiled = try allCompiled(in: source)
            return compiled.isEmpty || article.examples != compiled
        }.map(\.name)
    }

    private static func withoutImports(_ block: String) -> String {
        let lines = block.split(separator: "\n", omittingEmptySubsequences: false).drop { $0.hasPrefix("import ") }
        return lines.drop { $0.isEmpty }.joined(separator: "\n")
    }
}
