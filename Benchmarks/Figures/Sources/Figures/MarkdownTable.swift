/// Writes results into a page of Markdown.
public enum MarkdownTable {
    /// The mark where the generated part of the page begins.
    public static let begin = "<!-- bench:begin -->"
    /// The mark where it ends.
    public static let end = "<!-- bench:end -->"

    /// A description of the results, and a table for each comparison that has figures; `charts` are put before their
    /// comparison's table.
    ///
    /// - Parameter charts: for a comparison's name, the path of a picture, as the page links it, and what it shows.
    public static func render(_ results: Results, charts: [String: (path: String, caption: String)] = [:]) -> String {
        var lines =
            results.facts.isEmpty ? [] : ["| | |", "|---|---|"] + results.facts.map { "| \($0.name) | \(escaped($0.value)) |" } + [""]
        if let overview = charts[""] { lines += ["![\(overview.caption)](\(overview.path))", ""] }
        let rows = results.figures.map { (figure: $0, meaning: Meaning(of: $0.name)) }
        for (name, heading) in Meaning.comparisons {
            let own = rows.filter { $0.meaning.comparison == name }
            guard !own.isEmpty else { continue }
            lines += ["### \(heading)", ""]
            if let chart = charts[name] { lines += ["![\(chart.caption)](\(chart.path))", ""] }
            lines += ["| | unit | ours | theirs | ratio | wanted | beside | on |", "|---|---|---:|---:|---:|---|---|---|"]
            lines += own.map { row($0.figure, $0.meaning) }
            lines.append("")
        }
        return lines.joined(separator: "\n")
    }

    /// Inserts the text between the page's marks; `nil` if the page does not have both of them, in order.
    public static func insert(_ text: String, into page: String) -> String? {
        guard let begin = page.firstRange(of: Self.begin), let end = page[begin.upperBound...].firstRange(of: Self.end) else { return nil }
        return page[..<begin.upperBound] + "\n" + text + "\n" + page[end.lowerBound...]
    }

    private static func row(_ figure: Figure, _ meaning: Meaning) -> String {
        let cells = [
            escaped(meaning.title), meaning.unit, Digits.grouped(figure.ours), figure.peer.map(Digits.grouped) ?? "",
            figure.ratio.map(Digits.text) ?? "", meaning.aim, meaning.peer, figure.date ?? "",
        ]
        return "| " + cells.joined(separator: " | ") + " |"
    }

    private static func escaped(_ text: String) -> String { text.replacing("|", with: "\\|") }
}
