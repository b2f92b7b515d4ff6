import Glibc

/// A directory of one test's own, removed with what is in it when the test lets go of it.
final class TemporaryDirectory: Sendable {
    let path: String

    init() {
        var template = Array("/tmp/freshet-server-XXXXXX".utf8CString)
        path = template.withUnsafeMutableBufferPointer { buffer in
            buffer.baseAddress.flatMap { mkdtemp($0) }.map { String(cString: $0) } ?? ""
        }
        precondition(!path.isEmpty, "no temporary directory")
    }

    deinit { Self.remove(path) }

    func file(_ name: String) -> String { "\(path)/\(name)" }

    func write(_ bytes: [UInt8], to name: String, at offset: Int = 0) {
        let descriptor = open(file(name), O_WRONLY | O_CREAT, 0o600)
        _ = pwrite(descriptor, bytes, bytes.count, offset)
        close(descriptor)
    }

    private static func remove(_ path: String) {
        guard let directory = opendir(path) else {
            unlink(path)
            return
        }
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != "." && name != ".." { remove("\(path)/\(name)") }
        }
        closedir(directory)
        rmdir(path)
    }
}
