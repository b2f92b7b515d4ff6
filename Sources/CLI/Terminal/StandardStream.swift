import Glibc

/// Standard output or standard error, written to at once: a reader of a pipe sees each line when it is printed.
enum StandardStream: Int32, Sendable {
    case output = 1
    case error = 2

    /// Whether a person is looking.
    var isTerminal: Bool { isatty(rawValue) == 1 }

    func printLine(_ line: String) { write(Array((line + "\n").utf8)) }

    /// Writes all of `bytes`. A reader that has gone ends the program quietly, as SIGPIPE would.
    func write(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(rawValue, $0.baseAddress, $0.count) }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                var descriptor = pollfd(fd: rawValue, events: Int16(POLLOUT), revents: 0)
                _ = poll(&descriptor, 1, -1)
            } else if errno != EINTR {
                _exit(errno == EPIPE ? 0 : ExitStatus.inputOutput.rawValue)
            }
        }
    }

    /// The width of the terminal in characters, 80 where it is unknown.
    var width: Int {
        var size = winsize()
        guard ioctl(rawValue, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }
}
