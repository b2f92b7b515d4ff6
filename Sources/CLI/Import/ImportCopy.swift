import Glibc

/// A copy of a source that cannot be read twice, such as a pipe: an unnamed file, which is freed when the process ends.
///
/// The copy is made while the source is read for the first time. So the source is read no further than to the first error.
final class ImportCopy {
    /// The descriptor of the file. The owner of the copy closes it.
    let file: Int32

    private let source: Int32
    /// The name of the source in errors.
    private let name: String
    /// The folder of the file.
    private let folder: String
    private var isAtEnd = false

    /// Makes an empty file.
    /// - Parameter source: the descriptor of the source, which the copy closes unless this fails.
    init(of source: Int32, named name: String, _ environment: Environment) throws(CommandFailure) {
        let folder = environment.value(of: "TMPDIR") ?? "/tmp"
        var template = Array("\(folder)/freshet-import-XXXXXX".utf8CString)
        let file = mkstemp(&template)
        guard file >= 0 else {
            throw CommandFailure(.cannotCreate, "cannot make a file in \(folder) for a copy of \(name): \(systemReason()). Set TMPDIR")
        }
        unlink(template)
        _ = fcntl(file, F_SETFD, FD_CLOEXEC)
        (self.file, self.source, self.name, self.folder) = (file, source, name, folder)
    }

    deinit { close(source) }

    /// Reads the next piece of the source and appends it to the file. A piece is shorter than `size` at the end only, and then empty.
    func next(_ size: Int) throws(CommandFailure) -> [UInt8] {
        guard !isAtEnd else { return [] }
        var piece = [UInt8](repeating: 0, count: size)
        var filled = 0
        while filled < size {
            let count = piece.withUnsafeMutableBytes { memory in
                read(source, UnsafeMutableRawBufferPointer(rebasing: memory[filled...]).baseAddress, size - filled)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw CommandFailure(.noInput, "cannot read \(name): \(systemReason())") }
            isAtEnd = count == 0
            if isAtEnd { break }
            filled += count
        }
        piece.removeLast(size - filled)
        guard Self.write(piece[...], to: file) else {
            throw CommandFailure(
                .inputOutput, "cannot copy \(name) to \(folder): \(systemReason()). Set TMPDIR to a folder with more room")
        }
        return piece
    }

    private static func write(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 { rest = rest.dropFirst(count) } else if errno != EINTR { return false }
        }
        return true
    }
}
