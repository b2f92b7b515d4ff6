import Foundation
import FreshetTestSupport
import Subprocess

/// The built `freshet`, run with real arguments.
struct Program: Sendable {
    /// The result of a run.
    struct Ending: Sendable {
        let status: Int32
        let output: String
        let error: String

        /// The lines of the output.
        var lines: [String] { output.split(separator: "\n").map(String.init) }
    }

    /// The program is in the folder of the test bundle, where the build puts both.
    static let path = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().path + "/freshet"

    /// The value of `FRESHET_SERVER`, if set.
    var server: String?

    /// Runs `freshet` until it exits.
    func callAsFunction(_ arguments: String..., input: String = "", variables: [String: String] = [:]) async throws -> Ending {
        try await self(arguments, input: input, variables: variables)
    }

    /// Runs `freshet` until it exits.
    func callAsFunction(_ arguments: [String], input: String = "", variables: [String: String] = [:]) async throws -> Ending {
        let result = try await run(
            .name("env"), arguments: Arguments([Self.path] + arguments), environment: environment(variables),
            input: .string(input), output: .string(limit: 64 << 20), error: .string(limit: 1 << 20))
        return Ending(
            status: Self.status(result.terminationStatus), output: result.standardOutput, error: result.standardError)
    }

    /// Runs a bash script until it exits.
    static func shell(_ script: String) async throws -> Ending {
        let result = try await run(
            .name("bash"), arguments: ["-c", script], output: .string(limit: 64 << 20), error: .string(limit: 1 << 20))
        return Ending(status: status(result.terminationStatus), output: result.standardOutput, error: result.standardError)
    }

    /// Runs `freshet` until it exits, with a terminal for its output and another for its errors, both without colours.
    func onTerminals(_ arguments: String...) async throws -> Ending { try await onTerminals(arguments) }

    /// Runs `freshet` until it exits, with a terminal for its output and another for its errors, both without colours.
    func onTerminals(_ arguments: [String]) async throws -> Ending {
        let (output, error) = (PseudoTerminal(), PseudoTerminal())
        async let printed = output.output()
        async let complained = error.output()
        let result = try await run(
            .name("env"), arguments: Arguments([Self.path] + arguments), environment: environment(["NO_COLOR": "1"]), input: .none,
            output: .fileDescriptor(output.program, closeAfterSpawningProcess: true),
            error: .fileDescriptor(error.program, closeAfterSpawningProcess: true))
        return Ending(
            status: Self.status(result.terminationStatus), output: String(decoding: await printed, as: UTF8.self),
            error: String(decoding: await complained, as: UTF8.self))
    }

    private func environment(_ variables: [String: String]) -> Subprocess.Environment {
        var environment: [Subprocess.Environment.Key: String?] = ["FRESHET_SERVER": server, "NO_COLOR": nil]
        for (name, value) in variables { environment[Subprocess.Environment.Key(rawValue: name) ?? "UNUSED"] = value }
        return .inherit.updating(environment)
    }

    private static func status(_ termination: TerminationStatus) -> Int32 {
        switch termination {
        case .exited(let code): Int32(code)
        case .signaled(let signal): -Int32(signal)
        }
    }
}
