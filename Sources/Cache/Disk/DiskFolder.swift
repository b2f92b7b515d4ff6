internal import Glibc

/// Names, bytes and removal of files, by the system's own calls.
enum DiskFolder {
    /// Makes a directory unless it is there: the `errno` of a failure, or 0.
    static func make(_ path: String) -> Int32 { mkdir(path, 0o700) == 0 || errno == EEXIST ? 0 : errno }

    /// The names in a directory, without `.` and `..`; `nil` if it cannot be listed.
    static func names(in path: String) -> [String]? {
        guard let directory = opendir(path) else { return nil }
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

    /// Whether there is something of this name.
    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// The bytes of all files beneath a path. Links are not followed.
    static func bytes(_ path: String) -> Int {
        var status = stat()
        guard lstat(path, &status) == 0 else { return 0 }
        guard status.st_mode & S_IFMT == S_IFDIR else { return Int(status.st_size) }
        return (names(in: path) ?? []).reduce(0) { $0 + bytes(path + "/" + $1) }
    }

    /// The first bytes of a file; `nil` if it cannot be read.
    static func read(_ path: String, limit: Int) -> [UInt8]? {
        let opened = open(path, O_RDONLY | O_CLOEXEC)
        guard opened >= 0 else { return nil }
        defer { close(opened) }
        var bytes = [UInt8](repeating: 0, count: limit)
        var filled = 0
        while filled < limit {
            let count = bytes.withUnsafeMutableBytes { Glibc.read(opened, $0.baseAddress.map { $0 + filled }, limit - filled) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            filled += count
        }
        bytes.removeLast(limit - filled)
        return bytes
    }

    /// Removes a file, or a directory with all that is in it. Links are removed, not followed.
    ///
    /// - Returns: the `errno` of the first failure, or 0.
    @discardableResult
    static func remove(_ path: String) -> Int32 {
        if unlink(path) == 0 || errno == ENOENT { return 0 }
        let failure = errno
        guard failure == EISDIR || failure == EPERM, let names = names(in: path) else { return failure }
        var first: Int32 = 0
        for name in names {
            let code = remove(path + "/" + name)
            if first == 0 { first = code }
        }
        guard rmdir(path) != 0, errno != ENOENT else { return first }
        return first == 0 ? errno : first
    }
}
