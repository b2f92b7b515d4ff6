import Glibc

/// A child process that ends with this process, in whatever way this one ends: a shell between the two waits for the
/// end of a pipe that only this process holds. The shell outlives the signals of a terminal, since the program may
/// ignore them.
final class ChildProcess {
    /// The program's own process, to read its memory and its processor time from.
    private(set) var identifier: Int32 = 0
    private var shell: Int32 = 0
    private var input: Int32 = -1
    private var output: Int32 = -1
    private var buffer: [UInt8] = []

    /// Starts the program, found by PATH. Its standard error goes to the file `log`.
    init(_ arguments: [String], log: String) throws {
        let script = """
            trap : HUP INT TERM
            log=$1; shift
            exec 2>>"$log"
            sh -c 'echo $$; exec "$@"' sh "$@" </dev/null &
            child=$!
            exec >&-
            cat >/dev/null
            kill "$child" 2>/dev/null
            wait "$child"
            """
        let (inputEnd, ours) = try Self.pipe()
        let (outputEnd, theirs) = try Self.pipe()
        (input, output) = (ours, outputEnd)
        defer {
            close(inputEnd)
            close(theirs)
        }
        shell = try Self.spawn(["sh", "-c", script, "sh", log] + arguments, input: inputEnd, output: theirs)
        guard let line = readLine(), let number = Int32(line) else { throw BenchError.ended(arguments[0], log: log) }
        identifier = number
    }

    deinit { stop() }

    /// The next line of its standard output; `nil` at its end.
    func readLine() -> String? {
        while true {
            if let end = buffer.firstIndex(of: 10) {
                defer { buffer.removeSubrange(...end) }
                return String(decoding: buffer[..<end], as: UTF8.self)
            }
            guard readMore() else { return nil }
        }
    }

    /// The remaining standard output.
    func readAll() -> String {
        while readMore() {}
        defer { buffer = [] }
        return String(decoding: buffer, as: UTF8.self)
    }

    /// Ends the program, by `SIGTERM` and after five seconds by `SIGKILL`, and waits until it has ended. Returns the
    /// exit status at the first call; 0 at later ones.
    @discardableResult
    func stop() -> Int32 {
        guard shell > 0 else { return 0 }
        close(input)
        var status: Int32 = 0
        let end = ContinuousClock.now + .seconds(5)
        while waitpid(shell, &status, WNOHANG) == 0 {
            if ContinuousClock.now >= end, identifier > 0 { Glibc.kill(identifier, SIGKILL) }
            usleep(1_000)
        }
        close(output)
        shell = 0
        return status & 0x7f == 0 ? (status >> 8) & 0xff : 128 + (status & 0x7f)
    }

    /// Ends the program by `SIGKILL`.
    func kill() {
        if identifier > 0 { Glibc.kill(identifier, SIGKILL) }
        stop()
    }

    /// Runs a program until it exits, within two minutes, and returns its standard output.
    static func output(of arguments: [String], log: String) throws -> String {
        // The end of its input must not end the program: so its output is read first, and `stop` is then no more than a
        // wait.
        let child = try ChildProcess(["timeout", "120"] + arguments, log: log)
        let text = child.readAll()
        guard child.stop() == 0 else { throw BenchError.ended(arguments[0], log: log) }
        return text
    }

    private func readMore() -> Bool {
        var scratch = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = scratch.withUnsafeMutableBytes { read(output, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            buffer += scratch[..<count]
            return true
        }
    }

    /// Two ends that no other child inherits, or the pipe would outlive this process.
    private static func pipe() throws -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [0, 0]
        guard Glibc.pipe(&ends) == 0 else { throw LoadError.system("pipe", errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    private static func spawn(_ arguments: [String], input: Int32, output: Int32) throws -> Int32 {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        // Threads of Swift's pool block signals, and this program ignores SIGPIPE: a child would inherit both, and
        // ignore SIGTERM.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigaddset(&signals, SIGPIPE)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var words = arguments.map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var identifier: Int32 = 0
        let code = posix_spawnp(&identifier, arguments[0], &actions, &attributes, &words, environ)
        guard code == 0 else { throw LoadError.system("start \(arguments[0])", code) }
        return identifier
    }
}

/// The reason why a comparison cannot be made.
enum BenchError: Error, CustomStringConvertible {
    /// A program ended too early, or failed: its last messages are in the file.
    case ended(String, log: String)
    /// A server did not answer within ten seconds.
    case notReady(String)
    /// A load's report is not in the expected format.
    case noFigure(String, String)
    /// A program or file that the comparison needs is missing.
    case missing(String)

    var description: String {
        switch self {
        case .ended(let program, let log): "\(program) failed: \(Self.tail(of: log))"
        case .notReady(let program): "\(program) did not answer within ten seconds"
        case .noFigure(let program, let text): "\(program) reported no figures, or errors: \(text.suffix(600))"
        case .missing(let what): what
        }
    }

    private static func tail(of log: String) -> String {
        guard let file = fopen(log, "r") else { return "it said nothing" }
        defer { fclose(file) }
        var lines: [String] = []
        var line = [CChar](repeating: 0, count: 1_024)
        while fgets(&line, Int32(line.count), file) != nil {
            lines.append(String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
        }
        return lines.suffix(5).joined()
    }
}
