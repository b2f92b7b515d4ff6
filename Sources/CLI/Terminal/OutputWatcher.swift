import Dispatch
import Glibc

/// Notices that the reader of standard output has gone while a command waits and writes nothing: in `freshet watch | head -1`, a write
/// would notice it only at the next change.
enum OutputWatcher {
    /// From now on, ends the program with success as soon as nobody reads its output any more. Does nothing if the output is neither
    /// a pipe nor a socket.
    static func start() {
        let output = StandardStream.output.rawValue
        guard isPipeOrSocket(output) else { return }
        // A thread that blocks, not a Dispatch source, for the reason that `StdinWatcher` gives.
        DispatchQueue(label: "freshet.output").async { @Sendable in
            if waitForLostReader(of: output) { _exit(ExitStatus.success.rawValue) }
        }
    }

    /// Blocks until nobody reads from a pipe or socket any more. Returns false if the system cannot say.
    static func waitForLostReader(of output: Int32) -> Bool {
        // Without events to wait for, poll(2) reports errors and the end of the connection alone.
        var descriptor = pollfd(fd: output, events: 0, revents: 0)
        while poll(&descriptor, 1, -1) < 0 { if errno != EINTR { return false } }
        return Int32(descriptor.revents) & (POLLERR | POLLHUP) != 0
    }

    private static func isPipeOrSocket(_ descriptor: Int32) -> Bool {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return false }
        return [S_IFIFO, S_IFSOCK].contains(status.st_mode & S_IFMT)
    }
}
