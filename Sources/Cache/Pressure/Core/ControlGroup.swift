/// The directories of a process's control groups, by `/proc/self/cgroup` and `/proc/self/mountinfo`; see
/// <https://man7.org/linux/man-pages/man7/cgroups.7.html>.
struct ControlGroup: Hashable, Sendable {
    /// The process's directory first, then its visible ancestors. The limits of all of them apply to the process.
    let directories: [String]

    /// The control group of version 2; nil if there is none.
    static func unified(groups: String, mounts: String) -> ControlGroup? {
        guard let path = path(in: groups, of: { $0.isEmpty }) else { return nil }
        return find(path, mounts) { type, _ in type == "cgroup2" }
    }

    /// The control group of version 1 that counts memory; nil if there is none.
    static func legacyMemory(groups: String, mounts: String) -> ControlGroup? {
        guard let path = path(in: groups, of: { $0.split(separator: ",").contains("memory") }) else { return nil }
        return find(path, mounts) { type, options in type == "cgroup" && options.split(separator: ",").contains("memory") }
    }

    /// A line of `/proc/self/cgroup` is `number:controllers:path`.
    private static func path(in groups: String, of isWanted: (Substring) -> Bool) -> String? {
        for line in groups.split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            if parts.count == 3, isWanted(parts[1]) { return String(parts[2]) }
        }
        return nil
    }

    /// A line of `/proc/self/mountinfo` is `36 35 98:0 root point options … - type source options`.
    private static func find(_ path: String, _ mounts: String, where isWanted: (Substring, Substring) -> Bool) -> ControlGroup? {
        for line in mounts.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count >= 10, let dash = words.firstIndex(of: "-"), dash >= 6, words.count > dash + 3,
                isWanted(words[dash + 1], words[dash + 3])
            else { continue }
            return ControlGroup(path: path, root: unescaped(words[3]), point: unescaped(words[4]))
        }
        return nil
    }

    /// - Parameters:
    ///   - root: the group that is mounted: a container often sees only its own.
    ///   - point: the mount point.
    private init(path: String, root: String, point: String) {
        let (path, root) = (Self.names(path), Self.names(root))
        // If the group is outside of the mounted one, the mounted one is the nearest that is visible.
        var rest = path.starts(with: root) && !path.contains("..") ? Array(path.dropFirst(root.count)) : []
        var directories: [String] = []
        let point = point == "/" ? "" : point
        while true {
            directories.append(([point] + rest).joined(separator: "/"))
            if rest.popLast() == nil { break }
        }
        self.directories = directories
    }

    private static func names(_ path: String) -> [String] { path.split(separator: "/").map(String.init) }

    /// Decodes blanks and backslashes, which are written as three octal digits.
    private static func unescaped(_ word: Substring) -> String {
        guard word.contains("\\") else { return String(word) }
        var (bytes, rest) = ([UInt8](), Array(word.utf8)[...])
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\\"), rest.count >= 3, let code = UInt8(String(decoding: rest.prefix(3), as: UTF8.self), radix: 8) {
                bytes.append(code)
                rest = rest.dropFirst(3)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
