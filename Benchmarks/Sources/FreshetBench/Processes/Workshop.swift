import Figures
import Foundation

/// What all comparisons share: where programs and files are, how often to measure, and how to print.
struct Workshop {
    /// A folder that goes when the run ends, on the disk that is to be measured.
    let folder: String
    /// The `freshet` program.
    let program: String
    /// The folder with `fanout.c` and `limit.c`; `nil` where there is none.
    let sources: String?
    /// The program that serves Hummingbird's constant; `nil` where it could not be built.
    let hummingbird: String?
    /// The program that takes the way from device to device and computes nothing.
    let latencyFloor: String
    /// How often ours and theirs are measured in turn.
    let rounds: Int
    /// The most records of the comparisons that fill a server.
    let records: Int
    /// Shorter loads, to try the program, not to trust the figures.
    let isQuick: Bool

    var log: String { "\(folder)/log" }

    /// Seconds that a load lasts.
    func seconds(_ seconds: Double) -> Double { isQuick ? max(0.5, seconds / 4) : seconds }

    func output(of arguments: [String]) throws -> String { try ChildProcess.output(of: arguments, log: log) }

    func report(_ figure: Figure?) {
        guard let figure else { return }
        // At once, also into a pipe: a run lasts minutes.
        FileHandle.standardOutput.write(Data("\(figure.line)\n".utf8))
        guard let file = fopen("\(folder)/figures", "a") else { return }
        defer { fclose(file) }
        fputs("\(figure.line)\n", file)
    }

    /// Says why a line is not there.
    func leaveOut(_ what: String, _ reason: String) {
        FileHandle.standardError.write(Data("\(what) is left out: \(reason)\n".utf8))
    }

    /// Compiles one of the loads in C, once.
    func load(_ name: String) throws -> String {
        let path = "\(folder)/\(name)"
        if FileManager.default.fileExists(atPath: path) { return path }
        guard let sources else { throw BenchError.missing("PEERS names no folder with \(name).c") }
        _ = try output(of: ["cc", "-O2", "-o", path, "\(sources)/\(name).c"])
        return path
    }

    /// Gives the file's path, with that content.
    func file(_ name: String, _ text: String) throws -> String {
        let path = "\(folder)/\(name)"
        try text.write(toFile: path, atomically: false, encoding: .utf8)
        return path
    }
}
