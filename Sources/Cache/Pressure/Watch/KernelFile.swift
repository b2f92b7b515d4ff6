internal import CFreshetLinux
internal import Glibc

/// A small file that the kernel generates when it is read.
enum KernelFile {
    /// - Returns: nil if it cannot be read.
    static func text(_ path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 8_192)
        while bytes.count < 1 << 20 {
            let count = read(descriptor, &buffer, buffer.count)
            if count == 0 { break }
            if count > 0 { bytes += buffer[..<count] }
            if count < 0, errno != EINTR { return nil }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Whether a file is on procfs or cgroupfs. A file on a disk never notifies, and must not be written to.
    static func isKernels(_ descriptor: Int32) -> Bool {
        var about = statfs()
        guard fstatfs(descriptor, &about) == 0 else { return false }
        // PROC_SUPER_MAGIC and CGROUP2_SUPER_MAGIC of <linux/magic.h>.
        return about.f_type == 0x9FA0 || about.f_type == 0x6367_7270
    }
}
