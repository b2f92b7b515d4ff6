internal import Glibc

/// Directories together with those above them.
package enum DirectoryTree {
    /// Creates the directory and each missing one above it, as `mkdir -p` does, with access for this user only.
    ///
    /// - Throws: ``SystemFailure`` with the level that could not be created. A level that exists is no failure, also
    ///   where the user may only pass through it.
    package static func create(_ directory: String) throws(SystemFailure) {
        var path = directory.hasPrefix("/") ? "" : "."
        for part in directory.split(separator: "/") {
            path += "/" + part
            guard mkdir(path, 0o700) != 0, errno != EEXIST else { continue }
            let code = errno
            guard access(path, F_OK) != 0 else { continue }
            throw SystemFailure(code: code, path: path)
        }
    }
}
