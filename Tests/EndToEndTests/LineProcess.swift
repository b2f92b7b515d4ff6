import FreshetTestSupport
import Subprocess

/// A program that a test drives by the lines of its standard input and output. It is killed when the test releases it.
final class LineProcess {
    private enum Step: Sendable {
        case line(String)
        case kill
    }

    /// All lines read so far.
    private(set) var seen: [String] = []
    /// The number of lines that came before the last line sent, and so answer an earlier one.
    private var answered = 0
    private let name: String
    private let steps: AsyncStream<Step>.Continuation
    private var lines: AsyncStream<String>.AsyncIterator
    private let endLines: @Sendable () -> Void
    private let process: Task<TerminationStatus, any Error>

    init(_ name: String, _ executable: Executable, _ arguments: Arguments) {
        let (steps, toProcess) = AsyncStream.makeStream(of: Step.self)
        let (lines, fromProcess) = AsyncStream.makeStream(of: String.self)
        self.name = name
        self.steps = toProcess
        self.lines = lines.makeAsyncIterator()
        endLines = { fromProcess.finish() }
        process = Task {
            defer { fromProcess.finish() }
            let ending = try await run(
                executable, arguments: arguments, input: .inputWriter, output: .sequence, error: .discarded
            ) { execution in
                async let writing: Void = {
                    for await step in steps {
                        switch step {
                        case .line(let line): _ = try await execution.standardInputWriter.write(line + "\n")
                        case .kill: try execution.send(signal: .kill)
                        }
                    }
                }()
                for try await line in execution.standardOutput.strings() { fromProcess.yield(line) }
                toProcess.finish()
                // A program that has just ended accepts no more lines.
                _ = try? await writing
            }
            return ending.terminationStatus
        }
    }

    deinit { process.cancel() }

    /// Sends a line. The line expected next must come after those read so far.
    func send(_ line: String) {
        answered = seen.count
        steps.yield(.line(line))
    }

    /// Waits for a line that satisfies the condition, among those since the last line sent.
    /// - Throws: ``CommandFailure`` with all lines, if the output or 120 seconds end first.
    @discardableResult
    func line(_ what: String, where condition: (String) -> Bool) async throws -> String {
        if let line = seen[answered...].first(where: condition) { return line }
        let deadline = Task { [endLines] in
            try await Task.sleep(for: .seconds(120))
            endLines()
        }
        defer { deadline.cancel() }
        while let line = await lines.next() {
            seen.append(line)
            if condition(line) { return line }
        }
        throw CommandFailure(description: "\(name) has not printed \(what):\n\(seen.joined(separator: "\n"))")
    }

    /// Waits for this line.
    func expect(_ line: String) async throws { try await self.line("'\(line)'") { $0 == line } }

    /// Waits for a line that begins with this.
    @discardableResult
    func expect(prefix: String) async throws -> String { try await line("'\(prefix)…'") { $0.hasPrefix(prefix) } }

    /// Kills the program with `SIGKILL`.
    func kill() async throws {
        steps.yield(.kill)
        let status = try await ended()
        guard case .signaled = status else { throw CommandFailure(description: "\(name) ended by itself: \(status)") }
    }

    /// Reads the remaining output, and waits until the program has ended.
    @discardableResult
    func ended() async throws -> TerminationStatus {
        while let line = await lines.next() { seen.append(line) }
        return try await process.value
    }
}
