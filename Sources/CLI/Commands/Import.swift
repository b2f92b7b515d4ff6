import ArgumentParser
import FreshetWire

struct Import: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Write the records of a file: NDJSON, CSV or JSON.",
        discussion: """
            NDJSON is an object a line, as `freshet export` and `freshet list --json` print it: key, and value or body. CSV has a first line
            that names the columns: key (COLLECTION/ID), or id with --collection; the others become members. JSON is an array of such objects,
            or an object that holds one such array. With --id-field, each object is a value that holds its own id.

            The whole file is read before the first record is written, and what is wrong in it is named with its line. An import that was
            cut off goes on where it stopped; the same file once more changes nothing, unless --again is given.

            EXAMPLES
              freshet import notes.ndjson
              freshet import prices.csv --collection prices
              freshet import /usr/share/iso-codes/json/iso_3166-1.json --collection countries --id-field alpha_2
            """)

    @Argument(help: "The file; - is standard input.", completion: .file()) var file: String
    @Option(
        help: ArgumentHelp("How the file is written: ndjson, csv or json. (default: by its name and content)", valueName: "format"))
    var format: ImportFormat?
    @Option(help: ArgumentHelp("The collection to write to. (default: that of each key)", valueName: "name")) var collection: String?
    @Option(help: ArgumentHelp("The member of each object, or the column, that is its id; goes with --collection.", valueName: "name"))
    var idField: String?
    @Flag(help: "CSV: all fields are texts, also those that look like numbers.") var text = false
    @Flag(help: "Write the records even if this file was imported before.") var again = false
    @OptionGroup var output: OutputOptions
    @OptionGroup var options: RemoteOptions

    func validate() throws {
        if let collection { try List.check(collection: collection) }
        guard idField == nil || collection != nil else { throw ValidationError("--id-field goes with --collection") }
    }

    func run() async throws {
        let remote = try options.remote()
        let input = try ImportInput(path: file)
        let format = try format ?? ImportFormat(path: file) ?? ImportFormat(contentOf: input)
        guard format == .csv || !text else { throw CommandFailure(.usage, "--text goes with CSV alone, and this is \(format.rawValue)") }
        let rules = ImportRules(collection: collection, idField: idField)
        switch format {
        case .json: try await run(remote, input) { () throws(CommandFailure) in try ImportFile(input.all(), rules: rules) }
        case .ndjson: try await run(remote, input) { ImportLines(input: input, rules: rules) }
        case .csv: try await run(remote, input) { () throws(CommandFailure) in try CSVTable(input, rules: rules, isText: text) }
        }
    }

    /// Reads the records twice: to check them all, and to send them.
    private func run(
        _ remote: Remote, _ input: ImportInput, _ source: () throws(CommandFailure) -> some ImportSource
    ) async throws {
        let attempt = (text ? "text " : "") + (again ? String(UInt64.random(in: .min ... .max), radix: 36) : "")
        let plan = try ImportPlan(try source(), content: { input.hash }, attempt: attempt)
        input.rewind()
        let progress = ProgressLine(unit: "records", total: plan.count, isOn: !output.json)
        let report: Importer.Report
        do throws(CommandFailure) {
            report = try await Importer(remote: remote, plan: plan, goesOn: !again).run(try source()) { progress.draw($0) }
            try input.checkUnchanged()
        } catch {
            progress.end()
            throw error
        }
        progress.end()
        show(report)
        for rejection in report.rejections {
            StandardStream.error.printLine(
                StandardStream.error.visible("\(rejection.place): \(rejection.key): \(rejection.problem)"))
        }
        guard report.rejected == 0 else {
            throw CommandFailure(.data, "the server rejected \(grouped(report.rejected)) of \(counted(plan.count, "record"))")
        }
    }

    private func show(_ report: Importer.Report) {
        guard !output.json else {
            var writer = JSONWriter()
            writer.beginObject()
            writer.member("written", Int64(report.written))
            writer.member("before", Int64(report.before))
            writer.member("rejected", Int64(report.rejected))
            writer.endObject()
            return StandardStream.output.printJSON(writer.bytes)
        }
        var text = "\(counted(report.written, "record")) written"
        if let collection { text += " to \(collection)" }
        if report.before > 0 { text += ", \(grouped(report.before)) had been imported before" }
        StandardStream.output.printLine(text)
    }
}
