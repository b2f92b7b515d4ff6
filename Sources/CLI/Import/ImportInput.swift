import FreshetPlatform
import Glibc

/// The file that is imported, read piece by piece and more than once.
///
/// A source that cannot be read twice, such as a pipe, is copied to a file while it is read for the first time.
final class ImportInput {
    /// The most bytes of one line, or one row: a value of 16 MiB in base64 and what stands around it.
    static let lineLimit = 32 << 20
    private static let pieceSize = 256 << 10

    /// The name of the file in errors.
    let name: String
    /// The number of the line that ``line()`` last returned, counted from 1.
    private(set) var lineNumber = 0
    /// The hash of all bytes that were read from the file since the last ``rewind()``.
    private(set) var hash = FNV1a()

    private let descriptor: Int32
    private let start: off_t
    /// The file's metadata at the beginning; `nil` for a copy, which no other process can change.
    private let state: State?
    /// The copy whose file is read; `nil` if the file itself is.
    private let copy: ImportCopy?
    private var offset: off_t
    private var buffer: [UInt8] = []
    /// The index in `buffer` of the next byte.
    private var index = 0

    /// The file's metadata, which a change of the file alters.
    private struct State: Hashable {
        let size: off_t
        let seconds: time_t
        let nanoseconds: Int

        init(_ file: stat) {
            size = file.st_size
            seconds = file.st_mtim.tv_sec
            nanoseconds = file.st_mtim.tv_nsec
        }
    }

    /// Opens a file; `-` is standard input.
    init(path: String, environment: Environment = .current) throws(CommandFailure) {
        name = path == "-" ? "standard input" : path
        let opened = path == "-" ? dup(0) : open(try AbsolutePath(argument: path).text, O_RDONLY | O_CLOEXEC)
        guard opened >= 0 else { throw CommandFailure(.noInput, "cannot read \(name): \(systemReason())") }
        var file = stat()
        guard fstat(opened, &file) == 0 else {
            let reason = systemReason()
            close(opened)
            throw CommandFailure(.noInput, "cannot read \(name): \(reason)")
        }
        if file.st_mode & S_IFMT == S_IFREG {
            (descriptor, copy, state) = (opened, nil, State(file))
            start = max(0, lseek(opened, 0, SEEK_CUR))
        } else {
            let made: ImportCopy
            do throws(CommandFailure) {
                made = try ImportCopy(of: opened, named: name, environment)
            } catch {
                close(opened)
                throw error
            }
            (descriptor, copy, state) = (made.file, made, nil)
            start = 0
        }
        offset = start
    }

    deinit { close(descriptor) }

    // MARK: Reading

    /// Rewinds to the first byte.
    func rewind() {
        offset = start
        buffer = []
        index = 0
        lineNumber = 0
        hash = FNV1a()
    }

    /// The next line, without its line feed; `nil` after the last. A byte order mark before the first is left out.
    func line() throws(CommandFailure) -> [UInt8]? {
        var line: [UInt8] = []
        var isFound = false
        while !isFound, try fill() {
            let rest = buffer[index...]
            let end = Self.firstLineFeed(in: rest)
            isFound = end != nil
            line += rest[..<(end ?? rest.endIndex)]
            index = end.map { $0 + 1 } ?? rest.endIndex
            guard line.count <= Self.lineLimit else {
                throw CommandFailure(.data, "line \(lineNumber + 1) of \(name) has more than \(grouped(Self.lineLimit)) bytes")
            }
        }
        guard isFound || !line.isEmpty else { return nil }
        lineNumber += 1
        return line
    }

    /// The next byte; `nil` after the last.
    @inline(__always)
    func byte() throws(CommandFailure) -> UInt8? {
        if index == buffer.count, try !fill() { return nil }
        defer { index += 1 }
        return buffer[index]
    }

    /// The remaining bytes.
    func all() throws(CommandFailure) -> [UInt8] {
        var bytes: [UInt8] = []
        while try fill() {
            bytes += buffer[index...]
            index = buffer.count
        }
        return bytes
    }

    /// - Throws: ``CommandFailure`` if the file was changed since it was opened.
    func checkUnchanged() throws(CommandFailure) {
        guard let state else { return }
        var file = stat()
        guard fstat(descriptor, &file) == 0, State(file) == state else {
            throw CommandFailure(.data, "\(name) was changed while it was imported: import it again")
        }
    }

    /// Ensures that `buffer` has a next byte.
    /// - Returns: `false` at the end of the file.
    private func fill() throws(CommandFailure) -> Bool {
        guard index == buffer.count else { return true }
        var count = 0
        repeat {
            buffer = Array(unsafeUninitializedCapacity: Self.pieceSize) { memory, initialized in
                count = pread(descriptor, memory.baseAddress, memory.count, offset)
                initialized = max(0, count)
            }
        } while count < 0 && errno == EINTR
        guard count >= 0 else { throw CommandFailure(.noInput, "cannot read \(name): \(systemReason())") }
        if count == 0, let copy {
            buffer = try copy.next(Self.pieceSize)
            count = buffer.count
        }
        index = 0
        let isFirst = offset == start
        offset += off_t(count)
        hash.add(buffer)
        if isFirst, buffer.starts(with: [0xEF, 0xBB, 0xBF]) { index = 3 }
        if index == buffer.count, count > 0 { return try fill() }
        return count > 0
    }

    private static func firstLineFeed(in bytes: ArraySlice<UInt8>) -> Int? {
        bytes.withUnsafeBytes { memory in
            guard let base = memory.baseAddress, let found = memchr(base, 0x0A, memory.count) else { return nil }
            return bytes.startIndex + (UnsafeRawPointer(found) - base)
        }
    }
}
