import Dispatch
import Glibc
import Synchronization

/// A child process that this process started and is responsible for.
///
/// Its standard input is a pipe that nobody writes to and that closes when this process ends, in whatever way: a child
/// that stops at the end of its input never outlives us. The child leads a separate process group, so that Ctrl-C
/// reaches it only through us.
final class ChildProcess: Sendable {
    /// How the process ended.
    enum Ending: Hashable, Sendable {
        case exited(Int32)
        case signalled(Int32)
    }

    let identifier: pid_t
    /// The lines that the child prints, until it has closed its output.
    let lines: AsyncStream<String>
    private let input: Int32
    private let state = Mutex(State())

    // Between the making of a pipe and its mark "close on exec", no other child may start: it would keep the pipe open.
    private static let starting = Mutex(())

    private struct State {
        var ending: Ending?
        var waiters: [CheckedContinuation<Ending, Never>] = []
    }

    /// Starts `executable`; its standard error is ours.
    /// - Throws: ``CommandFailure`` with the system's own reason.
    init(executable: String, arguments: [String]) throws(CommandFailure) {
        let started = Self.starting.withLock { _ in Result { () throws(CommandFailure) in try Self.start(executable, arguments) } }
        let output: Int32
        (identifier, input, output) = try started.get()
        let (lines, continuation) = AsyncStream.makeStream(of: String.self)
        self.lines = lines
        // Both block until the child acts, hence a thread each from Dispatch, none from the cooperative pool.
        DispatchQueue(label: "freshet.child.output").async { @Sendable in Self.read(output, into: continuation) }
        DispatchQueue(label: "freshet.child.ending").async { @Sendable in self.awaitEnding() }
    }

    /// Sends a signal, unless the process has ended already.
    func send(_ signal: Int32) {
        // Under the lock: once the child is reaped, its identifier can belong to another process.
        state.withLock { if $0.ending == nil { kill(identifier, signal) } }
    }

    /// Waits until the process has ended.
    func ending() async -> Ending {
        await withCheckedContinuation { continuation in
            let ending = state.withLock { state in
                if state.ending == nil { state.waiters.append(continuation) }
                return state.ending
            }
            if let ending { continuation.resume(returning: ending) }
        }
    }

    private func awaitEnding() {
        // `WNOWAIT` reports the end without reaping the child, so that the identifier stays the child's until the lock
        // is held.
        var information = siginfo_t()
        while waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        let (ending, waiters) = state.withLock { state in
            var status: Int32 = 0
            while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
            let ending: Ending = status & 0x7F == 0 ? .exited((status >> 8) & 0xFF) : .signalled(status & 0x7F)
            state.ending = ending
            defer { state.waiters = [] }
            return (ending, state.waiters)
        }
        close(input)
        for waiter in waiters { waiter.resume(returning: ending) }
    }

    private static func read(_ descriptor: Int32, into lines: AsyncStream<String>.Continuation) {
        var pending: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = buffer.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            pending.append(contentsOf: buffer[..<count])
            while let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
                lines.yield(String(decoding: pending[..<end], as: UTF8.self))
                pending.removeSubrange(...end)
            }
        }
        if !pending.isEmpty { lines.yield(String(decoding: pending, as: UTF8.self)) }
        lines.finish()
        close(descriptor)
    }
}
