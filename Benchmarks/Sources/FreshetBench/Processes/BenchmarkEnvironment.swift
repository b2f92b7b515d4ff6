import Figures
import Foundation

/// Shared by all comparisons: the paths of programs and files, the number of rounds, and the output.
struct BenchmarkEnvironment {
    /// A folder on the disk to measure; it is removed when the run ends.
    let folder: String
    /// The `freshet` program.
    let program: String
    /// The folder with `fanout.c` and `limit.c`; `nil` if there is none.
    let sources: String?
    /// The program that serves Hummingbird's constant; `nil` where it could not be built.
    let hummingbird: String?
    /// The program that takes the way from device to device and computes nothing.
    let latencyFloor: String
    /// How often ours and the peer's are measured in turn.
    let rounds: Int
    /// The most records of the comparisons that fill a server.
    let records: Int
    /// Whether to use shorter loads, to try the program; their figures are not reliable.
    let isQuick: Bool

    var log: String { "\(folder)/log" }

    /// Seconds that a load lasts.
    func seconds(_ seconds: Double) -> Double { isQuick ? max(0.5, seconds / 4) : seconds }

    func output(of arguments: [String]) throws -> String { try ChildProcess.output(of: arguments, log: log) }

    func report(_ figure: Figure?) {
        guard let figure else { return }
        // Unbuffered, also into a pipe: a run lasts minutes.
        FileHandle.standardOutput.write(Data("\(figure.line)\n".utf8))
        guard let file = fopen("\(folder)/figures", "a") else { return }
        defer { fclose(file) }
        fputs("\(figure.line)\n", file)
    }

    /// Prints why a line is missing.
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

    /// Writes a file with this content and returns its path.
    func file(_ name: String, _ text: String) throws -> String {
        let path = "\(folder)/\(name)"
        try text.write(toFile: path, atomically: false, encoding: .utf8)
        return path
    }
}
