import Glibc

/// Whether a file exists.
func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

/// A file's bytes; empty if it cannot be read.
func read(_ path: String) -> [UInt8] {
    let descriptor = open(path, O_RDONLY)
    guard descriptor >= 0 else { return [] }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while case let count = read(descriptor, &buffer, buffer.count), count > 0 { bytes += buffer[..<count] }
    return bytes
}

/// Writes bytes into an existing file.
func overwrite(_ path: String, with bytes: [UInt8], at offset: Int = 0) {
    let descriptor = open(path, O_WRONLY)
    _ = pwrite(descriptor, bytes, bytes.count, offset)
    close(descriptor)
}

/// The paths of all files beneath a directory, sorted.
func files(beneath path: String) -> [String] {
    guard let directory = opendir(path) else { return [path] }
    defer { closedir(directory) }
    var found: [String] = []
    while let entry = readdir(directory) {
        let name = withUnsafePointer(to: &entry.pointee.d_name) {
            $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        if name != ".", name != ".." { found += files(beneath: "\(path)/\(name)") }
    }
    return found.sorted()
}

/// Removes a file, or a directory with its content.
func removeTree(_ path: String) {
    if unlink(path) == 0 { return }
    for file in files(beneath: path) where file != path { unlink(file) }
    var folders = [path]
    while let folder = folders.last {
        guard rmdir(folder) != 0, errno == ENOTEMPTY, let directory = opendir(folder) else {
            folders.removeLast()
            continue
        }
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { folders.append("\(folder)/\(name)") }
        }
        closedir(directory)
    }
}
