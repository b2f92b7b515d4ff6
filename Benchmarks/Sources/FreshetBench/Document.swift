import ArgumentParser
import Figures
import Foundation

/// Reads the figures' lines from standard input and records them: the lines in `performance.txt`, which keeps those of
/// comparisons that were not made, and the tables and charts of all of them in `performance.md`.
struct Document: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Write lines from standard input into the page and its charts.")

    @Argument(help: "The folder with performance.md.") var folder: String
    @Option(help: "A fact `name: value` to put above the tables; any number of them.") var fact: [String] = []

    func run() throws {
        let date = Self.today()
        var measured = Results()
        while let line = readLine() {
            guard var figure = Figure(line: line) else { continue }
            figure.date = date
            measured.figures.append(figure)
        }
        guard !measured.figures.isEmpty else { throw ValidationError("no line with a figure came") }
        measured.facts = try fact.map { text in
            guard let colon = text.firstRange(of: ": ") else { throw ValidationError("--fact takes 'name: value', not '\(text)'") }
            return Results.Fact(String(text[..<colon.lowerBound]), String(text[colon.upperBound...]))
        }
        var results = Results(text: (try? String(contentsOfFile: "\(folder)/performance.txt", encoding: .utf8)) ?? "")
        // Growth figures depend on the cap of their run, so all of a family must come from the same run.
        let families = Set(measured.figures.map { Meaning(of: $0.name).comparison })
            .intersection(["growth", "cold-start", "catch-up", "postgresql"])
        results.merge(measured, replacing: families.map { "\($0)-" })

        let page = try String(contentsOfFile: "\(folder)/performance.md", encoding: .utf8)
        var charts: [String: (path: String, caption: String)] = [:]
        let peers = ["fanout", "sse", "writes", "reads", "latency"]
        if let chart = RatioChart.svg(results, comparisons: peers) {
            try write(chart, "performance-ratios.svg")
            charts[""] = ("performance-ratios.svg", "Ours divided by theirs")
        }
        if let chart = RatioChart.svg(results, comparisons: ["postgresql"]) {
            try write(chart, "performance-postgresql.svg")
            charts["postgresql"] = ("performance-postgresql.svg", "Freshet over PostgreSQL, divided by PostgreSQL itself")
        }
        if let chart = GrowthChart.svg(results) {
            try write(chart, "performance-growth.svg")
            charts["growth"] = ("performance-growth.svg", "Writes, feed latency and memory by records and by waiting clients")
        }
        guard let text = MarkdownTable.insert(MarkdownTable.render(results, charts: charts), into: page) else {
            throw ValidationError("\(folder)/performance.md lacks \(MarkdownTable.begin) or \(MarkdownTable.end)")
        }
        try write(text, "performance.md")
        try write(results.text, "performance.txt")
    }

    private func write(_ text: String, _ name: String) throws {
        try text.write(toFile: "\(folder)/\(name)", atomically: true, encoding: .utf8)
    }

    private static func today() -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.dateFormat = "yyyy-MM-dd"
        return formatter.string(from: Date())
    }
}
