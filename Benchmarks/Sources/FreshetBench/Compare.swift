import ArgumentParser
import Foundation

/// Runs the named comparisons and prints a line for each figure.
struct Compare: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Make comparisons; a line `name ours=… peer=… ratio=…` for each figure.")

    enum Comparison: String, CaseIterable, ExpressibleByArgument {
        case fanout, sse, waiters, writes, reads, latency
        case catchUp = "catch-up"
        case growth, tokens
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
        let environment = BenchmarkEnvironment(
            folder: folder, program: program, sources: peers, hummingbird: hummingbird, latencyFloor: latencyFloor,
            rounds: rounds, records: quick ? min(records, 100_000) : records, isQuick: quick)
        let filling = Filling(environment)
        var failures = 0
        for comparison in comparisons {
            do {
                try await measure(comparison, environment, filling)
            } catch let BenchError.missing(what) {
                environment.leaveOut(comparison.rawValue, what)
            } catch {
                // A comparison that fails prints its error, and does not stop the others.
                FileHandle.standardError.write(Data("error: \(comparison.rawValue): \(error)\n".utf8))
                failures += 1
            }
        }
        if failures > 0 { throw ExitCode.failure }
    }

    private func measure(_ comparison: Comparison, _ environment: BenchmarkEnvironment, _ filling: Filling) async throws {
        switch comparison {
        case .fanout: try FanOutComparison(environment: environment).longPoll()
        case .sse: try FanOutComparison(environment: environment).stream()
        case .waiters: try WaiterComparison(environment: environment).measure()
        case .writes: try WriteComparison(environment: environment).measure()
        case .reads: try ReadComparison(environment: environment).measure()
        case .latency: try await LatencyComparison(environment: environment).measure()
        case .catchUp: try await CatchUpComparison(environment: environment, filling: filling).measure()
        case .growth: try GrowthComparison(environment: environment, filling: filling).measure()
        case .tokens: try TokenComparison(environment: environment).measure()
        case .coldStart: try GrowthComparison(environment: environment, filling: filling).coldStart()
        case .overload: try OverloadComparison(environment: environment).measure()
        case .kit: try await KitComparison(environment: environment).measure()
        }
    }
}
