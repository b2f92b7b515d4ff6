import Glibc

/// Reads the last lines of a file, and then those that are appended to it, also after the file was renamed or cut off.
/// Every call may block on the disk.
struct LogTail: ~Copyable {
    /// Longer lines are shown in pieces.
    static let longestLine = 64 << 10

    private let path: String
    private var descriptor: Int32
    /// The place from which the next call reads.
    private var offset: off_t = 0
    private var partial: [UInt8] = []

    init(_ path: String) throws(CommandFailure) {
        self.path = path
        descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw CommandFailure(.noInput, "cannot read \(path): \(systemReason())") }
    }

    deinit { close(descriptor) }

    /// The last complete lines of the file, at most `count`. Reads no more than it returns and one block.
    mutating func last(_ count: Int) throws(CommandFailure) -> [[UInt8]] {
        let size = try status().st_size
        var (start, feeds) = (size, 0)
        let block: off_t = 64 << 10
        // One line feed more than lines: that before the first.
        while start > 0, feeds <= count {
            let length = min(start, block)
            start -= length
            feeds += try read(from: start, atMost: Int(length)).count { $0 == UInt8(ascii: "\n") }
        }
        offset = start
        var lines: [[UInt8]] = []
        while offset < size {
            let before = offset
            lines += try appended()
            if offset == before { break }
            if lines.count > 2 * count { lines.removeFirst(lines.count - count) }
        }
        return Array(lines.suffix(count))
    }

    /// The complete lines of the next block after the place of the last call; empty if there is nothing new.
    mutating func appended() throws(CommandFailure) -> [[UInt8]] {
        var bytes = try read(from: offset, atMost: 64 << 10)
        if bytes.isEmpty {
            guard try reopen() else { return [] }
            bytes = try read(from: offset, atMost: 64 << 10)
        }
        offset += off_t(bytes.count)
        partial += bytes
        var lines = partial.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { Array($0) }
        partial = lines.popLast() ?? []
        if partial.count > Self.longestLine {
            lines.append(partial)
            partial = []
        }
        return lines.filter { !$0.isEmpty }
    }

    /// Goes on with the file that has the path now, or from the start of one that was cut off. Returns whether there may be more
    /// to read.
    ///
    /// A rotation makes the other file before the server writes to it: until then the server appends to the present one.
    private mutating func reopen() throws(CommandFailure) -> Bool {
        let present = try status()
        var named = stat()
        if stat(path, &named) == 0, named.st_ino != present.st_ino || named.st_dev != present.st_dev {
            guard named.st_size > 0 else { return false }
            // Lines that were appended before the first one of the other file.
            guard try read(from: offset, atMost: 1).isEmpty else { return true }
            let other = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
            guard other >= 0 else { return false }
            close(descriptor)
            (descriptor, offset, partial) = (other, 0, [])
            return true
        }
        guard present.st_size < offset else { return false }
        (offset, partial) = (0, [])
        return true
    }

    private func status() throws(CommandFailure) -> stat {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw CommandFailure(.inputOutput, "cannot read \(path): \(systemReason())") }
        guard status.st_mode & S_IFMT == S_IFREG else { throw CommandFailure(.noInput, "\(path) is no file: name that of the audit log") }
        return status
    }

    private func read(from start: off_t, atMost count: Int) throws(CommandFailure) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: count)
        while true {
            let found = buffer.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, count, start) }
            if found >= 0 { return Array(buffer.prefix(found)) }
            guard errno == EINTR else { throw CommandFailure(.inputOutput, "cannot read \(path): \(systemReason())") }
        }
    }
}
