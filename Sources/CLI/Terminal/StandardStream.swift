import Glibc

/// Standard output or standard error, unbuffered: a reader of a pipe sees each line when it is printed.
enum StandardStream: Int32, Sendable {
    case output = 1
    case error = 2

    /// Whether the stream is a terminal.
    var isTerminal: Bool { isatty(rawValue) == 1 }

    /// Prints a line as it is. Text from others goes through ``visible(_:)`` first.
    func printLine(_ line: String) { write(Array((line + "\n").utf8)) }

    /// Text from others, as a part of a line: on a terminal with visible escapes, elsewhere as it is.
    func visible(_ text: String) -> String { isTerminal ? TerminalText.escaped(text, as: .line) : text }

    /// Prints an object as one line: line breaks, which JSON has between tokens only, become spaces. On a terminal,
    /// characters that would control it are escaped.
    func printJSON(_ json: [UInt8]) {
        let line = json.map { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") ? UInt8(ascii: " ") : $0 }
        write((isTerminal ? TerminalText.escaped(line, as: .json) : line) + [UInt8(ascii: "\n")])
    }

    /// Prints a value: to a file or a pipe its bytes as they are; to a terminal with visible escapes and a line break,
    /// so that a prompt starts on a new line.
    func printValue(_ value: [UInt8]) {
        guard isTerminal else { return write(value) }
        var text = TerminalText.escaped(value, as: .value)
        if text.last != UInt8(ascii: "\n") { text.append(UInt8(ascii: "\n")) }
        write(text)
    }

    /// Writes all of `bytes`.
    ///
    /// A failure of standard output ends the program: quietly and with the status of SIGPIPE if the reader has gone, else with the
    /// reason. A failure of standard error changes neither what a command does nor its status, so the rest is dropped.
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
                let code = errno
                guard self == .output else { return }
                if code == EPIPE { _exit(128 + SIGPIPE) }
                Self.error.write(Array("error: cannot write to standard output: \(String(cString: strerror(code)))\n".utf8))
                _exit(ExitStatus.inputOutput.rawValue)
            }
        }
    }

    /// The width of the terminal in characters, 80 if unknown.
    var width: Int {
        var size = winsize()
        guard ioctl(rawValue, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }
}
