import ArgumentParser
import Foundation

/// Runs the named comparisons and prints a line for each figure.
struct Compare: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Make comparisons; a line `name ours=… peer=… ratio=…` for each figure.")

    enum Comparison: String, CaseIterable, ExpressibleByArgument {
        case fanout, sse, waiters, writes, reads, latency
        case catchUp = "catch-up"
        case growth
        case coldStart = "cold-start"
        case overload, kit
    }

    @Argument var comparisons: [Comparison]
    @Option(help: "The freshet program.") var program: String
    @Option(help: "A folder on the disk to measure, for the servers' files; its file figures gets the lines too.") var folder: String
    @Option(help: "The folder with fanout.c and limit.c.") var peers: String?
    @Option(help: "The program that serves Hummingbird's constant.") var hummingbird: String?
    @Option(help: "The program that takes the way from device to device and computes nothing.") var latencyFloor: String
    @Option(help: "How often ours and theirs are measured in turn.") var rounds = 3
    @Option(help: "The most records of growth, cold-start and catch-up.") var records = 1_000_000
    @Flag(help: "Short loads with small counts, to try the program.") var quick = false

    func validate() throws {
        guard rounds > 0 else { throw ValidationError("--rounds takes 1 or more, not \(rounds)") }
        guard records >= 1_000 else { throw ValidationError("--records takes 1000 or more, not \(records)") }
    }

    func run() async throws {
        // A server that exits while a load writes to it must cause an error message, not the end of this program.
        signal(SIGPIPE, SIG_IGN)
        let workshop = Workshop(
            folder: folder, program: program, sources: peers, hummingbird: hummingbird, latencyFloor: latencyFloor,
            rounds: rounds, records: quick ? min(records, 100_000) : records, isQuick: quick)
        let filling = Filling(workshop)
        var failures = 0
        for comparison in comparisons {
            do {
                try await measure(comparison, workshop, filling)
            } catch let BenchError.missing(what) {
                workshop.leaveOut(comparison.rawValue, what)
            } catch {
                // A comparison that fails prints its error, and does not stop the others.
                FileHandle.standardError.write(Data("error: \(comparison.rawValue): \(error)\n".utf8))
                failures += 1
            }
        }
        if failures > 0 { throw ExitCode.failure }
    }

    private func measure(_ comparison: Comparison, _ workshop: Workshop, _ filling: Filling) async throws {
        switch comparison {
        case .fanout: try FanOutComparison(workshop: workshop).longPoll()
        case .sse: try FanOutComparison(workshop: workshop).stream()
        case .waiters: try WaiterComparison(workshop: workshop).measure()
        case .writes: try WriteComparison(workshop: workshop).measure()
        case .reads: try ReadComparison(workshop: workshop).measure()
        case .latency: try await LatencyComparison(workshop: workshop).measure()
        case .catchUp: try await CatchUpComparison(workshop: workshop, filling: filling).measure()
        case .growth: try GrowthComparison(workshop: workshop, filling: filling).measure()
        case .coldStart: try GrowthComparison(workshop: workshop, filling: filling).coldStart()
        case .overload: try OverloadComparison(workshop: workshop).measure()
        case .kit: try await KitComparison(workshop: workshop).measure()
        }
    }
}
