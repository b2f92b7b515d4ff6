import ArgumentParser
import FreshetWire

struct Import: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Write the records of a JSON file.",
        discussion: """
            The file holds a JSON array of objects, or an object that holds one such array. Each object becomes a record whose id
            is what it holds under --id-field. An import that was cut off goes on where it stopped; the same file once more
            changes nothing, unless --again is given.

            EXAMPLE
              freshet import /usr/share/iso-codes/json/iso_3166-1.json --collection countries --id-field alpha_2
            """)

    @Argument(help: "The file; - is standard input.") var file: String
    @Option(help: ArgumentHelp("The collection to write to.", valueName: "name")) var collection: String
    @Option(help: ArgumentHelp("The member of each object that is its id.", valueName: "name")) var idField: String
    @Flag(help: "Write the records even if this file was imported before.") var again = false
    @OptionGroup var output: OutputOptions
    @OptionGroup var options: RemoteOptions

    func run() async throws {
        let bytes = try ValueArgument.file(file)
        let content = try ImportFile(bytes, collection: collection, idField: idField)
        let attempt = again ? String(UInt64.random(in: .min ... .max), radix: 36) : ""
        let importer = Importer(remote: try options.remote(), plan: try ImportPlan(content, of: bytes, attempt: attempt))
        let report = try await importer.run(progress: progress(of: content.elements.count))
        if output.json {
            var writer = JSONWriter()
            writer.beginObject()
            writer.member("written", Int64(report.written))
            writer.member("before", Int64(report.before))
            writer.member("rejected", Int64(report.rejected.count))
            writer.endObject()
            StandardStream.output.printJSON(writer.bytes)
        } else {
            var text = "\(grouped(report.written)) records written to \(collection)"
            if report.before > 0 { text += ", \(grouped(report.before)) had been imported before" }
            StandardStream.output.printLine(text)
        }
        for rejection in report.rejected.prefix(10) {
            StandardStream.error.printLine(StandardStream.error.visible("\(rejection.key): \(rejection.problem)"))
        }
        guard report.rejected.isEmpty else {
            throw CommandFailure(
                .data, "the server rejected \(grouped(report.rejected.count)) of \(grouped(content.elements.count)) records")
        }
    }

    /// Draws a bar on standard error where a person looks; prints nothing elsewhere.
    private func progress(of total: Int) -> (Int) -> Void {
        guard StandardStream.error.isTerminal, !output.json else { return { _ in } }
        let bar = ProgressBar(unit: "records", total: total)
        let start = ContinuousClock.now
        return { done in bar.draw(done: done, seconds: (ContinuousClock.now - start) / .seconds(1)) }
    }
}
