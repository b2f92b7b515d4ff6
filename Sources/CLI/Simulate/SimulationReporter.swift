import FoundationEssentials
import FreshetSimulator
import FreshetWire
import Glibc

/// Reports the results of the simulator's runs.
struct SimulationReporter {
    /// A run that has ended.
    struct Run: Sendable {
        /// `nil` for a scenario.
        var seed: UInt64?
        var outcome: Outcome
    }

    let isJSON: Bool
    /// The command that repeats the run of a seed, or of the scenario.
    let command: (UInt64?) -> String
    let report: String?
    let shrunk: String?
    let bug: InjectedBug?
    let shrinks: Bool
    private let start = ContinuousClock.now

    /// Prints a line of JSON for each run, or draws a bar on standard error if it is a terminal.
    func progress(_ run: Run, done: Int, of total: Int, steps: Int) {
        if isJSON { StandardStream.output.printJSON(json(run)) }
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        let rate = "\(grouped(Int(Double(steps) / max(seconds, 0.001)))) steps/s"
        if StandardStream.error.isTerminal, !isJSON {
            ProgressBar(unit: "runs", total: total).draw(done: done, seconds: 0, note: "  " + rate)
        }
        if done == total, !isJSON {
            let plural = total == 1 ? "run" : "runs"
            StandardStream.output.printLine(
                "\(grouped(total)) \(plural), \(grouped(steps)) steps, \((seconds * 10).rounded() / 10) s, \(rate)")
        }
    }

    /// Prints how often the runs have tested the rules of tokens.
    func print(_ access: AccessCounts) {
        guard !isJSON else { return }
        StandardStream.output.printLine(
            "\(grouped(access.revocations)) revocations, which ended \(grouped(access.revokedWaits)) waits and refused "
                + "\(grouped(access.revokedRequests)) requests; tokens that expired ended \(grouped(access.expiredWaits)) waits and refused "
                + "\(grouped(access.expiredRequests)) requests; rights changed \(grouped(access.changes)) times")
    }

    /// Shrinks and shows the first violation, writes the requested files, and fails if a rule was broken.
    func finish(_ runs: [Run]) throws {
        guard let first = runs.first else { return }
        if first.seed == nil, isJSON { StandardStream.output.printJSON(json(first)) }
        for run in runs where run.outcome.violation != nil && !isJSON { printViolation(run) }
        var course = first.outcome.scenario
        if let violation = first.outcome.violation, shrinks, violation.rule != .expectation { course = try shrink(course, violation) }
        if let shrunk, first.outcome.violation != nil { try write(Array(course.text.utf8), to: shrunk) }
        if let report { try write(page(first, course), to: report) }
        guard first.outcome.violation == nil else {
            throw CommandFailure(.notFound, "a rule was broken. Run it again: \(command(first.seed))")
        }
        if first.seed == nil, !isJSON {
            StandardStream.output.printLine("no rule was broken in \(grouped(first.outcome.steps)) steps; hash \(hash(first))")
        } else if runs.count == 1, !isJSON {
            StandardStream.output.printLine("no rule was broken")
        }
    }

    private func printViolation(_ run: Run) {
        guard let violation = run.outcome.violation else { return }
        let style = Style(for: .output)
        let names = run.outcome.scenario.devices.map(\.name)
        let who = violation.device.map { "device \(names.indices.contains($0) ? names[$0] : "\($0)")" } ?? "the server"
        let seed = run.seed.map { "seed \($0), " } ?? ""
        StandardStream.output.printLine(
            "\(style.red("rule \(violation.rule)")): \(seed)step \(violation.step), after \(violation.time) ms, \(who): "
                + StandardStream.output.visible(violation.text))
    }

    private func shrink(_ scenario: Scenario, _ violation: Violation) throws -> Scenario {
        var shrinker = Shrinker(rule: violation.rule)
        shrinker.bug = bug
        let short = shrinker.shrunk(scenario)
        if !isJSON {
            let count = "\(short.incidents.count) of \(scenario.incidents.count) incidents break it still:"
            StandardStream.output.printLine(Style(for: .output).bold(count))
            StandardStream.output.printValue(Array(short.text.utf8))
        }
        return short
    }

    private func page(_ run: Run, _ course: Scenario) throws -> [UInt8] {
        do throws(ScenarioError) {
            var simulation = Simulation(course)
            simulation.bug = bug
            guard var timeline = try simulation.run(isRecorded: true).timeline else { return [] }
            timeline.command = command(run.seed)
            timeline.scenario = course.text
            if let seed = run.seed { timeline.title = "Seed \(seed): \(course.devices.count) devices and a server" }
            return timeline.page()
        } catch { throw CommandFailure(.software, "the run could not be repeated for its report: \(error)") }
    }

    /// Checks before the first run that the requested files can be written after the last.
    func checkFiles() throws(CommandFailure) {
        for path in [report, shrunk].compactMap({ $0 }) {
            var isFolder = false
            if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder {
                throw CommandFailure(.cannotCreate, "cannot write \(path): it is a folder. Name a file")
            }
            let folder = URL(filePath: path).deletingLastPathComponent().path(percentEncoded: false)
            guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder else {
                throw CommandFailure(.cannotCreate, "cannot write \(path): there is no folder \(folder). Make it first")
            }
            // An existing file is written in its place.
            guard access(FileManager.default.fileExists(atPath: path) ? path : folder, W_OK) == 0 else {
                throw CommandFailure(.cannotCreate, "cannot write \(path): \(systemReason())")
            }
        }
    }

    private func write(_ bytes: [UInt8], to path: String) throws(CommandFailure) {
        do { try Data(bytes).write(to: URL(filePath: path)) } catch {
            throw CommandFailure(.cannotCreate, "cannot write \(path): \(systemReason(of: error))")
        }
    }

    // MARK: Words

    private func hash(_ run: Run) -> String {
        let text = String(run.outcome.hash, radix: 16)
        return String(repeating: "0", count: 16 - text.count) + text
    }

    /// `{"seed":1,"steps":…,"time":…,"hash":"…","violation":null|{…}}`
    private func json(_ run: Run) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        if let seed = run.seed, let number = Int64(exactly: seed) { writer.member("seed", number) }
        writer.member("steps", Int64(run.outcome.steps))
        writer.member("time", run.outcome.time)
        writer.member("hash", hash(run))
        writer.member("violation")
        if let violation = run.outcome.violation {
            writer.beginObject()
            writer.member("rule", violation.rule.description)
            writer.member("step", Int64(violation.step))
            writer.member("time", violation.time)
            if let device = violation.device, run.outcome.scenario.devices.indices.contains(device) {
                writer.member("device", run.outcome.scenario.devices[device].name)
            }
            writer.member("text", violation.text)
            writer.endObject()
        } else {
            writer.null()
        }
        writer.endObject()
        return writer.bytes
    }
}
