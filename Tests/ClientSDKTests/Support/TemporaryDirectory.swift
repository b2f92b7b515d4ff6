import Glibc

/// A directory of one test's own, removed with its files when the test lets go of it.
final class TemporaryDirectory: Sendable {
    let path: String

    init() {
        var template = Array("/tmp/freshet-client-XXXXXX".utf8CString)
        path = template.withUnsafeMutableBufferPointer { buffer in
            buffer.baseAddress.flatMap { mkdtemp($0) }.map { String(cString: $0) } ?? ""
        }
        precondition(!path.isEmpty, "no temporary directory")
    }

    deinit {
        chmod(path, 0o700)
        for name in files { unlink(file(name)) }
        rmdir(path)
    }

    func file(_ name: String) -> String { "\(path)/\(name)" }

    /// The names of the files in it, sorted.
    var files: [String] {
        guard let directory = opendir(path) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    func write(_ bytes: [UInt8], to name: String, at offset: Int = 0) {
        let descriptor = open(file(name), O_WRONLY | O_CREAT, 0o600)
        _ = pwrite(descriptor, bytes, bytes.count, off_t(offset))
        close(descriptor)
    }
}
