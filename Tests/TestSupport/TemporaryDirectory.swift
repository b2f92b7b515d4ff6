import Glibc

/// A directory for one test, removed with its contents when it is released.
package final class TemporaryDirectory: Sendable {
    package let path: String

    package init() {
        var template = Array("/tmp/freshet-test-XXXXXX".utf8CString)
        path = template.withUnsafeMutableBufferPointer { buffer in
            buffer.baseAddress.flatMap { mkdtemp($0) }.map { String(cString: $0) } ?? ""
        }
        precondition(!path.isEmpty, "no temporary directory")
    }

    deinit {
        chmod(path, 0o700)
        Self.remove(path)
    }

    package func file(_ name: String) -> String { "\(path)/\(name)" }

    /// The names of its files, sorted.
    package var files: [String] { Self.names(in: path).sorted() }

    package func write(_ bytes: [UInt8], to name: String, at offset: Int = 0) {
        let descriptor = open(file(name), O_WRONLY | O_CREAT, 0o600)
        _ = pwrite(descriptor, bytes, bytes.count, offset)
        close(descriptor)
    }

    package func remove(_ name: String) { Self.remove(file(name)) }

    private static func remove(_ path: String) {
        // A file, or a link wherever it leads.
        if unlink(path) == 0 { return }
        for name in names(in: path) { remove("\(path)/\(name)") }
        rmdir(path)
    }

    /// The names in a directory; empty if `path` is not a directory.
    private static func names(in path: String) -> [String] {
        guard let directory = opendir(path) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}
