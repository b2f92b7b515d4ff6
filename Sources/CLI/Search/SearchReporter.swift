import FreshetSimulator
import FreshetWire

/// Prints the progress of a search and its findings.
struct SearchReporter {
    let isJSON: Bool
    let seed: UInt64

    /// Prints one line of progress.
    func progress(_ progress: GuidedSearch.Progress, after duration: Duration) {
        if isJSON { return print(json(progress, kinds: nil, after: duration)) }
        let seconds = max(duration / .seconds(1), 0.001)
        let parts = [
            "\(grouped(Int(seconds))) s", "\(grouped(progress.runs)) runs", "\(grouped(progress.steps)) steps",
            "\(grouped(progress.triples)) triples", "\(grouped(progress.entries)) scenarios in the corpus",
            "\(grouped(progress.violations)) violations", "\(grouped(Int(Double(progress.steps) / seconds))) steps/s",
        ]
        StandardStream.output.printLine(parts.joined(separator: ", "))
    }

    /// Prints a shrunk violation.
    func found(_ finding: GuidedSearch.Finding, path: String?) {
        guard !isJSON else { return print(json(finding, path: path)) }
        let style = Style(for: .output)
        let (runs, steps) = (grouped(finding.progress.runs), grouped(finding.progress.steps))
        let place = "\(finding.origin.words), run \(runs), after \(steps) steps in all"
        StandardStream.output.printLine(
            "\(style.red("rule \(finding.violation.rule)")): \(place): \(StandardStream.output.visible(finding.violation.text))")
        let count = "\(finding.scenario.incidents.count) incidents break it"
        if let path { return StandardStream.output.printLine("\(style.bold(count)): \(path)") }
        StandardStream.output.printLine(style.bold(count + ":"))
        StandardStream.output.printValue(Array(finding.scenario.text.utf8))
    }

    /// Prints the last line, and how often each rule was broken in each way.
    func finish(_ progress: GuidedSearch.Progress, _ kinds: [ViolationKind: Int], after duration: Duration) {
        if isJSON { return print(json(progress, kinds: kinds, after: duration)) }
        self.progress(progress, after: duration)
        for (kind, count) in kinds.sorted(by: { $0.key < $1.key }) {
            StandardStream.output.printLine("\(grouped(count)) times rule \(kind)")
        }
        StandardStream.output.printLine("seed \(seed): \(kinds.isEmpty ? "no rule was broken" : "a rule was broken")")
    }

    // MARK: JSON

    private func print(_ bytes: [UInt8]) { StandardStream.output.printJSON(bytes) }

    /// `{"seed":1,"seconds":…,"runs":…,"steps":…,"uniformRuns":…,"uniformSteps":…,"triples":…,"corpus":…,"violations":…}`
    private func json(_ progress: GuidedSearch.Progress, kinds: [ViolationKind: Int]?, after duration: Duration)
        -> [UInt8]
    {
        var writer = JSONWriter()
        writer.beginObject()
        if let number = Int64(exactly: seed) { writer.member("seed", number) }
        writer.member("seconds", duration.components.seconds)
        writer.member("runs", Int64(progress.runs))
        writer.member("steps", Int64(progress.steps))
        writer.member("uniformRuns", Int64(progress.uniformRuns))
        writer.member("uniformSteps", Int64(progress.uniformSteps))
        writer.member("triples", Int64(progress.triples))
        writer.member("corpus", Int64(progress.entries))
        writer.member("violations", Int64(progress.violations))
        if let kinds {
            writer.member("kinds")
            writer.beginArray()
            for (kind, count) in kinds.sorted(by: { $0.key < $1.key }) {
                writer.beginObject()
                writer.member("kind", kind.description)
                writer.member("runs", Int64(count))
                writer.endObject()
            }
            writer.endArray()
        }
        writer.endObject()
        return writer.bytes
    }

    /// `{"rule":"…","text":"…","run":…,"steps":…,"incidents":…,"scenario":"…"}`
    private func json(_ finding: GuidedSearch.Finding, path: String?) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("rule", finding.violation.rule.description)
        writer.member("text", finding.violation.text)
        writer.member("kind", finding.kind.description)
        writer.member("origin", finding.origin.words)
        writer.member("run", Int64(finding.progress.runs))
        writer.member("steps", Int64(finding.progress.steps))
        writer.member("incidents", Int64(finding.scenario.incidents.count))
        if let path { writer.member("file", path) }
        writer.member("scenario", finding.scenario.text)
        writer.endObject()
        return writer.bytes
    }
}

extension GuidedSearch.Origin {
    /// For example `seed 7`.
    var words: String {
        switch self {
        case .uniform(let seed): "seed \(seed)"
        case .new: "a new scenario"
        case .mutation: "a mutation"
        case .corpus: "the corpus"
        }
    }
}
