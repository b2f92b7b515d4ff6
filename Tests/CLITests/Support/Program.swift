import Foundation
import Subprocess

/// The built `freshet`, run with real arguments.
struct Program: Sendable {
    /// What a run left behind.
    struct Ending: Sendable {
        let status: Int32
        let output: String
        let error: String

        /// The lines of the output.
        var lines: [String] { output.split(separator: "\n").map(String.init) }
    }

    /// Beside the test bundle, where the build puts both.
    static let path = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().path + "/freshet"

    /// What `FRESHET_SERVER` says, if anything.
    var server: String?

    /// Runs `freshet` to its end.
    func callAsFunction(_ arguments: String..., input: String = "", variables: [String: String] = [:]) async throws -> Ending {
        try await self(arguments, input: input, variables: variables)
    }

    /// Runs `freshet` to its end.
    func callAsFunction(_ arguments: [String], input: String = "", variables: [String: String] = [:]) async throws -> Ending {
        var environment: [Environment.Key: String?] = ["FRESHET_SERVER": server, "NO_COLOR": nil]
        for (name, value) in variables { environment[Environment.Key(rawValue: name) ?? "UNUSED"] = value }
        let result = try await run(
            .name("env"), arguments: Arguments([Self.path] + arguments), environment: .inherit.updating(environment),
            input: .string(input), output: .string(limit: 64 << 20), error: .string(limit: 1 << 20))
        return Ending(
            status: Self.status(result.terminationStatus), output: result.standardOutput, error: result.standardError)
    }

    private static func status(_ termination: TerminationStatus) -> Int32 {
        switch termination {
        case .exited(let code): Int32(code)
        case .signaled(let signal): -Int32(signal)
        }
    }
}
