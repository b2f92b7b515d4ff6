import FoundationEssentials

/// An article of a DocC catalogue with the Swift that it shows.
public struct Article: Sendable {
    /// The file's name without its ending.
    public let name: String
    /// The blocks of Swift in it, without their imports.
    public let examples: [String]

    /// All articles of a catalogue, but for its first page, which is named after it.
    public static func all(in catalogue: String) throws -> [Article] {
        let root = #filePath.components(separatedBy: "/Tests/")[0]
        let folder = "\(root)/\(catalogue)"
        let title = catalogue.split(separator: "/").last.map { $0.split(separator: ".")[0] } ?? ""
        return try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
            .filter { $0.hasSuffix(".md") && !$0.hasPrefix("\(title).") }
            .map { file in
                let page = try String(contentsOfFile: "\(folder)/\(file)", encoding: .utf8)
                let blocks = page.components(separatedBy: "```swift\n").dropFirst().map { $0.components(separatedBy: "```")[0] }
                return Article(name: String(file.dropLast(3)), examples: blocks.map(withoutImports))
            }
    }

    /// What a test's source has between its marks, as the article shows it.
    public static func compiled(in source: String) throws -> String? {
        excerpt(
            of: try String(contentsOfFile: source, encoding: .utf8), from: "    // article begins\n", to: "    // article ends"
        ).map(unindented)
    }

    private static func withoutImports(_ block: String) -> String {
        let lines = block.split(separator: "\n", omittingEmptySubsequences: false).drop { $0.hasPrefix("import ") }
        return lines.drop { $0.isEmpty }.joined(separator: "\n")
    }
}
