import Glibc
import Subprocess

/// A separate disk in memory, small or read-only. Mounting needs root, so tests that use it check ``isAvailable``
/// first.
package struct SmallDisk: Sendable {
    package let path: String

    /// Whether this user may mount.
    package static let isAvailable = geteuid() == 0 && access("/proc/self/ns/mnt", F_OK) == 0

    /// Runs the closure with a disk of this many KiB and unmounts it afterwards.
    package static func with<Value>(kibibytes: Int, _ body: (SmallDisk) async throws -> Value) async throws -> Value {
        let folder = TemporaryDirectory()
        try await command("mount", ["-t", "tmpfs", "-o", "size=\(kibibytes)k", "tmpfs", folder.path])
        do {
            let value = try await body(SmallDisk(path: folder.path))
            try await command("umount", ["-l", folder.path])
            return value
        } catch {
            try await command("umount", ["-l", folder.path])
            throw error
        }
    }

    /// Makes the disk read-only.
    package func makeReadOnly() async throws { try await Self.command("mount", ["-o", "remount,ro", path]) }

    /// Frees space.
    package func grow(to kibibytes: Int) async throws { try await Self.command("mount", ["-o", "remount,size=\(kibibytes)k", path]) }

    private static func command(_ name: String, _ arguments: [String]) async throws {
        let result = try await run(.name(name), arguments: Arguments(arguments), output: .discarded, error: .string(limit: 4_096))
        guard result.terminationStatus.isSuccess else { throw CommandFailure(description: "\(name): \(result.standardError)") }
    }
}
